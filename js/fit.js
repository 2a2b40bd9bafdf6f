/** Pictures as a network sees them: core/src/learner/fit.cc. */
import { br_picture } from "./interface.js";

/** @typedef {{data: Uint8Array | Uint8ClampedArray, width: number, height: number}} Picture 3 or 4 bytes per pixel */

/**
 * The middle square of a picture, resized: side * side * 3 bytes, the same as in Python and C.
 * @param {import("./core.js").Core} core
 * @param {Picture} picture
 * @param {number} side
 */
export function fit(core, { data, width, height }, side) {
  const at = core.allocate(64 + data.length);
  const to = core.allocate(side * side * 3);
  try {
    const pixel_bytes = data.length / (width * height);
    core.write(at, br_picture, { pixels: at + 64, width, height, pixel_bytes, row_bytes: 0 });
    core.bytes.set(data, at + 64);
    core.check(core.call.br_fit(at, side, to));
    return core.bytes.slice(to, to + side * side * 3);
  } finally {
    core.free(at);
    core.free(to);
  }
}
