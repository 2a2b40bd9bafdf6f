/** The three most likely classes as bars, and whether the picture is unlike them all. Below one half, the first is "not sure". */
import { byId, element, track } from "./element.js";
import { texts } from "./texts.js";

const SURE = 0.5;

/** @param {{name: string, share: number}[]} answers @param {number} classes @param {boolean} [unknown] */
export function drawAnswers(answers, classes, unknown = false) {
  const panel = byId("answers");
  if (!answers.length || classes < 2) {
    const text = [texts.nothingKnown, texts.oneKnown][classes] ?? texts.nothingShown;
    panel.replaceChildren(element("p", { className: "note" }, text));
    return;
  }
  const rows = answers.map(({ name, share }, k) =>
    element(
      "div",
      { className: "answer" },
      element("span", { dir: "auto" }, k === 0 && share < SURE && !unknown ? `${texts.notSure}: ${name}` : String(name)),
      element("span", {}, `${Math.round(100 * share)} %`),
      track(share),
    ),
  );
  panel.classList.toggle("unknown", unknown);
  const head = element("p", {}, element("strong", {}, texts.unknown), element("span", { className: "note" }, texts.unlike));
  panel.replaceChildren(...(unknown ? [head] : []), ...rows);
}
