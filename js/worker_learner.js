/** The learner of learner.js in a worker: the page stays responsive while it learns. Every call returns a promise. */

/** @typedef {import("./learner.js").Learner} Learner */
/** @typedef {import("./learner.js").Picture} Picture */
/** @typedef {import("./learner.js").Name} Name */

export class WorkerLearner {
  /** @param {Worker} worker */
  constructor(worker) {
    this.worker = worker;
    /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    this.calls = 0;
    worker.addEventListener("message", ({ data: { id, value, error } }) => {
      const call = this.waiting.get(id);
      this.waiting.delete(id);
      if (error === undefined) call?.resolve(value);
      else call?.reject(new Error(error));
    });
    worker.addEventListener("error", ({ message }) => this._fail(message || "The worker could not be started."));
  }

  /**
   * @param {Worker} worker
   * @param {import("./open.js").ModelFile} [model]
   * @param {import("./open.js").Limits} [limits]
   */
  static async open(worker, model, limits) {
    const learner = new WorkerLearner(worker);
    // An address is the page's, and the worker's own may be another.
    const address = typeof model === "string" ? new URL(model, document.baseURI) : model;
    await learner._call("open", address instanceof URL ? address.href : address, limits);
    return learner;
  }

  /** One experience. @param {Parameters<Learner["learn"]>[0]} samples @returns {Promise<void>} */
  learn(samples) {
    return this._call("learn", samples);
  }

  /**
   * @param {Picture} picture
   * @param {{unknown?: number}} [options]
   * @returns {Promise<import("./learner.js").Answer>}
   */
  predict(picture, options) {
    return this._call("predict", picture, options);
  }

  /** @param {Picture} picture @returns {Promise<import("./learner.js").Encoded>} */
  encode(picture) {
    return this._call("encode", picture);
  }

  /** @param {import("./learner.js").Encoded} encoded @param {Name} name @returns {Promise<void>} */
  unlearn(encoded, name) {
    return this._call("unlearn", encoded, name);
  }

  /** @param {Name} name @returns {Promise<void>} */
  forget(name) {
    return this._call("forget", name);
  }

  /** @param {Name} from @param {Name} to @returns {Promise<void>} */
  rename(from, to) {
    return this._call("rename", from, to);
  }

  /** @returns {Promise<void>} */
  clear() {
    return this._call("clear");
  }

  /** @returns {Promise<import("./learner.js").Class[]>} */
  classes() {
    return this._call("classes");
  }

  /** @returns {Promise<string>} */
  hash() {
    return this._call("hash");
  }

  /** @returns {Promise<Uint8Array>} */
  save() {
    return this._call("save");
  }

  /** @param {Uint8Array} bytes @returns {Promise<void>} */
  load(bytes) {
    return this._call("load", bytes);
  }

  /** @param {Uint8Array} bytes @param {Uint8Array} [base] @returns {Promise<void>} */
  merge(bytes, base) {
    return this._call("merge", bytes, base);
  }

  /** Ends the worker; calls without an answer fail. */
  close() {
    this.worker.terminate();
    this._fail("The learner was closed.");
  }

  /** @param {string} method @param {...any} parameters @returns {Promise<any>} */
  _call(method, ...parameters) {
    const id = this.calls++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, method, parameters });
    });
  }

  /** @param {string} message */
  _fail(message) {
    for (const { reject } of this.waiting.values()) reject(new Error(message));
    this.waiting.clear();
  }
}
