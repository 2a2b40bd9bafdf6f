/** A learner behind messages: { id, method, parameters } in, { id, value } or { id, error } out. See worker_learner.js. */
import { open } from "./browser.js";

/** @type {import("./learner.js").Learner | undefined} */
let learner;

/** @param {string} method @param {any[]} parameters */
async function answer(method, parameters) {
  if (method === "open") {
    learner = await open(...parameters);
    return learner.side;
  }
  if (!learner) throw new Error("The learner is not open.");
  return /** @type {any} */ (learner)[method](...parameters);
}

self.addEventListener("message", async ({ data: { id, method, parameters } }) => {
  try {
    self.postMessage({ id, value: await answer(method, parameters) });
  } catch (error) {
    self.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
