/**
 * Pictures as pixels: the middle square of a video frame, an image or a file, and a small JPEG to look at.
 *
 * A file is decoded by the browser, without its colour profile, and keeps its own size up to LARGEST, so that the core fits
 * the same pixels as Python does.
 */
const LARGEST = 1024;
const FRAME = 224;
const THUMBNAIL = 96;

/** @typedef {{data: Uint8ClampedArray, width: number, height: number}} Picture */

/** @param {number} side */
function square(side) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  return { canvas, context };
}

const frame = square(FRAME);
const small = square(THUMBNAIL);

/**
 * The middle square of something drawable.
 * @param {CanvasImageSource} source @param {number} width @param {number} height
 * @param {CanvasRenderingContext2D} to @param {number} side
 */
function drawSquare(source, width, height, to, side) {
  const own = Math.min(width, height);
  to.drawImage(source, (width - own) / 2, (height - own) / 2, own, own, 0, 0, side, side);
}

/** @param {HTMLVideoElement} video @returns {Picture} */
export function ofVideo(video) {
  drawSquare(video, video.videoWidth, video.videoHeight, frame.context, FRAME);
  return frame.context.getImageData(0, 0, FRAME, FRAME);
}

/** @param {Blob} blob @returns {Promise<Picture>} */
export async function ofBlob(blob) {
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  const scale = Math.min(1, LARGEST / Math.max(bitmap.width, bitmap.height));
  const width = Math.max(1, Math.round(bitmap.width * scale));
  const height = Math.max(1, Math.round(bitmap.height * scale));
  const canvas = new OffscreenCanvas(width, height);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  context.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  return context.getImageData(0, 0, width, height);
}

/** @param {Picture} picture */
const drawable = ({ data, width, height }) => {
  const canvas = new OffscreenCanvas(width, height);
  /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d")).putImageData(
    new ImageData(new Uint8ClampedArray(data), width, height), 0, 0); // prettier-ignore
  return canvas;
};

/** A JPEG, as bytes: IndexedDB gives back a thousand of them at once, and a thousand blobs one by one.
 * @param {Picture} picture @returns {Promise<Uint8Array>} */
export async function thumbnail(picture) {
  drawSquare(drawable(picture), picture.width, picture.height, small.context, THUMBNAIL);
  /** @type {Blob} */
  const blob = await new Promise((done) => small.canvas.toBlob((made) => done(made ?? new Blob()), "image/jpeg", 0.8));
  return new Uint8Array(await blob.arrayBuffer());
}

/** @param {Picture} picture @param {HTMLCanvasElement} canvas */
export function show(picture, canvas) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  drawSquare(drawable(picture), picture.width, picture.height, context, canvas.width);
}
