/**
 * The learner, outside the page's thread. A message is { id, method, args }, its reply { id, result } or { id, error }; learning
 * in steps sends { id, progress } before. Each message is little work, so that predictions get their turn while many pictures
 * are read.
 */
import { Core, hasSimd } from "./bitreplay/core.js";
import { Learner } from "./bitreplay/learner.js";
import { pack, stateHead, unpack } from "./packing.js";

/** @typedef {{x: any, name: string}} Sample an encoded picture and its class */

const MAX_SAMPLES = 1024; // of one experience of replay

/** @type {any} */
let learner;
const isExact = () => learner.strategy === "exact";
/** @param {Sample[]} samples */
const encodedOf = (samples) => samples.map(({ x, name }) => ({ encoded: x, name }));

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

/** Replay never answers "unknown". @param {any[]} encoded @param {number} unknown */
const countUnknown = (encoded, unknown) =>
  isExact() ? encoded.filter((x) => learner.predictEncoded(x, { unknown }).unknown).length : 0;

/** @type {Record<string, (...args: any[]) => any>} */
const methods = {
  async open(/** @type {{file: string, strategy?: string}} */ model, /** @type {Uint8Array | undefined} */ state) {
    const core = await Core.open(await loadBytes(hasSimd() ? "bitreplay.wasm" : "bitreplay-plain.wasm"));
    const file = await loadBytes(model.file);
    learner = Learner.open(core, file, { samples: MAX_SAMPLES });
    if (state) learner.load(state);
    const { network, state: learned, answers, experience, work } = learner.memory;
    const memory = { network, state: learned, answers: answers + experience, work };
    const can = { unlearn: isExact(), merge: isExact() };
    return { ...summary(), memory, can, modelBytes: file.length, isa: core.isa(), side: learner.side };
  },
  encode: (picture) => learner.encode(picture),
  /** Milliseconds that a picture of the camera takes: the least of those measured for a while. @param {number} duration */
  measure(duration) {
    const side = 224;
    const picture = { data: new Uint8ClampedArray(side * side * 4), width: side, height: side };
    const end = performance.now() + duration;
    let least = Infinity;
    for (let start = performance.now(); start < end; start = performance.now()) {
      learner.encode(picture);
      least = Math.min(least, performance.now() - start);
    }
    return least;
  },
  /** The three most likely classes, and whether the picture is unlike them all; `unknown` is a share (docs/unknown.md). */
  predict(picture, /** @type {number} */ unknown) {
    const start = performance.now();
    const classes = learner.classes();
    if (!classes.length) return { answers: [], unknown: false, ms: 0 };
    const prediction = learner.predict(picture, { unknown: isExact() ? unknown : 0 });
    const answers = classes.map((/** @type {any} */ { name }, /** @type {number} */ k) => ({
      name,
      share: prediction.probabilities[k],
    }));
    answers.sort((/** @type {any} */ a, /** @type {any} */ b) => b.share - a.share);
    return { answers: answers.slice(0, 3), unknown: prediction.unknown, ms: performance.now() - start };
  },
  /** The predicted class of each. */
  evaluate: (/** @type {any[]} */ encoded) => learner.predictNames(encoded),
  /** The first of these shares that calls at most the share `limit` of the pictures unknown, or 0 if none does. */
  chooseShare: (/** @type {any[]} */ encoded, /** @type {number[]} */ shares, /** @type {number} */ limit) =>
    learner.unknown || (shares.find((share) => countUnknown(encoded, share) <= limit * encoded.length) ?? 0),
  learn(/** @type {Sample[]} */ samples, /** @type {(progress: any) => void} */ report) {
    const start = performance.now();
    if (isExact()) {
      learner.learn(encodedOf(samples));
      learner.ready();
      report({ done: 1, steps: 1 });
    } else for (const progress of learner.learning(encodedOf(samples))) report(progress);
    return { ...summary(), ms: performance.now() - start };
  },
  unlearn(/** @type {Sample[]} */ samples) {
    for (const { x, name } of samples) learner.unlearn(x, name);
    return summary();
  },
  relabel(/** @type {Sample[]} */ samples, /** @type {string} */ name) {
    for (const { x, name: old } of samples) learner.unlearn(x, old);
    learner.learn(samples.map(({ x }) => ({ encoded: x, name })));
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
  stateHead: (/** @type {Uint8Array} */ state) => stateHead(learner.core, state),
  pack: (/** @type {Uint8Array} */ state, /** @type {any[]} */ pictures) => pack(learner.core, state, pictures),
  unpack: (/** @type {Uint8Array} */ bytes) => unpack(learner.core, bytes),
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
