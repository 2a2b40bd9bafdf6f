/** The held-back pictures: accuracy after each step as a line, and the confusion matrix as a table. */
import { byId, element } from "./element.js";
import { texts } from "./texts.js";

const WIDTH = 320;
const HEIGHT = 120;
const SVG = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {Record<string, string | number>} [attributes] @param {string} [text] */
function shape(tag, attributes = {}, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.textContent = text;
  return node;
}

/** @param {import("./store.js").Step[]} steps */
export function drawChart(steps) {
  const points = steps
    .map(({ what, right }) => {
      const classes = Object.values(right);
      const count = classes.reduce((sum, [, all]) => sum + all, 0);
      return { what, count, share: count ? classes.reduce((sum, [correct]) => sum + correct, 0) / count : 0 };
    })
    .filter(({ count }) => count);
  const chart = byId("chart");
  if (points.length < 2) return chart.replaceChildren();
  const x = (/** @type {number} */ k) => 40 + ((WIDTH - 50) * k) / (points.length - 1);
  const y = (/** @type {number} */ share) => 10 + (HEIGHT - 30) * (1 - share);
  const label = points.map(({ share, what }) => texts.accuracyPoint(share, what)).join("; ");
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${texts.accuracy}: ${label}` });
  for (const share of [0, 0.5, 1]) {
    svg.append(shape("line", { x1: 40, x2: WIDTH - 10, y1: y(share), y2: y(share) }));
    svg.append(shape("text", { x: 36, y: y(share) + 4, "text-anchor": "end" }, `${share * 100} %`));
  }
  points.forEach(({ share, what }, k) => {
    const last = points[k - 1]?.share ?? share;
    const kind = share < last ? "fell" : "";
    if (k) svg.append(shape("path", { class: kind, d: `M${x(k - 1)} ${y(last)}L${x(k)} ${y(share)}` }));
    const dot = shape("circle", { class: kind, cx: x(k), cy: y(share), r: points.length > 40 ? 2 : 3.5 });
    dot.append(shape("title", {}, texts.accuracyPoint(share, what)));
    svg.append(dot);
  });
  svg.append(shape("text", { x: 40, y: HEIGHT - 4 }, texts.accuracy));
  chart.replaceChildren(svg);
}

/**
 * @param {import("./session.js").Session} session
 * @param {(title: string, pictures: import("./store.js").StoredPicture[]) => void} openPictures
 */
export function drawMatrix(session, openPictures) {
  const matrix = byId("matrix");
  const names = session.classes.map(({ name }) => name);
  if (!session.evaluated.length) return matrix.replaceChildren();
  const table = element("table", {}, element("caption", { className: "note" }, texts.matrix));
  const head = element("tr", {}, element("td"));
  for (const name of names) head.append(element("th", { scope: "col", title: name }, name));
  table.append(element("thead", {}, head));
  const body = element("tbody");
  for (const actual of names) {
    const row = element("tr", {}, element("th", { scope: "row", title: actual }, actual));
    for (const predicted of names) {
      const cell = session.evaluated.filter((one) => one.actual === actual && one.predicted === predicted);
      const title = texts.cell(cell.length, actual, predicted);
      const button = element("button", { type: "button", disabled: !cell.length, "aria-label": title }, `${cell.length}`);
      button.addEventListener("click", () => openPictures(title, cell.map(({ picture }) => picture))); // prettier-ignore
      row.append(element("td", actual === predicted ? { className: "right" } : {}, button));
    }
    body.append(row);
  }
  table.append(body);
  matrix.replaceChildren(table);
}
