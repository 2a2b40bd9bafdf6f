/** The package in browsers and their workers: `import { open, pictureOf } from "bitreplay"`. */
import { openFrom } from "./open.js";
import { WorkerLearner } from "./worker_learner.js";

export * from "./index.js";
export { WorkerLearner } from "./worker_learner.js";

// Bundlers look for these very expressions and copy the files.
const FILES = {
  simd: new URL("./bitreplay.wasm", import.meta.url),
  plain: new URL("./bitreplay-plain.wasm", import.meta.url),
  model: new URL("./efficientnet_tiny.model", import.meta.url),
};

/** @param {URL | string} address */
async function read(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} could not be loaded: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * A learner that has learned nothing. It blocks while it learns: `openInWorker` has one that does not.
 * @param {import("./open.js").ModelFile} [model] the package's own network `efficientnet_tiny` where it is left out
 * @param {import("./open.js").Limits} [limits] what to reserve memory for
 */
export const open = (model = FILES.model, limits) => openFrom(FILES, read, model, limits);

/**
 * A learner in a worker, with the same calls, each of which returns a promise.
 * @param {import("./open.js").ModelFile} [model]
 * @param {import("./open.js").Limits} [limits]
 */
export function openInWorker(model, limits) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  return WorkerLearner.open(worker, model, limits);
}

/**
 * The pixels of a file, an image, a canvas or a frame of a video.
 * @param {ImageBitmapSource} source
 * @returns {Promise<ImageData>}
 */
export async function pictureOf(source) {
  const bitmap = await createImageBitmap(source, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("This browser has no canvas to read pixels from.");
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.getImageData(0, 0, width, height);
}
