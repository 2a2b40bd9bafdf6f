/**
 * Photographs of fruit that come with the page: examples.json says where each lies in examples.bin.
 *
 * @typedef {{name: string, learn: Blob[], test: Blob[]}} Example
 */

/** @returns {Promise<Example[]>} */
export async function readExamples() {
  const [list, bytes] = await Promise.all([
    fetch("examples.json").then((response) => response.json()),
    fetch("examples.bin").then((response) => response.arrayBuffer()),
  ]);
  const cut = (/** @type {[number, number][]} */ ranges) =>
    ranges.map(([from, to]) => new Blob([bytes.slice(from, to)], { type: "image/webp" }));
  return list.map((/** @type {any} */ { name, learn, test }) => ({ name, learn: cut(learn), test: cut(test) }));
}
