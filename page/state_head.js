/** The model, strategy and components of a state file, to say whose it is. The core checks the file when it is loaded. */
import { isState, sections } from "./sections.js";

const MAX_HEADER_BYTES = 1e6;
const UINT64 = 6;
const TEXT = 9;

/** @typedef {{name: string, strategy: string, components: number}} StateHead `components` is 0 of all features */

/** @param {Uint8Array} bytes @returns {StateHead | null} null if it does not look like a state */
export function readStateHead(bytes) {
  try {
    const { name, strategy, components = 0 } = isState(bytes) ? values(bytes) : oldValues(bytes);
    if (name === undefined || strategy === undefined) return null;
    return { name: String(name), strategy: String(strategy), components: Number(components) };
  } catch {
    return null;
  }
}

/** Of format 3. @param {Uint8Array} bytes */
function values(bytes) {
  /** @type {Record<string, string | bigint>} */
  const found = {};
  for (const { name, type, at, size } of sections(bytes)) {
    if (type === TEXT) found[name] = new TextDecoder().decode(bytes.subarray(at, at + size));
    if (type === UINT64 && size === 8) found[name] = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at, true);
  }
  return { name: found["model/name"], strategy: found["settings/strategy"], components: found["settings/n_components"] };
}

/** Of formats 1 and 2: JSON in a header. @param {Uint8Array} bytes */
function oldValues(bytes) {
  const size = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (size > MAX_HEADER_BYTES) throw new RangeError("no header");
  const texts = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size))).__metadata__;
  const settings = JSON.parse(texts.settings);
  return { name: JSON.parse(texts.model).name, strategy: settings.strategy, components: /^(\d+) of /.exec(settings.numbers)?.[1] };
}
