// Learns and classifies pictures in Node, without Python. States are the files that `bitreplay` reads and writes.
//
//   node learn.mjs MODULE MODEL STATE learn LABEL PICTURE.ppm...     one experience of one class; the state may be new
//   node learn.mjs MODULE MODEL STATE predict PICTURE.ppm...
//
// MODULE is build/wasm/bitreplay.wasm of `make wasm`, MODEL is model.bin of `bitreplay export --target wasm`. Pictures are binary
// PPM (P6) of any size; in a page they are ImageData.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

import { Core, Learner } from "../js/index.js";

/** { data, width, height } of a PPM file. @param {string} path */
function picture(path) {
  const bytes = readFileSync(path);
  const head = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(bytes.toString("latin1", 0, 64));
  if (!head) throw new Error(`${path} is not a binary PPM with three bytes per pixel.`);
  return { data: bytes.subarray(head[0].length), width: Number(head[1]), height: Number(head[2]) };
}

const [module, model, state, command, ...args] = process.argv.slice(2);
if (command !== "learn" && command !== "predict") {
  console.error("usage: learn.mjs MODULE MODEL STATE learn LABEL PICTURE... | predict PICTURE...");
  process.exit(2);
}
const core = await Core.open(readFileSync(module));
const learner = Learner.open(core, readFileSync(model));
if (existsSync(state)) learner.load(readFileSync(state));
if (command === "learn") {
  const [name, ...paths] = args;
  learner.learn(paths.map((path) => ({ picture: picture(path), name })));
  writeFileSync(`${state}.part`, learner.save(), { flush: true });
  renameSync(`${state}.part`, state); // the old state or the new one, whenever power fails
} else {
  for (const path of args) {
    const { name, label, probabilities } = learner.predict(picture(path));
    console.log(`${path}: ${name} ${(100 * probabilities[label]).toFixed(1)} %`);
  }
}
console.log(learner.hash());
