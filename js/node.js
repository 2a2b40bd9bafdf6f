/** The package in Node: `import { open } from "bitreplay"`. */
import { readFile } from "node:fs/promises";

import { openFrom } from "./open.js";

export * from "./index.js";

const FILES = {
  simd: new URL("./bitreplay.wasm", import.meta.url),
  plain: new URL("./bitreplay-plain.wasm", import.meta.url),
  model: new URL("./efficientnet_tiny.model", import.meta.url),
};

/** @param {URL | string} path */
const read = async (path) => new Uint8Array(await readFile(path));

/**
 * A learner that has learned nothing.
 * @param {import("./open.js").ModelFile} [model] the package's own network `efficientnet_tiny` where it is left out
 * @param {import("./open.js").Limits} [limits] what to reserve memory for
 */
export const open = (model = FILES.model, limits) => openFrom(FILES, read, model, limits);
