/** The sections of a state file of format 3 (docs/state-format.md). The core checks the file when it is loaded. */

const HEAD_BYTES = 48;
const WIDTHS = [1, 2, 4, 8, 1, 4, 8, 1, 16, 1, 1];

/** @param {Uint8Array} bytes */
export const isState = (bytes) => new TextDecoder().decode(bytes.subarray(0, 8)) === "BITSTATE";

/**
 * Each section's name, type and shape, and where its content begins.
 * @param {Uint8Array} bytes a file, or one whose contents `without` left out
 * @param {string} [without] the section that has no content
 * @returns {Generator<{name: string, type: number, shape: number[], at: number, size: number}>}
 */
export function* sections(bytes, without = "") {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const padded = (/** @type {number} */ size) => Math.ceil(size / 8) * 8;
  for (let at = HEAD_BYTES; at < bytes.length;) {
    const [type, rank, length] = [view.getUint8(at), view.getUint8(at + 1), view.getUint16(at + 2, true)];
    const name = new TextDecoder().decode(bytes.subarray(at + 4, at + 4 + length));
    at += padded(4 + length);
    const shape = Array.from({ length: rank }, (_, axis) => Number(view.getBigUint64(at + 8 * axis, true)));
    at += 8 * rank;
    const size = shape.reduce((product, extent) => product * extent, WIDTHS[type]);
    yield { name, type, shape, at, size };
    if (name !== without) at += padded(size);
  }
}
