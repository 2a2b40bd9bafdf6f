/** The model and strategy of a state file, from its header (docs/state-format.md). The core checks the file when it is loaded. */

const MAX_HEADER_BYTES = 1e6;

/** @param {Uint8Array} bytes @returns {{name: string, strategy: string} | null} null if it does not look like a state */
export function readStateHead(bytes) {
  try {
    const size = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    if (size > MAX_HEADER_BYTES) return null;
    const texts = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size))).__metadata__;
    return { name: String(JSON.parse(texts.model).name), strategy: String(JSON.parse(texts.settings).strategy) };
  } catch {
    return null;
  }
}
