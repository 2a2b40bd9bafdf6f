/**
 * The learner of the C library (core/include/bitreplay_learner.h) in JavaScript: pictures in, answers out, states as the
 * bytes that Python and C write, with the same hash. Its strategy is the model's.
 *
 *     const learner = Learner.open(core, model);           // a file that `bitreplay export` writes
 *     learner.learn([{ picture, name: "pear" }, ...]);     // one experience
 *     for (const { done, steps } of learner.learning(samples)) await pause();    // the same, step by step (replay)
 *     learner.predict(picture, { unknown: 0.05 })          // { name, label, unknown, probabilities }
 *     const bytes = learner.save();                        // learner.load(bytes), learner.merge(others)
 *
 * A picture is ImageData, or { data, width, height } with 3 or 4 bytes per pixel. A call that fails throws the core's
 * error text and changes nothing.
 */
import { FILE_HEAD } from "./core.js";
import { fit, pictureBytes, writePicture } from "./fit.js";
import { br_answer, br_learner_memory, br_learner_options, br_name, br_progress } from "./interface.js";
import { decodeText, encodeText } from "./names.js";

/** @typedef {import("./fit.js").Picture} Picture */
/** @typedef {string | number} Name */
/** @typedef {Int8Array | BigUint64Array} Encoded features (exact) or a latent (replay): all that is used of a picture */
/** @typedef {{picture: Picture, name: Name} | {encoded: Encoded, name: Name}} Sample */
/**
 * `unknown`: the picture is unlike those that were learned (docs/unknown.md); `name` is the most likely class even so.
 * @typedef {{name: Name, label: number, unknown: boolean, probabilities: number[]}} Answer
 */
/** @typedef {{name: Name, pictures: number, stored: number}} Class pictures learned; latents stored, of replay */
/** @typedef {{network: number, state: number, answers: number, experience: number, work: number}} Memory */
/** @typedef {import("./core.js").Core} Core */

const ERROR_BYTES = 256;
const DEFAULT_CLASSES = [64, 16]; // the second for models of replay that were exported for no more
const ONE = 1 << 30; // a probability of 1
const ALL = 1 << 16; // a share of 1

/** In fixed point with 16 fractional bits; above 0 if the share is. @param {number} share */
function fixedShare(share) {
  if (!(share >= 0 && share < 1)) throw new Error(`unknown must be at least 0 and less than 1, got ${share}.`);
  return share && Math.max(1, Math.round(share * ALL));
}

export class Learner {
  /**
   * @param {Core} core
   * @param {number} handle its address
   * @param {Memory} memory the bytes that it uses
   */
  constructor(core, handle, memory) {
    this.core = core;
    this.handle = handle;
    this.memory = memory;
    this.strategy = core.text(core.call.br_learner_strategy(handle));
    this.side = core.call.br_learner_side(handle);
    this.encodedBytes = core.call.br_learner_encoded_bytes(handle);
    this.scratch = { at: 0, size: 0 };
  }

  /**
   * @param {Core} core
   * @param {Uint8Array} model
   * @param {{classes?: number, nameBytes?: number, marks?: number, pictures?: number, samples?: number}} [limits] what to
   *   reserve memory for; `pictures` counts only with the setting `digests`, `samples` are those of one experience of replay
   */
  static open(core, model, { classes = 0, nameBytes = 200, marks = 16384, pictures = 16384, samples = 256 } = {}) {
    const at = core.copyIn(model);
    const options = core.allocate(br_learner_options.bytes);
    const result = core.allocate(br_learner_memory.bytes);
    const error = core.allocate(ERROR_BYTES);
    /** @param {number} failed */
    const check = (failed) => {
      if (failed) throw new Error(core.text(error) || core.errorText(failed));
    };
    const limits = { name_bytes: nameBytes, marks, factor: 1, pictures, samples };
    try {
      let planned = 0;
      for (const count of classes ? [classes] : DEFAULT_CLASSES) {
        core.write(options, br_learner_options, { ...limits, classes: count });
        planned = core.call.br_learner_plan(at, model.length, options, result, error, ERROR_BYTES);
        if (!planned) break;
      }
      check(planned);
      const { total, network, state, answers, experience, work } = core.read(result, br_learner_memory);
      const memory = core.allocate(total);
      check(core.call.br_learner_open(at, model.length, options, memory, total, result, error, ERROR_BYTES));
      return new Learner(core, core.view.getUint32(result, true), { network, state, answers, experience, work });
    } finally {
      for (const address of [options, result, error]) core.free(address);
    }
  }

  /** Memory that is reused from call to call. @param {number} size */
  _scratch(size) {
    if (this.scratch.size < size) {
      if (this.scratch.at) this.core.free(this.scratch.at);
      this.scratch = { at: this.core.allocate(size), size };
    }
    return this.scratch.at;
  }

  /**
   * Calls with the address of a br_picture.
   * @template T
   * @param {Picture} picture
   * @param {(at: number) => T} call
   */
  _withPicture(picture, call) {
    const at = this._scratch(pictureBytes(picture));
    writePicture(this.core, at, picture);
    return call(at);
  }

  /**
   * @template T
   * @param {Encoded} encoded
   * @param {(at: number) => T} call
   */
  _withEncoded(encoded, call) {
    const { byteLength } = encoded;
    if (byteLength !== this.encodedBytes)
      throw new Error(`An encoded picture has ${this.encodedBytes} bytes, got ${byteLength}.`);
    const at = this._scratch(byteLength);
    this.core.bytes.set(new Uint8Array(encoded.buffer, encoded.byteOffset, byteLength), at);
    return call(at);
  }

  /**
   * Calls with the address of a br_name.
   * @template T
   * @param {Name} name
   * @param {(at: number) => T} call
   */
  _withName(name, call) {
    const text = typeof name === "string" ? encodeText(name.normalize("NFC")) : new Uint8Array(0);
    const at = this.core.allocate(64 + text.length);
    if (typeof name === "string") this.core.write(at, br_name, { text: at + 64, length: text.length });
    else this.core.write(at, br_name, { number: BigInt(name) });
    this.core.bytes.set(text, at + 64);
    try {
      return call(at);
    } finally {
      this.core.free(at);
    }
  }

  /** Reads a br_name. @param {number} at @returns {Name} */
  _readName(at) {
    const { text, length, number } = this.core.read(at, br_name);
    return text ? decodeText(this.core.bytes.slice(text, text + length)) : Number(number);
  }

  /** The picture as the network sees it: side * side * 3 bytes. @param {Picture} picture */
  fit(picture) {
    return fit(this.core, picture, this.side);
  }

  /** The picture's features or latent, all that learning and prediction use of it. @param {Picture} picture @returns {any} */
  encode(picture) {
    const to = this.core.allocate(this.encodedBytes);
    this._withPicture(picture, (at) => this.core.check(this.core.call.br_learner_encode(this.handle, at, to)));
    const { buffer } = this.core.bytes.slice(to, to + this.encodedBytes);
    this.core.free(to);
    return this.strategy === "exact" ? new Int8Array(buffer) : new BigUint64Array(buffer);
  }

  /** One experience. @param {Sample[]} samples */
  learn(samples) {
    if (this.strategy === "replay") for (const _ of this.learning(samples)); // every step
    else {
      this._begin(samples);
      this.core.check(this.core.call.br_learner_end(this.handle));
    }
  }

  /** @param {Sample[]} samples */
  _begin(samples) {
    const { call } = this.core;
    this.core.check(call.br_learner_begin(this.handle));
    for (const sample of samples)
      this._withName(sample.name, (name) => {
        if ("encoded" in sample)
          this._withEncoded(sample.encoded, (at) => this.core.check(call.br_learner_add_encoded(this.handle, at, name)));
        else this._withPicture(sample.picture, (at) => this.core.check(call.br_learner_add(this.handle, at, name)));
      });
  }

  /**
   * One experience of replay, one step per iteration. A loop that stops early leaves the learner as it was before.
   * @param {Sample[]} samples
   * @returns {Generator<{done: number, steps: number}, void, void>}
   */
  *learning(samples) {
    const { call } = this.core;
    const before = this.save();
    const progress = this.core.allocate(br_progress.bytes);
    let complete = false;
    try {
      this._begin(samples);
      for (let done = 0, steps = 1; done < steps; ) {
        this.core.check(call.br_learner_step(this.handle, progress));
        const now = this.core.read(progress, br_progress);
        [done, steps] = [Number(now.done), Number(now.steps)];
        yield { done, steps };
      }
      this.core.check(call.br_learner_end(this.handle));
      complete = true;
    } finally {
      this.core.free(progress);
      if (!complete) this.load(before);
    }
  }

  /** As if the picture had never been learned (exact). @param {Encoded} encoded @param {Name} name */
  unlearn(encoded, name) {
    const { call } = this.core;
    this._withName(name, (to) =>
      this._withEncoded(encoded, (at) => this.core.check(call.br_learner_unlearn_encoded(this.handle, at, to))),
    );
  }

  /** Of replay, what the tail has learned of the class stays. @param {Name} name */
  forget(name) {
    this._withName(name, (at) => this.core.check(this.core.call.br_learner_forget(this.handle, at)));
  }

  /** @param {Name} from @param {Name} to */
  rename(from, to) {
    const { call } = this.core;
    this._withName(from, (old) => this._withName(to, (name) => this.core.check(call.br_learner_rename(this.handle, old, name))));
  }

  clear() {
    this.core.call.br_learner_clear(this.handle);
  }

  /** Computes the discriminant now rather than with the first prediction. */
  ready() {
    this.core.check(this.core.call.br_learner_ready(this.handle));
  }

  /** The state's setting `unknown`: the share of pictures of known classes that may be called unknown; 0 of replay. */
  get unknown() {
    return this.core.call.br_learner_share(this.handle) / ALL;
  }

  /** @param {Picture} picture @param {{unknown?: number}} [options] a share in place of the state's */
  predict(picture, { unknown = this.unknown } = {}) {
    const { call } = this.core;
    return this._answer(unknown, (answer) =>
      this._withPicture(picture, (at) => call.br_learner_predict(this.handle, at, answer)),
    );
  }

  /** @param {Encoded} encoded @param {{unknown?: number}} [options] */
  predictEncoded(encoded, { unknown = this.unknown } = {}) {
    const { call } = this.core;
    return this._answer(unknown, (answer) =>
      this._withEncoded(encoded, (at) => call.br_learner_predict_encoded(this.handle, at, answer)),
    );
  }

  /**
   * The most likely class of each, without the time that probabilities take.
   * @param {Encoded[]} encoded
   */
  predictNames(encoded) {
    const classes = this.classes();
    const answer = this.core.allocate(br_answer.bytes);
    try {
      return encoded.map((one) => {
        this._withEncoded(one, (at) => this.core.check(this.core.call.br_learner_predict_encoded(this.handle, at, answer)));
        return classes[this.core.read(answer, br_answer).label].name;
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
    this.core.write(at, br_answer, { probabilities: at + 64, share: fixed });
    try {
      this.core.check(predict(at));
      const { label, unknown } = this.core.read(at, br_answer);
      const probabilities = classes.map((_, k) => this.core.view.getInt32(at + 64 + 4 * k, true) / ONE);
      return { name: classes[label].name, label, unknown: unknown === 1, probabilities };
    } finally {
      this.core.free(at);
    }
  }

  /** Sorted by name (exact), or in the order in which they were learned (replay). */
  classes() {
    const { call } = this.core;
    const at = this.core.allocate(64);
    /** @type {Class[]} */
    const classes = [];
    for (let label = 0; label < call.br_learner_classes(this.handle); ++label) {
      this.core.check(call.br_learner_class(this.handle, label, at, at + 32, at + 40));
      const [pictures, stored] = [32, 40].map((k) => Number(this.core.view.getBigInt64(at + k, true)));
      classes.push({ name: this._readName(at), pictures, stored });
    }
    this.core.free(at);
    return classes;
  }

  get experiences() {
    return Number(this.core.call.br_learner_experiences(this.handle));
  }

  /** The number learned, of classes that are still known. */
  get pictures() {
    return Number(this.core.call.br_learner_pictures(this.handle));
  }

  /** Minibatches learned so far (replay). */
  get steps() {
    return Number(this.core.call.br_learner_steps(this.handle));
  }

  /** The state's hash: 64 hexadecimal digits, the same on every machine. */
  hash() {
    const at = this.core.allocate(65);
    this.core.check(this.core.call.br_learner_hash(this.handle, at));
    const text = this.core.text(at);
    this.core.free(at);
    return text;
  }

  /** A state file. Bytes that could not be loaded again never leave the learner. */
  save() {
    const { call } = this.core;
    const size = call.br_learner_state_bytes(this.handle);
    const file = this.core.allocateFile(size);
    try {
      this.core.check(call.br_learner_write(this.handle, call.br_memory_write(), file));
      this.core.check(call.br_learner_verify(this.handle, call.br_memory_read(), file, size));
      return this.core.bytes.slice(file + FILE_HEAD, file + FILE_HEAD + size);
    } finally {
      this.core.free(file);
    }
  }

  /** Throws unless `load` would accept these bytes; does not factor their covariance. @param {Uint8Array} bytes */
  verify(bytes) {
    this._read("verify", bytes);
  }

  /** @param {Uint8Array} bytes */
  load(bytes) {
    this._read("read", bytes);
  }

  /**
   * Adds what another state of the same model and settings has learned (exact).
   * @param {Uint8Array} bytes
   * @param {Uint8Array} [base] the state that both began with; what it has learned counts once
   */
  merge(bytes, base) {
    this._read("merge", bytes, base);
  }

  /**
   * As if a state that was merged before had never been merged (exact).
   * @param {Uint8Array} bytes
   * @param {Uint8Array} [base] the state that both began with
   */
  takeOut(bytes, base) {
    this._read("take_out", bytes, base);
  }

  /** Passes state files to a function of the core. @param {string} what @param {Uint8Array} bytes @param {Uint8Array} [base] */
  _read(what, bytes, base) {
    const files = base ? [bytes, base] : [bytes];
    const places = files.map((file) => this.core.allocateFile(file.length, file));
    const words = files.flatMap((file, k) => [this.core.call.br_memory_read(), places[k], file.length]);
    try {
      this.core.check(this.core.call[`br_learner_${what}${base ? "_since" : ""}`](this.handle, ...words));
    } finally {
      for (const at of places) this.core.free(at);
    }
  }
}
