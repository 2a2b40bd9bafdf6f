/** Whose state a file is: the texts at its start (docs/state-format.md). The core checks all of it when it is loaded. */

const MOST = 1e6; // bytes of texts

/** @param {Uint8Array} bytes @returns {{name: string, strategy: string} | null} null: it does not look like a state */
export function headOf(bytes) {
  try {
    const size = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    if (size > MOST) return null;
    const texts = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size))).__metadata__;
    return { name: String(JSON.parse(texts.model).name), strategy: String(JSON.parse(texts.settings).strategy) };
  } catch {
    return null;
  }
}
