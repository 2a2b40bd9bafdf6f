/** The held-back pictures: share right after each step as a line, and what is taken for what as a table. */
import { byId, element } from "./element.js";
import { texts } from "./texts.js";

const WIDTH = 320;
const HEIGHT = 120;
const SVG = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {Record<string, string | number>} [attributes] @param {string} [text] */
function shape(tag, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}

/** @param {import("./store.js").Step[]} steps */
export function drawChart(steps) {
  const points = steps
    .map(({ what, right }) => {
      const all = Object.values(right);
      const count = all.reduce((sum, [, of]) => sum + of, 0);
      return { what, count, share: count ? all.reduce((sum, [good]) => sum + good, 0) / count : 0 };
    })
    .filter(({ count }) => count);
  const place = byId("chart");
  if (points.length < 2) return place.replaceChildren();
  const x = (/** @type {number} */ k) => 40 + ((WIDTH - 50) * k) / (points.length - 1);
  const y = (/** @type {number} */ share) => 10 + (HEIGHT - 30) * (1 - share);
  const told = points.map(({ share, what }) => texts.accuracyPoint(share, what)).join("; ");
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${texts.accuracy}: ${told}` });
  for (const share of [0, 0.5, 1]) {
    svg.append(shape("line", { x1: 40, x2: WIDTH - 10, y1: y(share), y2: y(share) }));
    svg.append(shape("text", { x: 36, y: y(share) + 4, "text-anchor": "end" }, `${share * 100} %`));
  }
  svg.append(shape("path", { d: points.map(({ share }, k) => `${k ? "L" : "M"}${x(k)} ${y(share)}`).join("") }));
  points.forEach(({ share, what }, k) => {
    const dot = shape("circle", { cx: x(k), cy: y(share), r: points.length > 40 ? 2 : 3.5 });
    dot.append(shape("title", {}, texts.accuracyPoint(share, what)));
    svg.append(dot);
  });
  svg.append(shape("text", { x: 40, y: HEIGHT - 4 }, texts.accuracy));
  place.replaceChildren(svg);
}

/**
 * @param {import("./session.js").Session} session
 * @param {(title: string, pictures: import("./store.js").Kept[]) => void} openPictures
 */
export function drawMatrix(session, openPictures) {
  const place = byId("matrix");
  const names = session.classes.map(({ name }) => name);
  if (!session.tested.length) return place.replaceChildren();
  const table = element("table", {}, element("caption", { className: "note" }, texts.matrix));
  const head = element("tr", {}, element("td"));
  for (const name of names) head.append(element("th", { scope: "col", title: name }, name));
  table.append(element("thead", {}, head));
  const body = element("tbody");
  for (const is of names) {
    const row = element("tr", {}, element("th", { scope: "row", title: is }, is));
    for (const taken of names) {
      const found = session.tested.filter((one) => one.is === is && one.taken === taken);
      const title = texts.cell(found.length, is, taken);
      const button = element("button", { type: "button", disabled: !found.length, "aria-label": title }, `${found.length}`);
      button.addEventListener("click", () => openPictures(title, found.map(({ picture }) => picture))); // prettier-ignore
      row.append(element("td", is === taken ? { className: "right" } : {}, button));
    }
    body.append(row);
  }
  table.append(body);
  place.replaceChildren(table);
}
