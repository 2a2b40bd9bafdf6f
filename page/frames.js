/**
 * Pictures as pixels: the middle square of a video frame, an image or a file, and a small JPEG to look at.
 *
 * The browser decodes a file without applying its colour profile and keeps its size up to MAX_SIDE, so that the core fits
 * the same pixels as Python does.
 */
const MAX_SIDE = 1024;
const FRAME_SIDE = 224;
const THUMBNAIL_SIDE = 96;

/** @typedef {{data: Uint8ClampedArray, width: number, height: number}} Picture */

/** @param {number} side */
function square(side) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  return { canvas, context };
}

const frame = square(FRAME_SIDE);
const small = square(THUMBNAIL_SIDE);

/**
 * The middle square of something drawable.
 * @param {CanvasImageSource} source @param {number} width @param {number} height
 * @param {CanvasRenderingContext2D} to @param {number} side
 */
function drawSquare(source, width, height, to, side) {
  const cropped = Math.min(width, height);
  to.drawImage(source, (width - cropped) / 2, (height - cropped) / 2, cropped, cropped, 0, 0, side, side);
}

/** @param {HTMLVideoElement} video @returns {Picture} */
export function ofVideo(video) {
  drawSquare(video, video.videoWidth, video.videoHeight, frame.context, FRAME_SIDE);
  return frame.context.getImageData(0, 0, FRAME_SIDE, FRAME_SIDE);
}

/** @param {Blob} blob @returns {Promise<Picture>} */
export async function ofBlob(blob) {
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
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

/**
 * A JPEG as bytes: IndexedDB returns a thousand of these at once, but a thousand blobs one by one.
 * @param {Picture} picture
 * @returns {Promise<Uint8Array>}
 */
export async function thumbnail(picture) {
  drawSquare(drawable(picture), picture.width, picture.height, small.context, THUMBNAIL_SIDE);
  /** @type {Blob} */
  const blob = await new Promise((resolve) => small.canvas.toBlob((jpeg) => resolve(jpeg ?? new Blob()), "image/jpeg", 0.8));
  return new Uint8Array(await blob.arrayBuffer());
}

/** @param {Picture} picture @param {HTMLCanvasElement} canvas */
export function show(picture, canvas) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  drawSquare(drawable(picture), picture.width, picture.height, context, canvas.width);
}
