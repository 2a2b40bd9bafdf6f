export { Core, hasSimd } from "./core.js";
export { Learner } from "./learner.js";
export { Replay } from "./replay.js";
