/**
 * The paper's strategy (core/include/bitreplay_replay.h) in JavaScript: a tail is trained on new and replayed 1-bit latents,
 * and a CWR* head is consolidated. States are the bytes that Python and C write, with the same hash.
 *
 *     const learner = Replay.open(core, model);            // a file that `bitreplay export --strategy replay` writes
 *     learner.learn([{ picture, name: "pear" }, ...]);     // one experience, all of its steps
 *     for (const { done, steps } of learner.learning(samples)) await pause();    // the same, step by step
 *     learner.predict(picture).name
 *     const bytes = learner.save();                        // learner.load(bytes)
 *
 * Pictures and names are those of learner.js. A call that fails throws the core's error text and changes nothing.
 */
import { BaseLearner } from "./base_learner.js";

/** @typedef {import("./base_learner.js").Picture} Picture */
/** @typedef {import("./base_learner.js").Name} Name */
/** @typedef {import("./core.js").Core} Core */
/** @typedef {{name: Name, label: number, unknown: boolean, probabilities: number[]}} Answer */
/** @typedef {{name: Name, pictures: number, stored: number}} ReplayClass pictures learned, latents stored */
/** @typedef {{network: number, state: number, experience: number, work: number}} ReplayMemory */
/** @typedef {{picture: Picture, name: Name} | {latent: BigUint64Array, name: Name}} Sample */

const ERROR_BYTES = 256;
const ONE = 1 << 30; // a probability of 1

export class Replay extends BaseLearner {
  /**
   * @param {Core} core
   * @param {number} handle its address
   * @param {ReplayMemory} memory the bytes that it uses
   */
  constructor(core, handle, memory) {
    super(core, handle);
    this.memory = memory;
    this.latentWords = core.call.br_replay_latent_words(handle);
    this.side = core.call.br_replay_side(handle);
  }

  /**
   * @param {Core} core
   * @param {Uint8Array} model
   * @param {{classes?: number, nameBytes?: number, samples?: number}} [limits] what to reserve memory for;
   *   `samples` are the pictures of one experience
   */
  static open(core, model, { classes = 16, nameBytes = 200, samples = 256 } = {}) {
    const at = core.copyIn(model);
    const options = core.allocate(64);
    const result = core.allocate(64);
    const error = core.allocate(ERROR_BYTES);
    [classes, nameBytes, samples, 0].forEach((value, k) => core.view.setUint32(options + 4 * k, value, true));
    const planned = core.call.br_replay_plan(at, model.length, options, result, error, ERROR_BYTES);
    if (planned) throw new Error(core.text(error) || core.errorText(planned));
    const [total, network, state, experience, work] = [0, 1, 2, 3, 4].map((k) => core.view.getUint32(result + 4 * k, true));
    const memory = core.allocate(total);
    const failed = core.call.br_replay_open(at, model.length, options, memory, total, result, error, ERROR_BYTES);
    if (failed) throw new Error(core.text(error) || core.errorText(failed));
    const learner = new Replay(core, core.view.getUint32(result, true), { network, state, experience, work });
    for (const address of [options, result, error]) core.free(address);
    return learner;
  }

  /**
   * @template T
   * @param {BigUint64Array} latent
   * @param {(at: number) => T} call
   */
  _withLatent(latent, call) {
    const { length } = latent;
    if (length !== this.latentWords) throw new Error(`A latent has ${this.latentWords} words, got ${length}.`);
    const at = this._scratch(8 * length);
    this.core.bytes.set(new Uint8Array(latent.buffer, latent.byteOffset, 8 * length), at);
    return call(at);
  }

  /** The picture's latent, all that learning and prediction use of it. @param {Picture} picture */
  encode(picture) {
    const to = this.core.allocate(8 * this.latentWords);
    this._withPicture(picture, (at) => this.core.check(this.core.call.br_replay_latent(this.handle, at, to)));
    const latent = new BigUint64Array(this.core.bytes.slice(to, to + 8 * this.latentWords).buffer);
    this.core.free(to);
    return latent;
  }

  /** One experience. @param {Sample[]} samples */
  learn(samples) {
    for (const _ of this.learning(samples)); // every step
  }

  /**
   * One experience, one step per iteration. A loop that stops early leaves the learner as it was before.
   * @param {Sample[]} samples
   * @returns {Generator<{done: number, steps: number}, void, void>}
   */
  *learning(samples) {
    const { call } = this.core;
    const before = this.save();
    const progress = this.core.allocate(64);
    let complete = false;
    try {
      this.core.check(call.br_replay_begin(this.handle));
      for (const sample of samples)
        this._withName(sample.name, (name) => {
          if ("latent" in sample)
            this._withLatent(sample.latent, (at) => this.core.check(call.br_replay_add_latent(this.handle, at, name)));
          else this._withPicture(sample.picture, (at) => this.core.check(call.br_replay_add(this.handle, at, name)));
        });
      for (let done = 0, steps = 1; done < steps; ) {
        this.core.check(call.br_replay_step(this.handle, progress));
        done = Number(this.core.view.getBigUint64(progress, true));
        steps = Number(this.core.view.getBigUint64(progress + 8, true));
        yield { done, steps };
      }
      this.core.check(call.br_replay_end(this.handle));
      complete = true;
    } finally {
      this.core.free(progress);
      if (!complete) this.load(before);
    }
  }

  /** Drops a class's stored latents and its weights in the head; what the tail has learned stays. @param {Name} name */
  forget(name) {
    this._withName(name, (at) => this.core.check(this.core.call.br_replay_forget(this.handle, at)));
  }

  /** @param {Name} from @param {Name} to */
  rename(from, to) {
    const { call } = this.core;
    this._withName(from, (old) => this._withName(to, (name) => this.core.check(call.br_replay_rename(this.handle, old, name))));
  }

  clear() {
    this.core.call.br_replay_clear(this.handle);
  }

  /** @param {Picture} picture */
  predict(picture) {
    const { call } = this.core;
    return this._answer((answer) => this._withPicture(picture, (at) => call.br_replay_predict(this.handle, at, answer)));
  }

  /** @param {BigUint64Array} latent */
  predictLatent(latent) {
    const { call } = this.core;
    return this._answer((answer) => this._withLatent(latent, (at) => call.br_replay_predict_latent(this.handle, at, answer)));
  }

  /**
   * @param {(answer: number) => number} predict
   * @returns {Answer}
   */
  _answer(predict) {
    const classes = this.classes();
    const at = this.core.allocate(64 + 4 * classes.length);
    this.core.view.setUint32(at + 8, at + 64, true);
    try {
      this.core.check(predict(at));
      const view = this.core.view;
      const label = view.getUint32(at, true);
      const probabilities = classes.map((_, k) => view.getInt32(at + 64 + 4 * k, true) / ONE);
      return { name: classes[label].name, label, unknown: false, probabilities };
    } finally {
      this.core.free(at);
    }
  }

  /** In the order in which they were learned; sorted by name within one experience. */
  classes() {
    const { call } = this.core;
    const at = this.core.allocate(64);
    /** @type {ReplayClass[]} */
    const classes = [];
    for (let label = 0; label < call.br_replay_classes(this.handle); ++label) {
      this.core.check(call.br_replay_class(this.handle, label, at, at + 32, at + 40));
      const [pictures, stored] = [32, 40].map((k) => Number(this.core.view.getBigInt64(at + k, true)));
      classes.push({ name: this._readName(at), pictures, stored });
    }
    this.core.free(at);
    return classes;
  }

  get experiences() {
    return Number(this.core.call.br_replay_experiences(this.handle));
  }

  /** The number learned, of classes that are still known. */
  get pictures() {
    return Number(this.core.call.br_replay_pictures(this.handle));
  }

  /** Minibatches learned so far. */
  get steps() {
    return Number(this.core.call.br_replay_steps(this.handle));
  }

  /** The state's hash: 64 hexadecimal digits, the same on every machine. */
  hash() {
    return this._hash("br_replay_hash");
  }

  /** A state file. */
  save() {
    return this._write("br_replay_bytes", "br_replay_write_bytes", "br_replay_verify_bytes");
  }

  /** Throws unless `load` would accept these bytes. @param {Uint8Array} bytes */
  verify(bytes) {
    this._read(bytes, "br_replay_verify_bytes");
  }

  /** @param {Uint8Array} bytes */
  load(bytes) {
    this._read(bytes, "br_replay_read_bytes");
  }
}
