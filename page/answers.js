/** The first three answers, as bars. Below a share of one half the first is not believed. */
import { byId, element, track } from "./element.js";
import { texts } from "./texts.js";

const SURE = 0.5;

/** @param {{name: string, share: number}[]} answers @param {number} classes */
export function drawAnswers(answers, classes) {
  const place = byId("answers");
  if (!answers.length || classes < 2) {
    place.replaceChildren(element("p", { className: "note" }, classes ? (classes < 2 ? texts.oneKnown : "") : texts.nothingKnown));
    return;
  }
  const rows = answers.map(({ name, share }, k) =>
    element(
      "div",
      { className: "answer" },
      element("span", {}, k === 0 && share < SURE ? `${texts.notSure}: ${name}` : String(name)),
      element("span", {}, `${Math.round(100 * share)} %`),
      track(share),
    ),
  );
  place.replaceChildren(...rows);
}
