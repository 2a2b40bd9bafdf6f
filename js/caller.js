/** What both learners share: room in the core's memory that is kept from call to call, and pictures and names in it. */

/** @typedef {{data: Uint8Array | Uint8ClampedArray, width: number, height: number}} Picture */
/** @typedef {string | number} Name */
/** @typedef {import("./core.js").Core} Core */

/**
 * UTF-8, and half a character as if it were one, which TextEncoder would make another name of: the core refuses it in new
 * names, and finds it in those that older states hold.
 * @param {string} text
 */
function encoded(text) {
  const utf8 = new TextEncoder();
  return Uint8Array.from(
    [...text].flatMap((character) => {
      const code = /** @type {number} */ (character.codePointAt(0));
      const half = code >= 0xd800 && code < 0xe000;
      return half ? [0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)] : [...utf8.encode(character)];
    }),
  );
}

/** @param {Uint8Array} bytes */
function decoded(bytes) {
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

export class Caller {
  /** @param {Core} core @param {number} own the learner's address */
  constructor(core, own) {
    this.core = core;
    this.own = own;
    this.room = { at: 0, size: 0 };
  }

  /** Room that is kept from call to call. @param {number} size */
  _room(size) {
    if (this.room.size < size) {
      if (this.room.at) this.core.give(this.room.at);
      this.room = { at: this.core.take(size), size };
    }
    return this.room.at;
  }

  /**
   * Calls with the address of a br_picture.
   * @template T
   * @param {Picture} picture
   * @param {(at: number) => T} call
   */
  _picture({ data, width, height }, call) {
    const at = this._room(64 + data.length);
    const pixelBytes = data.length / (width * height);
    [at + 64, width, height, pixelBytes, 0].forEach((value, k) => this.core.view.setUint32(at + 4 * k, value, true));
    this.core.bytes.set(data, at + 64);
    return call(at);
  }

  /**
   * Calls with the address of a br_name.
   * @template T
   * @param {Name} name
   * @param {(at: number) => T} call
   */
  _name(name, call) {
    const text = typeof name === "string" ? encoded(name.normalize("NFC")) : new Uint8Array(0);
    const at = this.core.take(64 + text.length);
    this.core.view.setUint32(at, typeof name === "string" ? at + 64 : 0, true);
    this.core.view.setUint32(at + 4, text.length, true);
    this.core.view.setBigInt64(at + 8, typeof name === "string" ? 0n : BigInt(name), true);
    this.core.bytes.set(text, at + 64);
    try {
      return call(at);
    } finally {
      this.core.give(at);
    }
  }

  /** The name that a br_name at an address has. @param {number} at @returns {Name} */
  _nameAt(at) {
    const view = this.core.view;
    const text = view.getUint32(at, true);
    return text
      ? decoded(this.core.bytes.slice(text, text + view.getUint32(at + 4, true)))
      : Number(view.getBigInt64(at + 8, true));
  }

  /** The state's hash by the door of this name: 64 digits. @param {string} how */
  _hash(how) {
    const at = this.core.take(65);
    this.core.check(this.core.call[how](this.own, at));
    const hash = this.core.text(at);
    this.core.give(at);
    return hash;
  }

  /**
   * A state file by the doors that count its bytes and write them, and open them again: nothing is given out to replace a
   * state that could not be loaded itself.
   * @param {string} count
   * @param {string} write
   * @param {string} verify
   */
  _bytes(count, write, verify) {
    const size = this.core.call[count](this.own);
    const at = this.core.take(size);
    try {
      this.core.check(this.core.call[write](this.own, at, size));
      this.core.check(this.core.call[verify](this.own, at, size));
      return this.core.bytes.slice(at, at + size);
    } finally {
      this.core.give(at);
    }
  }

  /** Calls with the bytes of a state. @param {Uint8Array} bytes @param {string} how @param {...number} more */
  _state(bytes, how, ...more) {
    const at = this.core.place(bytes);
    try {
      this.core.check(this.core.call[how](this.own, at, bytes.length, ...more));
    } finally {
      this.core.give(at);
    }
  }
}
