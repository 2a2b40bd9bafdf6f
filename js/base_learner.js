/** What both learners share: how pictures, names and states get into the core's memory and out of it. */
import { br_name, br_picture } from "./interface.js";

/** @typedef {{data: Uint8Array | Uint8ClampedArray, width: number, height: number}} Picture */
/** @typedef {string | number} Name */
/** @typedef {import("./core.js").Core} Core */

/**
 * UTF-8, with lone surrogates as three bytes; TextEncoder would replace them by U+FFFD, which is another name. The core refuses
 * them in new names, but older states have some.
 * @param {string} text
 */
function encodeText(text) {
  const utf8 = new TextEncoder();
  return Uint8Array.from(
    [...text].flatMap((character) => {
      const code = /** @type {number} */ (character.codePointAt(0));
      const surrogate = code >= 0xd800 && code < 0xe000;
      return surrogate ? [0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)] : [...utf8.encode(character)];
    }),
  );
}

/** @param {Uint8Array} bytes */
function decodeText(bytes) {
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  let from = 0;
  for (let at = 0; at + 2 < bytes.length; at++) {
    if (bytes[at] !== 0xed || bytes[at + 1] < 0xa0) continue;
    text += utf8.decode(bytes.subarray(from, at));
    text += String.fromCharCode(0xd000 | ((bytes[at + 1] & 0x3f) << 6) | (bytes[at + 2] & 0x3f));
    from = at + 3;
  }
  return text + utf8.decode(bytes.subarray(from));
}

export class BaseLearner {
  /** @param {Core} core @param {number} handle the learner's address */
  constructor(core, handle) {
    this.core = core;
    this.handle = handle;
    this.scratch = { at: 0, size: 0 };
  }

  /** Memory that is reused from call to call. @param {number} size */
  _scratch(size) {
    if (this.scratch.size < size) {
      if (this.scratch.at) this.core.free(this.scratch.at);
      this.scratch = { at: this.core.allocate(size), size };
    }
    return this.scratch.at;
  }

  /**
   * Calls with the address of a br_picture.
   * @template T
   * @param {Picture} picture
   * @param {(at: number) => T} call
   */
  _withPicture({ data, width, height }, call) {
    const at = this._scratch(64 + data.length);
    const pixel_bytes = data.length / (width * height);
    this.core.write(at, br_picture, { pixels: at + 64, width, height, pixel_bytes, row_bytes: 0 });
    this.core.bytes.set(data, at + 64);
    return call(at);
  }

  /**
   * Calls with the address of a br_name.
   * @template T
   * @param {Name} name
   * @param {(at: number) => T} call
   */
  _withName(name, call) {
    const text = typeof name === "string" ? encodeText(name.normalize("NFC")) : new Uint8Array(0);
    const at = this.core.allocate(64 + text.length);
    if (typeof name === "string") this.core.write(at, br_name, { text: at + 64, length: text.length });
    else this.core.write(at, br_name, { number: BigInt(name) });
    this.core.bytes.set(text, at + 64);
    try {
      return call(at);
    } finally {
      this.core.free(at);
    }
  }

  /** Reads a br_name. @param {number} at @returns {Name} */
  _readName(at) {
    const { text, length, number } = this.core.read(at, br_name);
    return text ? decodeText(this.core.bytes.slice(text, text + length)) : Number(number);
  }

  /** Calls a function of the core that writes the state's hash, 64 hexadecimal digits. @param {string} hash */
  _hash(hash) {
    const at = this.core.allocate(65);
    this.core.check(this.core.call[hash](this.handle, at));
    const text = this.core.text(at);
    this.core.free(at);
    return text;
  }

  /**
   * A state file, by the names of the functions that count its bytes, write them and verify them: bytes that could not be
   * loaded again never leave the learner.
   * @param {string} count
   * @param {string} write
   * @param {string} verify
   */
  _write(count, write, verify) {
    const size = this.core.call[count](this.handle);
    const at = this.core.allocate(size);
    try {
      this.core.check(this.core.call[write](this.handle, at, size));
      this.core.check(this.core.call[verify](this.handle, at, size));
      return this.core.bytes.slice(at, at + size);
    } finally {
      this.core.free(at);
    }
  }

  /** Passes a state file to a function of the core. @param {Uint8Array} bytes @param {string} read @param {...number} more */
  _read(bytes, read, ...more) {
    const at = this.core.copyIn(bytes);
    try {
      this.core.check(this.core.call[read](this.handle, at, bytes.length, ...more));
    } finally {
      this.core.free(at);
    }
  }
}
