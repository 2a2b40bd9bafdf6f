/** What to do with a downloaded state elsewhere: lines to copy, in which its file has the name that the download has. */
import { byId, element } from "./element.js";
import { texts } from "./texts.js";

/** @param {string} file */
const snippets = (file) => [
  [texts.inTerminal, `pip install bitreplay\nbitreplay predict "${file}" photo.jpg\nbitreplay serve "${file}"`],
  [
    texts.inPython,
    `import numpy as np
from bitreplay import Learner
from PIL import Image

learner = Learner.load("${file}")
picture = np.asarray(Image.open("photo.jpg").convert("RGB"))
print(learner.predict(picture[None])[0])`,
  ],
];

/** @param {string} file @param {(text: string) => void} showMessage */
export function drawSharing(file, showMessage) {
  const place = byId("elsewhere");
  if (place.dataset.file === file) return;
  place.dataset.file = file;
  const parts = snippets(file).map(([title, text]) => {
    const copy = element("button", { type: "button", className: "plain" }, texts.copy);
    copy.setAttribute("aria-label", `${texts.copy}: ${title}`);
    copy.addEventListener("click", () =>
      navigator.clipboard.writeText(text).then(
        () => showMessage(texts.copied),
        () => showMessage(texts.notCopied),
      ),
    );
    const lines = element("pre", { tabIndex: 0 }, element("code", {}, text));
    return element("div", {}, element("div", { className: "row" }, element("span", { className: "note" }, title), copy), lines);
  });
  place.replaceChildren(...parts);
}
