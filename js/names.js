/**
 * Names of classes as the core has them: bytes of UTF-8.
 *
 * Lone surrogates are three bytes each; TextEncoder would replace them by U+FFFD, which is another name. The core refuses them
 * in new names, but older states have some.
 */

/** @param {string} text */
export function encodeText(text) {
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
export function decodeText(bytes) {
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
