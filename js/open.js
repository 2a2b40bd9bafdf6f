/** Opens a learner on the files of this package; `node.js` and `browser.js` know where these are and how they are read. */
import { Core, hasSimd } from "./core.js";
import { Learner } from "./learner.js";

/** @typedef {(address: URL | string) => Promise<Uint8Array>} Read */
/** @typedef {{simd: URL, plain: URL, model: URL}} PackageFiles */
/** @typedef {Uint8Array | URL | string} ModelFile a file of `bitreplay export` or `bitreplay page`: its bytes or its address */
/** @typedef {NonNullable<Parameters<typeof Learner.open>[2]>} Limits */

/**
 * The core, and the model's bytes.
 * @param {PackageFiles} files
 * @param {Read} read
 * @param {ModelFile} model
 * @returns {Promise<[Core, Uint8Array]>}
 */
function load(files, read, model) {
  const core = read(hasSimd() ? files.simd : files.plain).then((bytes) => Core.open(/** @type {BufferSource} */ (bytes)));
  return Promise.all([core, model instanceof Uint8Array ? model : read(model)]);
}

/**
 * A learner that has learned nothing.
 * @param {PackageFiles} files
 * @param {Read} read
 * @param {ModelFile} model
 * @param {Limits} [limits]
 */
export async function openFrom(files, read, model, limits) {
  return Learner.open(...(await load(files, read, model)), limits);
}
