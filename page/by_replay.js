/** The paper's strategy for worker.js: a tail learns from new and stored latents, in steps. Nothing is "unknown" to it. */
import { Replay } from "./bitreplay/replay.js";

const MOST_PICTURES = 1024; // of one experience

export class ByReplay {
  /** @param {import("./bitreplay/core.js").Core} core @param {Uint8Array} model */
  constructor(core, model) {
    this.own = Replay.open(core, model, { samples: MOST_PICTURES });
    const { network, state, experience, work } = this.own.memory;
    this.memory = { network, state, answers: experience, work };
    this.can = { unlearn: false, merge: false };
    this.unknown = 0;
  }

  /** @param {import("./frames.js").Picture} picture */
  numbersOf(picture) {
    return this.own.codeOf(picture);
  }

  /** @param {import("./by_sums.js").Sample[]} samples @returns {Generator<{done: number, steps: number}>} */
  learning(samples) {
    return this.own.learning(samples.map(({ x, name }) => ({ code: x, name })));
  }

  /** @param {BigUint64Array[]} all */
  namesOf(all) {
    return all.map((x) => this.own.predictCode(x).name);
  }

  /** @param {import("./frames.js").Picture} picture */
  predict(picture) {
    return this.own.predict(picture);
  }

  refused() {
    return 0;
  }
}
