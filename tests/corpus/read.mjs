// node read.mjs WASM MODEL FOLDER: prints, for each state file, its hash in JavaScript, or "" if it is refused.
import { readFile, readdir } from "node:fs/promises";
import { Core, Learner } from "../../js/index.js";

const [wasm, model, folder] = process.argv.slice(2);
const core = await Core.open(await readFile(wasm));
const learner = Learner.open(core, new Uint8Array(await readFile(model)));
const hashes = {};
for (const name of await readdir(folder)) {
  learner.clear();
  const before = learner.hash();
  try {
    learner.load(new Uint8Array(await readFile(`${folder}/${name}`)));
    learner.verify(learner.save());
    hashes[name.replace(".state", "")] = learner.hash();
  } catch {
    hashes[name.replace(".state", "")] = learner.hash() === before ? "" : "changed by what it refused";
  }
}
console.log(JSON.stringify(hashes));
