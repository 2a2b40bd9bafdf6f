/**
 * The learner, away from what is drawn. A message is { id, what, words }, its answer { id, found } or { id, error }. Each
 * does little, so that answers come in between while many pictures are learned.
 */
import { Core, hasVectors } from "./bitreplay/core.js";
import { Learner } from "./bitreplay/learner.js";

/** @type {Learner} */
let learner;
/** @type {Core} */
let core;
let modelBytes = 0;

/** @param {string} name */
async function bytesOf(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name} cannot be loaded.`);
  return new Uint8Array(await response.arrayBuffer());
}

const summary = () => ({
  classes: learner.classes(),
  experiences: learner.experiences,
  hash: learner.hash(),
  state: learner.save(),
});

/** @type {Record<string, (...words: any[]) => any>} */
const does = {
  async open(/** @type {string} */ model, /** @type {Uint8Array | undefined} */ state) {
    core = await Core.open(await bytesOf(hasVectors() ? "bitreplay.wasm" : "bitreplay-plain.wasm"));
    const file = await bytesOf(model);
    modelBytes = file.length;
    learner = Learner.open(core, file);
    if (state) learner.load(state);
    return { ...summary(), memory: learner.memory, modelBytes, path: core.path(), side: learner.side };
  },
  numbers: (picture) => learner.numbersOf(picture),
  /** The three likeliest, and whether it is unlike them all: `unknown` is a share, as in docs/unknown.md. */
  predict(picture, /** @type {number} */ unknown) {
    const start = performance.now();
    if (!learner.classes().length) return { answers: [], unknown: false, ms: 0 };
    const found = learner.predict(picture, { unknown });
    const answers = learner.classes().map(({ name }, k) => ({ name, share: found.probabilities[k] }));
    answers.sort((a, b) => b.share - a.share);
    return { answers: answers.slice(0, 3), unknown: found.unknown, ms: performance.now() - start };
  },
  /** The class that each is taken for. */
  evaluate: (/** @type {Int8Array[]} */ all) => learner.namesOf(all),
  /** The largest of these shares with which no more than `most` of the pictures are unknown; 0: there is none. */
  share(/** @type {Int8Array[]} */ all, /** @type {number[]} */ shares, /** @type {number} */ most) {
    const refused = (/** @type {number} */ unknown) => all.filter((x) => learner.predictNumbers(x, { unknown }).unknown).length;
    return learner.unknown || (shares.find((share) => refused(share) <= most * all.length) ?? 0);
  },
  learn(/** @type {{x: Int8Array, name: string}[]} */ pictures) {
    const start = performance.now();
    learner.learn(pictures);
    learner.ready();
    return { ...summary(), ms: performance.now() - start };
  },
  unlearn(/** @type {{x: Int8Array, name: string}[]} */ pictures) {
    for (const { x, name } of pictures) learner.unlearn(x, name);
    return summary();
  },
  relabel(/** @type {{x: Int8Array, name: string}[]} */ pictures, /** @type {string} */ name) {
    for (const { x, name: old } of pictures) learner.unlearn(x, old);
    learner.learn(pictures.map(({ x }) => ({ x, name })));
    return summary();
  },
  forget(name) {
    learner.forget(name);
    return summary();
  },
  rename(from, to) {
    learner.rename(from, to);
    return summary();
  },
  load(/** @type {Uint8Array} */ state) {
    learner.load(state);
    return summary();
  },
  merge(/** @type {Uint8Array} */ state) {
    learner.merge(state);
    return summary();
  },
  clear() {
    learner.clear();
    return summary();
  },
  requests: () => performance.getEntriesByType("resource").map(({ name }) => name),
};

onmessage = async ({ data: { id, what, words } }) => {
  try {
    const found = await does[what](...words);
    postMessage({ id, found }, { transfer: found?.state ? [found.state.buffer] : [] });
  } catch (error) {
    postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
