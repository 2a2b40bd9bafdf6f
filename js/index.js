export { Core, hasSimd } from "./core.js";
export { Learner } from "./learner.js";
