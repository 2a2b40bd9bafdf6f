/**
 * States as the core reads them, for the page: whose they are, and packed for a link (link.js). In the worker, where the core is.
 *
 * The sums of products are most of a state of `exact`, and those of few pictures have few bytes of their own: a packed state has the
 * features of its pictures in place of the sums. Unpacking adds them up again, and the state's own SHA-256, which the core checks, says
 * whether the file is the one that was packed.
 *
 * Packed: "PACKED 1"; as uint64 the bytes of the state file without the content of its products, where that began, and the features
 * of a picture; that file; the features as int8: feature by feature, each less that of the picture before.
 */
import { br_sums } from "./bitreplay/interface.js";

const MAX_BYTES = 16e6; // of what is unpacked
const MAX_WORK = 1e9; // multiplications
const MAX_CONTENT = 1024; // bytes that are read of a section
const HEAD_BYTES = 32;
const MAGIC = new TextEncoder().encode("PACKED 1");

/** @typedef {import("./bitreplay/core.js").Core} Core */
/** @typedef {{name: string, strategy: string, components: number}} StateHead `components` is 0 of all features */

/** @param {Uint8Array} one @param {Uint8Array} other */
const equal = (one, other) => one.length === other.length && one.every((byte, k) => byte === other[k]);
const bytesOfProducts = (/** @type {number} */ width) => 2 * width * (width + 1);
const padded = (/** @type {number} */ size) => Math.ceil(size / 8) * 8;

/**
 * A section of a state file: where it begins in a file of format 3, its bytes, and the first of them. Null if there is none.
 * @param {Core} core @param {Uint8Array} state @param {string} name
 */
function section(core, state, name) {
  const places = [state, new TextEncoder().encode(`${name}\0`), new Uint8Array(16 + MAX_CONTENT)].map((bytes) => core.copyIn(bytes));
  const [file, key, to] = places;
  try {
    if (core.call.br_state_section_bytes(file, state.length, key, to + 16, MAX_CONTENT, to)) return null;
    const [at, size] = [0, 8].map((k) => Number(core.view.getBigUint64(to + k, true)));
    return { at, size, content: core.bytes.slice(to + 16, to + 16 + Math.min(size, MAX_CONTENT)) };
  } finally {
    for (const place of places) core.free(place);
  }
}

/** Model, strategy and components. @param {Core} core @param {Uint8Array} state @returns {StateHead | null} null if it is no state */
export function stateHead(core, state) {
  const [name, strategy, components] = ["model/name", "settings/strategy", "settings/n_components"].map(
    (one) => section(core, state, one)?.content,
  );
  if (!name || !strategy) return null;
  const [text, other] = [name, strategy].map((bytes) => new TextDecoder().decode(bytes));
  return { name: text, strategy: other, components: components ? Number(new BigUint64Array(components.buffer)[0]) : 0 };
}

/**
 * The sums of products, by the core.
 * @param {Core} core @param {Uint8Array} features feature by feature, `count` pictures each @param {number} count @param {number} width
 */
function products(core, features, count, width) {
  const size = bytesOfProducts(width);
  const work = Number(core.call.br_sums_add_bytes(width));
  const places = [br_sums.bytes, count * width, 4 * count, 8, 4 * width, size, work].map((bytes) => core.allocate(bytes));
  const [sums, x, labels, counts, class_sums, to, memory] = places;
  try {
    core.write(sums, br_sums, { features: width, classes: 1, bits: 32, counts, class_sums, products: to });
    const { bytes } = core;
    features.forEach((one, k) => (bytes[x + (k % count) * width + Math.floor(k / count)] = one));
    core.check(core.call.br_sums_add(sums, x, labels, BigInt(count), 1, memory));
    return core.bytes.slice(to, to + size);
  } finally {
    for (const place of places) core.free(place);
  }
}

/**
 * Null if the state does not follow from these pictures, or is no longer than they are.
 * @param {Core} core @param {Uint8Array} state @param {(Int8Array | BigUint64Array)[]} pictures the features of all that were learned
 */
export function pack(core, state, pictures) {
  const count = pictures.length;
  const width = pictures[0]?.length;
  const place = count ? section(core, state, "learned/parts/sums.products") : null;
  if (!place || place.size !== bytesOfProducts(width) || pictures.some((x) => x.length !== width)) return null;
  const end = place.at + padded(place.size);
  const length = state.length - padded(place.size);
  const packed = new Uint8Array(HEAD_BYTES + length + count * width);
  packed.set(MAGIC);
  packed.set(new Uint8Array(BigUint64Array.from([length, place.at, width].map(BigInt)).buffer), MAGIC.length);
  packed.set(state.subarray(0, place.at), HEAD_BYTES);
  packed.set(state.subarray(end), HEAD_BYTES + place.at);
  for (let i = 0, to = HEAD_BYTES + length; i < width; ++i)
    for (let k = 0; k < count; ++k) packed[to++] = Number(pictures[k][i]) - (k ? Number(pictures[k - 1][i]) : 0);
  return packed.length < state.length && equal(unpack(core, packed), state) ? packed : null;
}

/** @param {Core} core @param {Uint8Array} bytes a state file, or one that was packed @returns {Uint8Array} the file; it is not checked */
export function unpack(core, bytes) {
  if (!equal(bytes.subarray(0, MAGIC.length), MAGIC)) return bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [length, at, width] = [8, 16, 24].map((k) => Number(view.getBigUint64(k, true)));
  const state = bytes.subarray(HEAD_BYTES, HEAD_BYTES + length);
  const features = bytes.slice(HEAD_BYTES + length);
  const count = features.length / width;
  const size = padded(bytesOfProducts(width));
  const work = (count * width * width) / 2;
  if (!Number.isInteger(count) || at > state.length || state.length + size > MAX_BYTES || work > MAX_WORK) throw new RangeError("too long");
  for (let k = 0; k < features.length; ++k) if (k % count) features[k] += features[k - 1];
  const whole = new Uint8Array(state.length + size);
  whole.set(state.subarray(0, at));
  whole.set(products(core, features, count, width), at);
  whole.set(state.subarray(at), at + size);
  return whole;
}
