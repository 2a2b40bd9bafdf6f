/** The strategy `exact` for worker.js: a picture is added to sums, and known at once. */
import { Learner } from "./bitreplay/learner.js";

/** @typedef {{x: any, name: string}} Sample what numbersOf gave, and its class */

export class BySums {
  /** @param {import("./bitreplay/core.js").Core} core @param {Uint8Array} model */
  constructor(core, model) {
    this.own = Learner.open(core, model);
    this.memory = this.own.memory;
    this.can = { unlearn: true, merge: true };
  }

  /** @param {import("./frames.js").Picture} picture */
  numbersOf(picture) {
    return this.own.numbersOf(picture);
  }

  /** @param {Sample[]} samples @returns {Generator<{done: number, steps: number}>} */
  *learning(samples) {
    this.own.learn(samples);
    this.own.ready();
    yield { done: 1, steps: 1 };
  }

  /** @param {Int8Array} x @param {string} name */
  unlearn(x, name) {
    this.own.unlearn(x, name);
  }

  /** @param {Int8Array[]} all */
  namesOf(all) {
    return this.own.namesOf(all);
  }

  /** @param {import("./frames.js").Picture} picture @param {number} unknown */
  predict(picture, unknown) {
    return this.own.predict(picture, { unknown });
  }

  /** The state's own share of "unknown", or 0. */
  get unknown() {
    return this.own.unknown;
  }

  /** How many are unknown with this share. @param {Int8Array[]} all @param {number} unknown */
  refused(all, unknown) {
    return all.filter((x) => this.own.predictNumbers(x, { unknown }).unknown).length;
  }

  /** @param {Uint8Array} state */
  merge(state) {
    this.own.merge(state);
  }
}
