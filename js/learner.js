/**
 * The learner of the C library (core/include/bitreplay_learner.h) in JavaScript: pictures in, answers out, states as the
 * bytes that Python and C write, with the same hash.
 *
 *     const learner = Learner.open(core, model);           // a file that `bitreplay export` writes
 *     learner.learn([{ picture, name: "pear" }, ...]);     // one experience
 *     learner.predict(picture, { unknown: 0.05 })          // { name, label, unknown, probabilities }
 *     const bytes = learner.save();                        // learner.load(bytes), learner.merge(others)
 *
 * A picture is ImageData, or { data, width, height } with 3 or 4 bytes per pixel. A call that fails throws the core's
 * error text and changes nothing.
 */

import { BaseLearner } from "./base_learner.js";
import { fit } from "./fit.js";

/** @typedef {import("./base_learner.js").Picture} Picture */
/** @typedef {import("./base_learner.js").Name} Name */
/**
 * `unknown`: the picture is unlike those that were learned (docs/unknown.md); `name` is the most likely class even so.
 * @typedef {{name: Name, label: number, unknown: boolean, probabilities: number[]}} Answer
 */
/** @typedef {{name: Name, pictures: number}} Class */
/** @typedef {{network: number, state: number, answers: number, work: number}} Memory */
/** @typedef {import("./core.js").Core} Core */

const ERROR_BYTES = 256;
const ONE = 1 << 30; // a probability of 1
const ALL = 1 << 16; // a share of 1

/** In fixed point with 16 fractional bits; above 0 if the share is. @param {number} share */
function fixedShare(share) {
  if (!(share >= 0 && share < 1)) throw new Error(`unknown must be at least 0 and less than 1, got ${share}.`);
  return share && Math.max(1, Math.round(share * ALL));
}

export class Learner extends BaseLearner {
  /**
   * @param {Core} core
   * @param {number} handle its address
   * @param {Memory} memory the bytes that it uses
   */
  constructor(core, handle, memory) {
    super(core, handle);
    this.memory = memory;
    this.nFeatures = core.call.br_learner_features(handle);
    this.side = core.call.br_learner_side(handle);
  }

  /**
   * @param {Core} core
   * @param {Uint8Array} model
   * @param {{classes?: number, nameBytes?: number, marks?: number, pictures?: number}} [limits] what to reserve
   *   memory for; `pictures` counts only with the setting `digests`
   */
  static open(core, model, { classes = 64, nameBytes = 200, marks = 16384, pictures = 16384 } = {}) {
    const at = core.copyIn(model);
    const options = core.allocate(64);
    const result = core.allocate(64);
    const error = core.allocate(ERROR_BYTES);
    [classes, nameBytes, marks, 0, 0, 1, pictures].forEach((value, k) => core.view.setUint32(options + 4 * k, value, true));
    const planned = core.call.br_learner_plan(at, model.length, options, result, error, ERROR_BYTES);
    if (planned) throw new Error(core.text(error) || core.errorText(planned));
    const [total, network, state, answers, work] = [0, 1, 2, 3, 4].map((k) => core.view.getUint32(result + 4 * k, true));
    const memory = core.allocate(total);
    const failed = core.call.br_learner_open(at, model.length, options, memory, total, result, error, ERROR_BYTES);
    if (failed) throw new Error(core.text(error) || core.errorText(failed));
    const learner = new Learner(core, core.view.getUint32(result, true), { network, state, answers, work });
    for (const address of [options, result, error]) core.free(address);
    return learner;
  }

  /**
   * @template T
   * @param {Int8Array} features
   * @param {(at: number) => T} call
   */
  _withFeatures(features, call) {
    const { length } = features;
    if (length !== this.nFeatures) throw new Error(`A picture has ${this.nFeatures} features, got ${length}.`);
    const at = this._scratch(length);
    this.core.bytes.set(new Uint8Array(features.buffer, features.byteOffset, length), at);
    return call(at);
  }

  /** The picture as the network sees it: side * side * 3 bytes. @param {Picture} picture */
  fit(picture) {
    return fit(this.core, picture, this.side);
  }

  /** The picture's features, all that learning and prediction use of it. @param {Picture} picture */
  encode(picture) {
    const to = this.core.allocate(this.nFeatures);
    this._withPicture(picture, (at) => this.core.check(this.core.call.br_learner_extract(this.handle, at, to)));
    const features = new Int8Array(this.core.bytes.slice(to, to + this.nFeatures).buffer);
    this.core.free(to);
    return features;
  }

  /** One experience. @param {({picture: Picture, name: Name} | {features: Int8Array, name: Name})[]} samples */
  learn(samples) {
    const { call } = this.core;
    this.core.check(call.br_learn_begin(this.handle));
    for (const sample of samples)
      this._withName(sample.name, (name) => {
        if ("features" in sample)
          this._withFeatures(sample.features, (at) => this.core.check(call.br_learn_add_features(this.handle, at, name)));
        else this._withPicture(sample.picture, (at) => this.core.check(call.br_learn_add(this.handle, at, name)));
      });
    this.core.check(call.br_learn_end(this.handle));
  }

  /** As if the picture had never been learned. @param {Int8Array} features @param {Name} name */
  unlearn(features, name) {
    const { call } = this.core;
    this._withName(name, (to) =>
      this._withFeatures(features, (at) => this.core.check(call.br_unlearn_features(this.handle, at, to))),
    );
  }

  /** @param {Name} name */
  forget(name) {
    this._withName(name, (at) => this.core.check(this.core.call.br_forget(this.handle, at)));
  }

  /** @param {Name} from @param {Name} to */
  rename(from, to) {
    const { call } = this.core;
    this._withName(from, (old) => this._withName(to, (name) => this.core.check(call.br_rename(this.handle, old, name))));
  }

  clear() {
    this.core.call.br_learner_clear(this.handle);
  }

  /** Computes the discriminant now rather than with the first prediction. */
  ready() {
    this.core.check(this.core.call.br_learner_ready(this.handle));
  }

  /** The state's setting `unknown`: the share of pictures of known classes that may be called unknown. */
  get unknown() {
    return this.core.call.br_learner_share(this.handle) / ALL;
  }

  /** @param {Picture} picture @param {{unknown?: number}} [options] a share in place of the state's */
  predict(picture, { unknown = this.unknown } = {}) {
    const { call } = this.core;
    return this._answer(unknown, (answer) => this._withPicture(picture, (at) => call.br_predict(this.handle, at, answer)));
  }

  /** @param {Int8Array} features @param {{unknown?: number}} [options] */
  predictFeatures(features, { unknown = this.unknown } = {}) {
    const { call } = this.core;
    return this._answer(unknown, (answer) =>
      this._withFeatures(features, (at) => call.br_predict_features(this.handle, at, answer)),
    );
  }

  /**
   * The most likely class of each, without the time that probabilities take.
   * @param {Int8Array[]} features of each picture
   */
  predictNames(features) {
    const classes = this.classes();
    const answer = this.core.allocate(64);
    try {
      return features.map((x) => {
        this._withFeatures(x, (at) => this.core.check(this.core.call.br_predict_features(this.handle, at, answer)));
        return classes[this.core.view.getUint32(answer, true)].name;
      });
    } finally {
      this.core.free(answer);
    }
  }

  /**
   * @param {number} share
   * @param {(answer: number) => number} predict
   * @returns {Answer}
   */
  _answer(share, predict) {
    const fixed = fixedShare(share);
    const classes = this.classes();
    const at = this.core.allocate(64 + 4 * classes.length);
    this.core.view.setUint32(at + 8, at + 64, true);
    this.core.view.setUint32(at + 12, fixed, true);
    try {
      this.core.check(predict(at));
      const view = this.core.view;
      const label = view.getUint32(at, true);
      const probabilities = classes.map((_, k) => view.getInt32(at + 64 + 4 * k, true) / ONE);
      const unknown = view.getUint32(at + 16, true) === 1;
      return { name: classes[label].name, label, unknown, probabilities };
    } finally {
      this.core.free(at);
    }
  }

  /** Sorted by name, with the number of pictures learned of each. */
  classes() {
    const { call } = this.core;
    const at = this.core.allocate(64);
    /** @type {Class[]} */
    const classes = [];
    for (let label = 0; label < call.br_learner_classes(this.handle); ++label) {
      this.core.check(call.br_learner_class(this.handle, label, at, at + 32));
      classes.push({ name: this._readName(at), pictures: Number(this.core.view.getBigInt64(at + 32, true)) });
    }
    this.core.free(at);
    return classes;
  }

  get experiences() {
    return Number(this.core.call.br_learner_experiences(this.handle));
  }

  get pictures() {
    return Number(this.core.call.br_learner_pictures(this.handle));
  }

  /** The state's hash: 64 hexadecimal digits, the same on every machine. */
  hash() {
    return this._hash("br_state_hash");
  }

  /** A state file. */
  save() {
    return this._write("br_state_bytes", "br_state_write_bytes", "br_state_verify_bytes");
  }

  /** Throws unless `load` would accept these bytes; does not factor their covariance. @param {Uint8Array} bytes */
  verify(bytes) {
    this._read(bytes, "br_state_verify_bytes");
  }

  /** @param {Uint8Array} bytes */
  load(bytes) {
    this._read(bytes, "br_state_read_bytes");
  }

  /**
   * Adds what another state of the same model and settings has learned.
   * @param {Uint8Array} bytes
   * @param {Uint8Array} [base] the state that both began with; what it has learned counts once
   */
  merge(bytes, base) {
    this._since("br_state_merge", bytes, base);
  }

  /**
   * As if a state that was merged before had never been merged.
   * @param {Uint8Array} bytes
   * @param {Uint8Array} [base] the state that both began with
   */
  takeOut(bytes, base) {
    this._since("br_state_take_out", bytes, base);
  }

  /** @param {string} merge @param {Uint8Array} bytes @param {Uint8Array} [base] */
  _since(merge, bytes, base) {
    if (!base) return this._read(bytes, `${merge}_bytes`);
    const at = this.core.copyIn(base);
    try {
      this._read(bytes, `${merge}_since_bytes`, at, base.length);
    } finally {
      this.core.free(at);
    }
  }
}
