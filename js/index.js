export { Core, hasVectors } from "./core.js";
export { Learner } from "./learner.js";
