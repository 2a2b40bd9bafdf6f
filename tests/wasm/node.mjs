// node node.mjs MODULE ISA cases|sums|learn|predictEncoded|replay|golden|times ARGS...: reads files, calls drive.js, writes
// a file or prints a number.
import { readFileSync, writeFileSync } from "node:fs";

import { Core } from "../../js/core.js";
import * as drive from "./drive.js";

const [module, isa, what, ...args] = process.argv.slice(2);
const read = (name) => new Uint8Array(readFileSync(name));
const core = await Core.open(read(module));
core.setIsa(isa);
if (what === "times") {
  const [program, samples, lists, turns] = args;
  // CPU time leaves out when other programs had the core.
  const now = () => (({ user, system }) => (user + system) / 1000)(process.cpuUsage());
  console.log(drive.times(core, read(program), Number(samples), lists.split(",").map(Number), Number(turns), now));
} else if (what === "golden") {
  const [program, inputs, ...numbers] = args.slice(0, -1);
  writeFileSync(args.at(-1), drive.golden(core, read(program), read(inputs), ...numbers.map(Number)));
} else {
  writeFileSync(args.at(-1), await drive[what](core, ...args.slice(0, -1).map(read)));
}
if (what !== "times") console.log(core.isa());
