/** Pictures as a network sees them: core/src/learner/fit.cc. */
import { br_picture } from "./interface.js";

/** @typedef {{data: Uint8Array | Uint8ClampedArray, width: number, height: number}} Picture 3 or 4 bytes per pixel */

const HEAD = 64; // bytes in front of the pixels

/** The bytes that `writePicture` fills. @param {Picture} picture */
export const pictureBytes = ({ data }) => HEAD + data.length;

/** Writes a br_picture and its pixels. @param {import("./core.js").Core} core @param {number} at @param {Picture} picture */
export function writePicture(core, at, { data, width, height }) {
  const pixel_bytes = data.length / (width * height);
  core.write(at, br_picture, { pixels: at + HEAD, width, height, pixel_bytes, row_bytes: 0 });
  core.bytes.set(data, at + HEAD);
}

/**
 * The middle square of a picture, resized: side * side * 3 bytes, the same as in Python and C.
 * @param {import("./core.js").Core} core
 * @param {Picture} picture
 * @param {number} side
 */
export function fit(core, picture, side) {
  const at = core.allocate(pictureBytes(picture));
  const to = core.allocate(side * side * 3);
  try {
    writePicture(core, at, picture);
    core.check(core.call.br_fit(at, side, to));
    return core.bytes.slice(to, to + side * side * 3);
  } finally {
    core.free(at);
    core.free(to);
  }
}
