/**
 * The learner, away from what is drawn. A message is { id, what, words }, its answer { id, found } or { id, error }; while it
 * learns in steps, { id, progress } comes before. Each does little, so that answers come in between while many pictures are
 * read.
 */
import { Core, hasVectors } from "./bitreplay/core.js";
import { ByReplay } from "./by_replay.js";
import { BySums } from "./by_sums.js";

/** @typedef {import("./by_sums.js").Sample} Sample */

/** @type {any} by_sums.js or by_replay.js */
let strategy;
/** @type {any} what both stand on: classes, forgetting, renaming, states */
let learner;

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
  async open(/** @type {{file: string, strategy?: string}} */ model, /** @type {Uint8Array | undefined} */ state) {
    const core = await Core.open(await bytesOf(hasVectors() ? "bitreplay.wasm" : "bitreplay-plain.wasm"));
    const file = await bytesOf(model.file);
    strategy = model.strategy === "replay" ? new ByReplay(core, file) : new BySums(core, file);
    learner = strategy.own;
    if (state) learner.load(state);
    const { memory, can } = strategy;
    return { ...summary(), memory, can, modelBytes: file.length, path: core.path(), side: learner.side };
  },
  numbers: (picture) => strategy.numbersOf(picture),
  /** The three likeliest, and whether it is unlike them all: `unknown` is a share, as in docs/unknown.md. */
  predict(picture, /** @type {number} */ unknown) {
    const start = performance.now();
    const classes = learner.classes();
    if (!classes.length) return { answers: [], unknown: false, ms: 0 };
    const found = strategy.predict(picture, unknown);
    const answers = classes.map((/** @type {any} */ { name }, /** @type {number} */ k) => ({
      name,
      share: found.probabilities[k],
    }));
    answers.sort((/** @type {any} */ a, /** @type {any} */ b) => b.share - a.share);
    return { answers: answers.slice(0, 3), unknown: found.unknown, ms: performance.now() - start };
  },
  /** The class that each is taken for. */
  evaluate: (/** @type {any[]} */ all) => strategy.namesOf(all),
  /** The largest of these shares with which no more than `most` of the pictures are unknown; 0: there is none. */
  share: (/** @type {any[]} */ all, /** @type {number[]} */ shares, /** @type {number} */ most) =>
    strategy.unknown || (shares.find((share) => strategy.refused(all, share) <= most * all.length) ?? 0),
  learn(/** @type {Sample[]} */ samples, /** @type {(progress: any) => void} */ tell) {
    const start = performance.now();
    for (const progress of strategy.learning(samples)) tell(progress);
    return { ...summary(), ms: performance.now() - start };
  },
  unlearn(/** @type {Sample[]} */ samples) {
    for (const { x, name } of samples) strategy.unlearn(x, name);
    return summary();
  },
  relabel(/** @type {Sample[]} */ samples, /** @type {string} */ name) {
    for (const { x, name: old } of samples) strategy.unlearn(x, old);
    learner.learn(samples.map(({ x }) => ({ x, name })));
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
    strategy.merge(state);
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
    const tell = (/** @type {any} */ progress) => postMessage({ id, progress });
    const found = await does[what](...words, tell);
    postMessage({ id, found }, { transfer: found?.state ? [found.state.buffer] : [] });
  } catch (error) {
    postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
