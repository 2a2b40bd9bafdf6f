/**
 * A state as the fragment of a link, which browsers send to no server.
 *
 *     link#state=...       base64url of deflated bytes: a state file as it is, or packed
 *
 * The sums of products are most of a state of `exact`, and those of few pictures have few bytes of their own: a packed state has the
 * features of its pictures in place of the sums. Unpacking adds them up again, and the state's own SHA-256, which the core checks, says
 * whether the file is the one that was packed.
 *
 * Packed: "PACKED 1", the bytes of what follows as uint64, the state file without the content of its products, then the features as
 * int8: feature by feature, each less that of the picture before.
 */
import { isState, sections } from "./sections.js";
import { texts } from "./texts.js";

export const MAX_LINK = 64000; // characters
const MAX_OPENED = 1e6; // characters: more are no link of this page
const MAX_BYTES = 16e6; // of what a link unpacks to
const MAX_WORK = 1e9; // multiplications
const KEY = "#state=";
const MAGIC = new TextEncoder().encode("PACKED 1");
const PRODUCTS = "learned/parts/sums.products";
const CLASS_SUMS = "learned/parts/sums.class_sums";
const INT32 = 2;

/** @param {Uint8Array} bytes */
function base64url(bytes) {
  let letters = "";
  for (let at = 0; at < bytes.length; at += 8192) letters += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} text */
const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** @param {Uint8Array} bytes @param {CompressionStream | DecompressionStream} through */
async function streamed(bytes, through) {
  const reader = new Blob([/** @type {BlobPart} */ (bytes)]).stream().pipeThrough(/** @type {any} */ (through)).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > MAX_BYTES) throw new RangeError("too long");
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/**
 * The sums of products of all pairs of features, the lower triangle by rows.
 * @param {Uint8Array} features feature by feature, `count` pictures each
 * @param {number} count @param {number} width the number of features
 */
function products(features, count, width) {
  const rows = new Int8Array(features.buffer, features.byteOffset, features.length);
  const sums = new Int32Array((width * (width + 1)) / 2);
  for (let i = 0, at = 0; i < width; ++i)
    for (let j = 0; j <= i; ++j, ++at) {
      let sum = 0;
      for (let k = 0; k < count; ++k) sum += rows[i * count + k] * rows[j * count + k];
      sums[at] = sum;
    }
  return new Uint8Array(sums.buffer);
}

/** Where the products of a state lie. @param {Uint8Array} state @param {string} [without] */
function placeOf(state, without) {
  let width = 0;
  for (const { name, type, shape, at, size } of sections(state, without)) {
    if (name === CLASS_SUMS) width = shape[1];
    if (name === PRODUCTS && type === INT32 && width && size === 2 * width * (width + 1)) return { at, size: Math.ceil(size / 8) * 8, width };
  }
  return null;
}

/** @param {Uint8Array} state @param {Int8Array[]} pictures the features of all that were learned @returns {Uint8Array | null} */
export function pack(state, pictures) {
  const place = isState(state) ? placeOf(state) : null;
  const count = pictures.length;
  if (!place || !count || pictures.some((x) => x.length !== place.width)) return null;
  const { at, size, width } = place;
  const packed = new Uint8Array(16 + state.length - size + count * width);
  packed.set(MAGIC);
  new DataView(packed.buffer).setBigUint64(8, BigInt(state.length - size), true);
  packed.set(state.subarray(0, at), 16);
  packed.set(state.subarray(at + size), 16 + at);
  for (let i = 0, to = packed.length - count * width; i < width; ++i)
    for (let k = 0; k < count; ++k) packed[to++] = pictures[k][i] - (k ? pictures[k - 1][i] : 0);
  return packed;
}

/** @param {Uint8Array} packed @returns {Uint8Array} the state file */
export function unpack(packed) {
  const length = Number(new DataView(packed.buffer, packed.byteOffset).getBigUint64(8, true));
  const state = packed.subarray(16, 16 + length);
  const place = placeOf(state, PRODUCTS);
  const features = packed.slice(16 + length);
  if (!place) throw new RangeError("no products");
  const { at, size, width } = place;
  const count = features.length / width;
  if (!Number.isInteger(count) || state.length + size > MAX_BYTES || (count * width * width) / 2 > MAX_WORK) throw new RangeError("too long");
  for (let k = 0; k < features.length; ++k) if (k % count) features[k] += features[k - 1];
  const whole = new Uint8Array(state.length + size);
  whole.set(state.subarray(0, at));
  whole.set(products(features, count, width), at);
  whole.set(state.subarray(at), at + size);
  return whole;
}

/** @param {Uint8Array} one @param {Uint8Array} other */
export const equal = (one, other) => one.length === other.length && one.every((byte, k) => byte === other[k]);

/**
 * The shortest fragment from which `stateOf` makes these very bytes.
 * @param {Uint8Array} state
 * @param {(Int8Array | BigUint64Array)[]} pictures what was learned, as far as it is known
 */
export async function fragmentOf(state, pictures) {
  const packed = pictures.every((x) => x instanceof Int8Array) ? pack(state, pictures) : null;
  const bytes = packed && packed.length < state.length && equal(unpack(packed), state) ? packed : state;
  return KEY + base64url(await streamed(bytes, new CompressionStream("deflate-raw")));
}

/** Whether the fragment of an address is meant for `stateOf`. @param {string} fragment */
export const isLink = (fragment) => fragment.startsWith(KEY);

/** @param {string} fragment @returns {Promise<Uint8Array>} a state file; whether it can be, the core says when it is loaded */
export async function stateOf(fragment) {
  if (fragment.length > MAX_OPENED) throw new Error(texts.linkTooLong(fragment.length, MAX_OPENED));
  try {
    const bytes = await streamed(bytesOf(fragment.slice(KEY.length)), new DecompressionStream("deflate-raw"));
    const state = equal(bytes.subarray(0, 8), MAGIC) ? unpack(bytes) : bytes;
    if (!isState(state)) throw new RangeError("no state");
    return state;
  } catch {
    throw new Error(texts.linkDamaged);
  }
}
