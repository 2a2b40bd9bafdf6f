/** The model and strategy of a state file (docs/state-format.md), to say whose it is. The core checks the file when it is loaded. */

const HEAD_BYTES = 48;
const MAX_HEADER_BYTES = 1e6;
const WIDTHS = [1, 2, 4, 8, 1, 4, 8, 1, 16, 1, 1];
const TEXT = 9;

/** @param {Uint8Array} bytes @returns {{name: string, strategy: string} | null} null if it does not look like a state */
export function readStateHead(bytes) {
  try {
    const isNew = new TextDecoder().decode(bytes.subarray(0, 8)) === "BITSTATE";
    const { name, strategy } = isNew ? texts(bytes) : oldTexts(bytes);
    return name === undefined || strategy === undefined ? null : { name: String(name), strategy: String(strategy) };
  } catch {
    return null;
  }
}

/** Of format 3: section after section. @param {Uint8Array} bytes */
function texts(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const padded = (/** @type {number} */ size) => Math.ceil(size / 8) * 8;
  const text = (/** @type {number} */ at, /** @type {number} */ size) => new TextDecoder().decode(bytes.subarray(at, at + size));
  /** @type {Record<string, string>} */
  const found = {};
  for (let at = HEAD_BYTES; at < bytes.length;) {
    const [type, rank, length] = [view.getUint8(at), view.getUint8(at + 1), view.getUint16(at + 2, true)];
    const name = text(at + 4, length);
    at += padded(4 + length);
    let size = WIDTHS[type];
    for (let axis = 0; axis < rank; ++axis, at += 8) size *= Number(view.getBigUint64(at, true));
    if (type === TEXT) found[name] = text(at, size);
    at += padded(size);
  }
  return { name: found["model/name"], strategy: found["settings/strategy"] };
}

/** Of formats 1 and 2: JSON in a header. @param {Uint8Array} bytes */
function oldTexts(bytes) {
  const size = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (size > MAX_HEADER_BYTES) throw new RangeError("no header");
  const texts = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size))).__metadata__;
  return { name: JSON.parse(texts.model).name, strategy: JSON.parse(texts.settings).strategy };
}
