/** The progress of learning: a bar and the seconds left. */
import { byId } from "./element.js";
import { texts } from "./texts.js";

let start = 0;

/** @param {{done: number, steps: number}} progress */
export function drawProgress({ done, steps }) {
  const now = performance.now();
  if (done <= 1 || !start) start = now;
  const left = ((now - start) / Math.max(1, done - 1)) * (steps - done);
  byId("progress").hidden = done >= steps;
  if (done >= steps) start = 0;
  byId("progress-bar").max = steps;
  byId("progress-bar").value = done;
  byId("progress-text").textContent = texts.left(Math.ceil(left / 1000));
}
