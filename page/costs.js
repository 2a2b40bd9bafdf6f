/** What it costs: bytes as bars, with the same network in float for comparison, and times. */
import { byId, element, track } from "./element.js";
import { texts } from "./texts.js";

/** @param {string} text @param {string} value @param {number | null} share @param {string} [kind] */
function row(text, value, share, kind = "") {
  const line = element("div", { className: `cost ${kind}` }, element("span", {}, text), element("span", {}, value));
  if (share !== null) line.append(track(share));
  return line;
}

/**
 * @param {import("./session.js").Session} session
 * @param {number} floatBytes
 * @param {number} answered milliseconds per answer, or 0 before the first
 */
export function drawCosts(session, floatBytes, answered) {
  const { costs, state, learned } = session;
  if (!costs) return;
  const memory = costs.memory.work + costs.memory.network + costs.memory.answers;
  const largest = Math.max(floatBytes, costs.modelBytes, state.length, memory);
  const bar = (/** @type {string} */ text, /** @type {number} */ bytes, kind = "") =>
    row(text, texts.bytes(bytes), bytes / largest, kind);
  const rows = [
    bar(texts.weights, costs.modelBytes),
    bar(texts.state, state.length),
    bar(texts.arena, memory),
    bar(texts.float, floatBytes, "other"),
  ];
  if (answered) rows.push(row(`${texts.time}, ${texts.instructions(costs.isa)}`, texts.answering(answered), null));
  if (learned) rows.push(row(texts.learning, texts.learned(learned.ms, learned.count), null));
  byId("bars").replaceChildren(...rows);
}
