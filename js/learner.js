/**
 * The learner of the C library (core/include/bitreplay_learner.h) in JavaScript: pictures in, answers out, states as the
 * bytes that Python and C write, with the same hash.
 *
 *     const learner = Learner.open(core, model);           // a file that `bitreplay export` writes
 *     learner.learn([{ picture, name: "pear" }, ...]);     // one experience
 *     learner.predict(picture, { unknown: 0.05 })          // { name, label, unknown, probabilities }
 *     const bytes = learner.save();                        // learner.load(bytes), learner.merge(others)
 *
 * A picture is ImageData, or { data, width, height } with 3 or 4 bytes a pixel. What a call refuses it leaves unchanged,
 * and throws the core's sentence.
 */

import { Caller } from "./caller.js";

/** @typedef {import("./caller.js").Picture} Picture */
/** @typedef {import("./caller.js").Name} Name */
/**
 * `unknown`: the picture is unlike those that were learned (docs/unknown.md); `name` is the best class even so.
 * @typedef {{name: Name, label: number, unknown: boolean, probabilities: number[]}} Answer
 */
/** @typedef {{name: Name, pictures: number}} Class */
/** @typedef {{network: number, state: number, answers: number, work: number}} Memory */
/** @typedef {import("./core.js").Core} Core */

const ERROR_BYTES = 256;
const ONE = 1 << 30; // a probability of 1
const ALL = 1 << 16; // a share of 1

/** 16 bits behind the point; above 0 if the share is. @param {number} share */
function asShare(share) {
  if (!(share >= 0 && share < 1)) throw new Error(`unknown must be at least 0 and below 1, got ${share}.`);
  return share && Math.max(1, Math.round(share * ALL));
}

export class Learner extends Caller {
  /**
   * @param {Core} core
   * @param {number} own its address
   * @param {Memory} memory what it takes, in bytes
   */
  constructor(core, own, memory) {
    super(core, own);
    this.memory = memory;
    this.numbers = core.call.br_learner_features(own);
    this.side = core.call.br_learner_side(own);
  }

  /**
   * @param {Core} core
   * @param {Uint8Array} model
   * @param {{classes?: number, nameBytes?: number, marks?: number, pictures?: number}} [most] what there is room for;
   *   pictures: with the setting `digests` alone
   */
  static open(core, model, { classes = 64, nameBytes = 200, marks = 16384, pictures = 16384 } = {}) {
    const at = core.place(model);
    const options = core.take(64);
    const found = core.take(64);
    const error = core.take(ERROR_BYTES);
    [classes, nameBytes, marks, 0, 0, 1, pictures].forEach((value, k) => core.view.setUint32(options + 4 * k, value, true));
    const planned = core.call.br_learner_plan(at, model.length, options, found, error, ERROR_BYTES);
    if (planned) throw new Error(core.text(error) || core.sentence(planned));
    const [total, network, state, answers, work] = [0, 1, 2, 3, 4].map((k) => core.view.getUint32(found + 4 * k, true));
    const room = core.take(total);
    const failed = core.call.br_learner_open(at, model.length, options, room, total, found, error, ERROR_BYTES);
    if (failed) throw new Error(core.text(error) || core.sentence(failed));
    const learner = new Learner(core, core.view.getUint32(found, true), { network, state, answers, work });
    for (const place of [options, found, error]) core.give(place);
    return learner;
  }

  /**
   * @template T
   * @param {Int8Array} x
   * @param {(at: number) => T} call
   */
  _numbers(x, call) {
    if (x.length !== this.numbers) throw new Error(`A picture has ${this.numbers} numbers, got ${x.length}.`);
    const at = this._room(x.length);
    this.core.bytes.set(new Uint8Array(x.buffer, x.byteOffset, x.length), at);
    return call(at);
  }

  /** The picture as the network sees it: side * side * 3 bytes. @param {Picture} picture */
  fit(picture) {
    const size = this.side * this.side * 3;
    const to = this.core.take(size);
    this._picture(picture, (at) => this.core.check(this.core.call.br_fit(at, this.side, to)));
    const fitted = this.core.bytes.slice(to, to + size);
    this.core.give(to);
    return fitted;
  }

  /** All that learning and answering know of a picture. @param {Picture} picture */
  numbersOf(picture) {
    const to = this.core.take(this.numbers);
    this._picture(picture, (at) => this.core.check(this.core.call.br_learner_extract(this.own, at, to)));
    const x = new Int8Array(this.core.bytes.slice(to, to + this.numbers).buffer);
    this.core.give(to);
    return x;
  }

  /** One experience. @param {({picture: Picture, name: Name} | {x: Int8Array, name: Name})[]} pictures */
  learn(pictures) {
    const { call } = this.core;
    this.core.check(call.br_learn_begin(this.own));
    for (const one of pictures)
      this._name(one.name, (name) => {
        if ("x" in one) this._numbers(one.x, (at) => this.core.check(call.br_learn_add_features(this.own, at, name)));
        else this._picture(one.picture, (at) => this.core.check(call.br_learn_add(this.own, at, name)));
      });
    this.core.check(call.br_learn_end(this.own));
  }

  /** As if it had never been learned. @param {Int8Array} x @param {Name} name */
  unlearn(x, name) {
    this._name(name, (to) => this._numbers(x, (at) => this.core.check(this.core.call.br_unlearn_features(this.own, at, to))));
  }

  /** @param {Name} name */
  forget(name) {
    this._name(name, (at) => this.core.check(this.core.call.br_forget(this.own, at)));
  }

  /** @param {Name} from @param {Name} to */
  rename(from, to) {
    this._name(from, (old) => this._name(to, (name) => this.core.check(this.core.call.br_rename(this.own, old, name))));
  }

  clear() {
    this.core.call.br_learner_clear(this.own);
  }

  /** Makes the discriminant now, not when it is first asked for. */
  ready() {
    this.core.check(this.core.call.br_learner_ready(this.own));
  }

  /** The setting `unknown` of the state: the share of pictures of known classes that may be called so. */
  get unknown() {
    return this.core.call.br_learner_share(this.own) / ALL;
  }

  /** @param {Picture} picture @param {{unknown?: number}} [asked] a share, where it is not the state's */
  predict(picture, { unknown = this.unknown } = {}) {
    const { call } = this.core;
    return this._answer(unknown, (answer) => this._picture(picture, (at) => call.br_predict(this.own, at, answer)));
  }

  /** @param {Int8Array} x @param {{unknown?: number}} [asked] */
  predictNumbers(x, { unknown = this.unknown } = {}) {
    const { call } = this.core;
    return this._answer(unknown, (answer) => this._numbers(x, (at) => call.br_predict_features(this.own, at, answer)));
  }

  /** The class of each, without probabilities: the first of these after a change takes as long as the change. @param {Int8Array[]} all */
  namesOf(all) {
    const classes = this.classes();
    const answer = this.core.take(64);
    try {
      return all.map((x) => {
        this._numbers(x, (at) => this.core.check(this.core.call.br_predict_features(this.own, at, answer)));
        return classes[this.core.view.getUint32(answer, true)].name;
      });
    } finally {
      this.core.give(answer);
    }
  }

  /**
   * @param {number} share
   * @param {(answer: number) => number} ask
   * @returns {Answer}
   */
  _answer(share, ask) {
    const asked = asShare(share);
    const classes = this.classes();
    const at = this.core.take(64 + 4 * classes.length);
    this.core.view.setUint32(at + 8, at + 64, true);
    this.core.view.setUint32(at + 12, asked, true);
    try {
      this.core.check(ask(at));
      const view = this.core.view;
      const label = view.getUint32(at, true);
      const probabilities = classes.map((_, k) => view.getInt32(at + 64 + 4 * k, true) / ONE);
      const unknown = view.getUint32(at + 16, true) === 1;
      return { name: classes[label].name, label, unknown, probabilities };
    } finally {
      this.core.give(at);
    }
  }

  /** In the order of their names, with the pictures learned of each. */
  classes() {
    const { call } = this.core;
    const at = this.core.take(64);
    /** @type {Class[]} */
    const found = [];
    for (let label = 0; label < call.br_learner_classes(this.own); ++label) {
      this.core.check(call.br_learner_class(this.own, label, at, at + 32));
      found.push({ name: this._nameAt(at), pictures: Number(this.core.view.getBigInt64(at + 32, true)) });
    }
    this.core.give(at);
    return found;
  }

  get experiences() {
    return Number(this.core.call.br_learner_experiences(this.own));
  }

  get pictures() {
    return Number(this.core.call.br_learner_pictures(this.own));
  }

  /** The state's hash: 64 digits, the same on every machine. */
  hash() {
    return this._hash("br_state_hash");
  }

  /** A state file. */
  save() {
    return this._bytes("br_state_bytes", "br_state_write_bytes", "br_state_verify_bytes");
  }

  /** Throws unless `load` would take these bytes, the factor of their sums aside. @param {Uint8Array} bytes */
  verify(bytes) {
    this._state(bytes, "br_state_verify_bytes");
  }

  /** @param {Uint8Array} bytes */
  load(bytes) {
    this._state(bytes, "br_state_read_bytes");
  }

  /**
   * Adds what another state of the same model and settings has learned. With a base, which both began as, what it saw
   * counts once.
   * @param {Uint8Array} bytes
   * @param {Uint8Array} [base]
   */
  merge(bytes, base) {
    this._since("br_state_merge", bytes, base);
  }

  /**
   * As if a state that was merged before never had been.
   * @param {Uint8Array} bytes
   * @param {Uint8Array} [base] which both began as
   */
  takeOut(bytes, base) {
    this._since("br_state_take_out", bytes, base);
  }

  /** @param {string} how @param {Uint8Array} bytes @param {Uint8Array} [base] */
  _since(how, bytes, base) {
    if (!base) return this._state(bytes, `${how}_bytes`);
    const at = this.core.place(base);
    try {
      this._state(bytes, `${how}_since_bytes`, at, base.length);
    } finally {
      this.core.give(at);
    }
  }
}
