/**
 * The paper's strategy (core/include/bitreplay_replay.h) in JavaScript: new and replayed 1-bit latents train a tail, a CWR*
 * head is consolidated. States are the bytes that Python and C write, with the same hash.
 *
 *     const learner = Replay.open(core, model);            // a file that `bitreplay export --strategy replay` writes
 *     learner.learn([{ picture, name: "pear" }, ...]);     // one experience, all of its steps
 *     for (const { done, steps } of learner.learning(pictures)) await pause();    // the same, step by step
 *     learner.predict(picture).name
 *     const bytes = learner.save();                        // learner.load(bytes)
 *
 * Pictures and names are those of learner.js. What a call refuses it leaves unchanged, and throws the core's sentence.
 */
import { Caller } from "./caller.js";

/** @typedef {import("./caller.js").Picture} Picture */
/** @typedef {import("./caller.js").Name} Name */
/** @typedef {import("./core.js").Core} Core */
/** @typedef {{name: Name, label: number, unknown: boolean, probabilities: number[]}} Answer */
/** @typedef {{name: Name, pictures: number, stored: number}} ReplayClass pictures learned of it, latents stored */
/** @typedef {{network: number, state: number, experience: number, work: number}} ReplayMemory */
/** @typedef {{picture: Picture, name: Name} | {code: BigUint64Array, name: Name}} Sample */

const ERROR_BYTES = 256;
const ONE = 1 << 30; // a probability of 1

export class Replay extends Caller {
  /**
   * @param {Core} core
   * @param {number} own its address
   * @param {ReplayMemory} memory what it takes, in bytes
   */
  constructor(core, own, memory) {
    super(core, own);
    this.memory = memory;
    this.words = core.call.br_replay_latent_words(own);
    this.side = core.call.br_replay_side(own);
  }

  /**
   * @param {Core} core
   * @param {Uint8Array} model
   * @param {{classes?: number, nameBytes?: number, samples?: number}} [most] what there is room for; `samples` are the
   * pictures of one experience
   */
  static open(core, model, { classes = 16, nameBytes = 200, samples = 256 } = {}) {
    const at = core.place(model);
    const options = core.take(64);
    const found = core.take(64);
    const error = core.take(ERROR_BYTES);
    [classes, nameBytes, samples, 0].forEach((value, k) => core.view.setUint32(options + 4 * k, value, true));
    const planned = core.call.br_replay_plan(at, model.length, options, found, error, ERROR_BYTES);
    if (planned) throw new Error(core.text(error) || core.sentence(planned));
    const [total, network, state, experience, work] = [0, 1, 2, 3, 4].map((k) => core.view.getUint32(found + 4 * k, true));
    const room = core.take(total);
    const failed = core.call.br_replay_open(at, model.length, options, room, total, found, error, ERROR_BYTES);
    if (failed) throw new Error(core.text(error) || core.sentence(failed));
    const learner = new Replay(core, core.view.getUint32(found, true), { network, state, experience, work });
    for (const place of [options, found, error]) core.give(place);
    return learner;
  }

  /**
   * @template T
   * @param {BigUint64Array} code
   * @param {(at: number) => T} call
   */
  _code(code, call) {
    if (code.length !== this.words) throw new Error(`A latent has ${this.words} words, got ${code.length}.`);
    const at = this._room(8 * code.length);
    this.core.bytes.set(new Uint8Array(code.buffer, code.byteOffset, 8 * code.length), at);
    return call(at);
  }

  /** The picture's latent: all that learning and answering know of it. @param {Picture} picture */
  codeOf(picture) {
    const to = this.core.take(8 * this.words);
    this._picture(picture, (at) => this.core.check(this.core.call.br_replay_latent(this.own, at, to)));
    const code = new BigUint64Array(this.core.bytes.slice(to, to + 8 * this.words).buffer);
    this.core.give(to);
    return code;
  }

  /** One experience. @param {Sample[]} samples */
  learn(samples) {
    for (const _ of this.learning(samples)); // every step
  }

  /**
   * One experience, a step at a time. Whoever stops before the last has the learner as it was before.
   * @param {Sample[]} samples
   * @returns {Generator<{done: number, steps: number}, void, void>}
   */
  *learning(samples) {
    const { call } = this.core;
    const before = this.save();
    const progress = this.core.take(64);
    let whole = false;
    try {
      this.core.check(call.br_replay_begin(this.own));
      for (const one of samples)
        this._name(one.name, (name) => {
          if ("code" in one) this._code(one.code, (at) => this.core.check(call.br_replay_add_latent(this.own, at, name)));
          else this._picture(one.picture, (at) => this.core.check(call.br_replay_add(this.own, at, name)));
        });
      for (let done = 0, steps = 1; done < steps; ) {
        this.core.check(call.br_replay_step(this.own, progress));
        done = Number(this.core.view.getBigUint64(progress, true));
        steps = Number(this.core.view.getBigUint64(progress + 8, true));
        yield { done, steps };
      }
      this.core.check(call.br_replay_end(this.own));
      whole = true;
    } finally {
      this.core.give(progress);
      if (!whole) this.load(before);
    }
  }

  /** Its stored latents and weights of the head; what the tail has learned of it stays. @param {Name} name */
  forget(name) {
    this._name(name, (at) => this.core.check(this.core.call.br_replay_forget(this.own, at)));
  }

  /** @param {Name} from @param {Name} to */
  rename(from, to) {
    const { call } = this.core;
    this._name(from, (old) => this._name(to, (name) => this.core.check(call.br_replay_rename(this.own, old, name))));
  }

  clear() {
    this.core.call.br_replay_clear(this.own);
  }

  /** @param {Picture} picture */
  predict(picture) {
    const { call } = this.core;
    return this._answer((answer) => this._picture(picture, (at) => call.br_replay_predict(this.own, at, answer)));
  }

  /** @param {BigUint64Array} code */
  predictCode(code) {
    const { call } = this.core;
    return this._answer((answer) => this._code(code, (at) => call.br_replay_predict_latent(this.own, at, answer)));
  }

  /**
   * @param {(answer: number) => number} ask
   * @returns {Answer}
   */
  _answer(ask) {
    const classes = this.classes();
    const at = this.core.take(64 + 4 * classes.length);
    this.core.view.setUint32(at + 8, at + 64, true);
    try {
      this.core.check(ask(at));
      const view = this.core.view;
      const label = view.getUint32(at, true);
      const probabilities = classes.map((_, k) => view.getInt32(at + 64 + 4 * k, true) / ONE);
      return { name: classes[label].name, label, unknown: false, probabilities };
    } finally {
      this.core.give(at);
    }
  }

  /** In the order of their numbers: the order of names among those that came in one experience. */
  classes() {
    const { call } = this.core;
    const at = this.core.take(64);
    /** @type {ReplayClass[]} */
    const found = [];
    for (let label = 0; label < call.br_replay_classes(this.own); ++label) {
      this.core.check(call.br_replay_class(this.own, label, at, at + 32, at + 40));
      const [pictures, stored] = [32, 40].map((k) => Number(this.core.view.getBigInt64(at + k, true)));
      found.push({ name: this._nameAt(at), pictures, stored });
    }
    this.core.give(at);
    return found;
  }

  get experiences() {
    return Number(this.core.call.br_replay_experiences(this.own));
  }

  /** Of known classes. */
  get pictures() {
    return Number(this.core.call.br_replay_pictures(this.own));
  }

  /** Minibatches learned in its life. */
  get steps() {
    return Number(this.core.call.br_replay_steps(this.own));
  }

  /** The state's hash: 64 digits, the same on every machine. */
  hash() {
    return this._hash("br_replay_hash");
  }

  /** A state file. */
  save() {
    return this._bytes("br_replay_bytes", "br_replay_write_bytes", "br_replay_verify_bytes");
  }

  /** Throws unless `load` would take these bytes. @param {Uint8Array} bytes */
  verify(bytes) {
    this._state(bytes, "br_replay_verify_bytes");
  }

  /** @param {Uint8Array} bytes */
  load(bytes) {
    this._state(bytes, "br_replay_read_bytes");
  }
}
