/**
 * A state as the fragment of a link, which browsers send to no server.
 *
 *     link#state=...       base64url of deflated bytes: a state file as it is, or packed (packing.js)
 */
import { texts } from "./texts.js";

export const MAX_LINK = 64000; // characters
const MAX_OPENED = 1e6; // characters: more are no link of this page
const MAX_BYTES = 16e6; // of what a link inflates to
const KEY = "#state=";

/** @typedef {(method: string, ...args: any[]) => Promise<any>} Call asks the worker */

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
 * The shortest fragment from which `stateOf` makes these very bytes.
 * @param {Call} call
 * @param {Uint8Array} state
 * @param {(Int8Array | BigUint64Array)[]} pictures what was learned, as far as it is known
 */
export async function fragmentOf(call, state, pictures) {
  const bytes = (await call("pack", state, pictures)) ?? state;
  return KEY + base64url(await streamed(bytes, new CompressionStream("deflate-raw")));
}

/** Whether the fragment of an address is meant for `stateOf`. @param {string} fragment */
export const isLink = (fragment) => fragment.startsWith(KEY);

/** @param {Call} call @param {string} fragment @returns {Promise<Uint8Array>} a state file; whether it can be, the core says when it is loaded */
export async function stateOf(call, fragment) {
  if (fragment.length > MAX_OPENED) throw new Error(texts.linkTooLong(fragment.length, MAX_OPENED));
  try {
    const bytes = await streamed(bytesOf(fragment.slice(KEY.length)), new DecompressionStream("deflate-raw"));
    const state = await call("unpack", bytes);
    if (!(await call("stateHead", state))) throw new RangeError("no state");
    return state;
  } catch {
    throw new Error(texts.linkDamaged);
  }
}
