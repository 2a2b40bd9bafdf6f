/**
 * An image for an RP2040 on rp2040js, whose core has a Cortex-M0+'s instructions and no others.
 *
 *   node run.mjs PACKAGES image.bin        prints what the image says, and ends as it does
 *
 * What an M0+ lacks ends the run: other instructions, addresses without memory, of which the emulator warns, and accesses that are not
 * aligned, which it allows. Semihosting: SYS_WRITE0 and SYS_EXIT_EXTENDED.
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [packages, image] = process.argv.slice(2);
const { RP2040 } = await import(pathToFileURL(`${packages}/rp2040js/dist/esm/index.js`).href);
const FLASH = 0x10000000;
const [SAY, END] = [0x04, 0x20];

const chip = new RP2040();
const stop = (/** @type {string} */ part, /** @type {string} */ text) => {
  throw new Error(`${part}: ${text}`);
};
chip.logger = { debug() {}, info() {}, warn: stop, error: stop };
for (const [name, size] of [["readUint16", 2], ["writeUint16", 2], ["readUint32", 4], ["writeUint32", 4]]) {
  const access = chip[name].bind(chip);
  chip[name] = (/** @type {number} */ at, /** @type {number} */ value) =>
    at % size ? stop(name, `${at.toString(16)} is not aligned`) : access(at, value);
}
chip.flash.set(readFileSync(image));
chip.core.SP = chip.readUint32(FLASH);
chip.core.VTOR = FLASH;
chip.core.PC = chip.readUint32(FLASH + 4) & ~1;

let ended = -1;
chip.onBreak = () => {
  const [call, at] = chip.core.registers;
  if (call === SAY) {
    let text = "";
    for (let k = at; chip.readUint8(k); ++k) text += String.fromCharCode(chip.readUint8(k));
    process.stdout.write(text);
  } else if (call === END) ended = chip.readUint32(at + 4);
  else stop("semihosting", String(call));
};
let instructions = 0;
for (; ended < 0; ++instructions) chip.core.executeInstruction();
process.stderr.write(`${instructions} instructions\n`);
process.exit(ended);
