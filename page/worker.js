/**
 * The learner, outside the page's thread. A message is { id, method, args }, its reply { id, result } or { id, error }; learning
 * in steps sends { id, progress } before. Each message is little work, so that predictions get their turn while many pictures
 * are read.
 */
import { Core, hasSimd } from "./bitreplay/core.js";
import { ReplayStrategy } from "./replay_strategy.js";
import { ExactStrategy } from "./exact_strategy.js";

/** @typedef {import("./exact_strategy.js").Sample} Sample */

/** @type {any} exact_strategy.js or replay_strategy.js */
let strategy;
/** @type {any} the strategy's learner: classes, forgetting, renaming, states */
let learner;

/** @param {string} name */
async function loadBytes(name) {
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

/** @type {Record<string, (...args: any[]) => any>} */
const methods = {
  async open(/** @type {{file: string, strategy?: string}} */ model, /** @type {Uint8Array | undefined} */ state) {
    const core = await Core.open(await loadBytes(hasSimd() ? "bitreplay.wasm" : "bitreplay-plain.wasm"));
    const file = await loadBytes(model.file);
    strategy = model.strategy === "replay" ? new ReplayStrategy(core, file) : new ExactStrategy(core, file);
    learner = strategy.learner;
    if (state) learner.load(state);
    const { memory, can } = strategy;
    return { ...summary(), memory, can, modelBytes: file.length, isa: core.isa(), side: learner.side };
  },
  encode: (picture) => strategy.encode(picture),
  /** The three most likely classes, and whether the picture is unlike them all; `unknown` is a share (docs/unknown.md). */
  predict(picture, /** @type {number} */ unknown) {
    const start = performance.now();
    const classes = learner.classes();
    if (!classes.length) return { answers: [], unknown: false, ms: 0 };
    const prediction = strategy.predict(picture, unknown);
    const answers = classes.map((/** @type {any} */ { name }, /** @type {number} */ k) => ({
      name,
      share: prediction.probabilities[k],
    }));
    answers.sort((/** @type {any} */ a, /** @type {any} */ b) => b.share - a.share);
    return { answers: answers.slice(0, 3), unknown: prediction.unknown, ms: performance.now() - start };
  },
  /** The predicted class of each. */
  evaluate: (/** @type {any[]} */ encoded) => strategy.predictNames(encoded),
  /** The first of these shares that calls at most the share `limit` of the pictures unknown, or 0 if none does. */
  chooseShare: (/** @type {any[]} */ encoded, /** @type {number[]} */ shares, /** @type {number} */ limit) =>
    strategy.unknown || (shares.find((share) => strategy.countUnknown(encoded, share) <= limit * encoded.length) ?? 0),
  learn(/** @type {Sample[]} */ samples, /** @type {(progress: any) => void} */ report) {
    const start = performance.now();
    for (const progress of strategy.learning(samples)) report(progress);
    return { ...summary(), ms: performance.now() - start };
  },
  unlearn(/** @type {Sample[]} */ samples) {
    for (const { x, name } of samples) strategy.unlearn(x, name);
    return summary();
  },
  relabel(/** @type {Sample[]} */ samples, /** @type {string} */ name) {
    for (const { x, name: old } of samples) strategy.unlearn(x, old);
    learner.learn(samples.map(({ x }) => ({ features: x, name })));
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

onmessage = async ({ data: { id, method, args } }) => {
  try {
    const report = (/** @type {any} */ progress) => postMessage({ id, progress });
    const result = await methods[method](...args, report);
    postMessage({ id, result }, { transfer: result?.state ? [result.state.buffer] : [] });
  } catch (error) {
    postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
