/** The strategy `replay` for worker.js: a tail learns from new and stored latents, in steps. It never answers "unknown". */
import { Replay } from "./bitreplay/replay.js";

const MAX_SAMPLES = 1024; // of one experience

export class ReplayStrategy {
  /** @param {import("./bitreplay/core.js").Core} core @param {Uint8Array} model */
  constructor(core, model) {
    this.learner = Replay.open(core, model, { samples: MAX_SAMPLES });
    const { network, state, experience, work } = this.learner.memory;
    this.memory = { network, state, answers: experience, work };
    this.can = { unlearn: false, merge: false };
    this.unknown = 0;
  }

  /** @param {import("./frames.js").Picture} picture */
  encode(picture) {
    return this.learner.encode(picture);
  }

  /** @param {import("./exact_strategy.js").Sample[]} samples @returns {Generator<{done: number, steps: number}>} */
  learning(samples) {
    return this.learner.learning(samples.map(({ x, name }) => ({ latent: x, name })));
  }

  /** @param {BigUint64Array[]} latents */
  predictNames(latents) {
    return latents.map((latent) => this.learner.predictLatent(latent).name);
  }

  /** @param {import("./frames.js").Picture} picture */
  predict(picture) {
    return this.learner.predict(picture);
  }

  countUnknown() {
    return 0;
  }
}
