/** The strategy `exact` for worker.js: pictures are added to class statistics and known at once. */
import { Learner } from "./bitreplay/learner.js";

/** @typedef {{x: any, name: string}} Sample an encoded picture and its class */

export class ExactStrategy {
  /** @param {import("./bitreplay/core.js").Core} core @param {Uint8Array} model */
  constructor(core, model) {
    this.learner = Learner.open(core, model);
    this.memory = this.learner.memory;
    this.can = { unlearn: true, merge: true };
  }

  /** @param {import("./frames.js").Picture} picture */
  encode(picture) {
    return this.learner.encode(picture);
  }

  /** @param {Sample[]} samples @returns {Generator<{done: number, steps: number}>} */
  *learning(samples) {
    this.learner.learn(samples.map(({ x, name }) => ({ features: x, name })));
    this.learner.ready();
    yield { done: 1, steps: 1 };
  }

  /** @param {Int8Array} features @param {string} name */
  unlearn(features, name) {
    this.learner.unlearn(features, name);
  }

  /** @param {Int8Array[]} features of each picture */
  predictNames(features) {
    return this.learner.predictNames(features);
  }

  /** @param {import("./frames.js").Picture} picture @param {number} unknown */
  predict(picture, unknown) {
    return this.learner.predict(picture, { unknown });
  }

  /** The state's setting `unknown`, or 0. */
  get unknown() {
    return this.learner.unknown;
  }

  /** How many pictures are unknown with this share. @param {Int8Array[]} features @param {number} unknown */
  countUnknown(features, unknown) {
    return features.filter((x) => this.learner.predictFeatures(x, { unknown }).unknown).length;
  }

  /** @param {Uint8Array} state */
  merge(state) {
    this.learner.merge(state);
  }
}
