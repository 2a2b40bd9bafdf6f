// node read.mjs WASM MODEL FOLDER: prints, for each state file, its hash in JavaScript, or "" if it is refused; and the
// checksum of its model, which is found without a model.
import { readFile, readdir } from "node:fs/promises";
import { Core, Learner } from "../../js/index.js";

const [wasm, model, folder] = process.argv.slice(2);
const core = await Core.open(await readFile(wasm));
const learner = Learner.open(core, new Uint8Array(await readFile(model)));
const hashes = {};
const models = {};

function modelOf(file) {
  const [from, name, to] = [file, new TextEncoder().encode("model/digest\0"), new Uint8Array(80)].map((one) => core.copyIn(one));
  const failed = core.call.br_state_section_bytes(from, file.length, name, to + 16, 64, to);
  const found = failed ? "" : new TextDecoder().decode(core.bytes.slice(to + 16, to + 80));
  for (const at of [from, name, to]) core.free(at);
  return found;
}

for (const name of await readdir(folder)) {
  learner.clear();
  const before = learner.hash();
  const file = new Uint8Array(await readFile(`${folder}/${name}`));
  models[name.replace(".state", "")] = modelOf(file);
  try {
    learner.load(file);
    learner.verify(learner.save());
    hashes[name.replace(".state", "")] = learner.hash();
  } catch {
    hashes[name.replace(".state", "")] = learner.hash() === before ? "" : "changed by what it refused";
  }
}
console.log(JSON.stringify({ hashes, models }));
