// node node.mjs MODULE PATH cases|sums|teach|replay|golden|times WORDS...: reads files, calls drive.js, writes a file or a number.
import { readFileSync, writeFileSync } from "node:fs";

import { Core } from "../../js/core.js";
import * as drive from "./drive.js";

const [module, path, what, ...words] = process.argv.slice(2);
const read = (name) => new Uint8Array(readFileSync(name));
const core = await Core.open(read(module));
core.setPath(path);
if (what === "times") {
  const [program, samples, lists, turns] = words;
  console.log(drive.times(core, read(program), Number(samples), lists.split(",").map(Number), Number(turns)));
} else if (what === "golden") {
  const [program, inputs, ...numbers] = words.slice(0, -1);
  writeFileSync(words.at(-1), drive.golden(core, read(program), read(inputs), ...numbers.map(Number)));
} else {
  writeFileSync(words.at(-1), await drive[what](core, ...words.slice(0, -1).map(read)));
}
if (what !== "times") console.log(core.path());
