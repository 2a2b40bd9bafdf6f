/**
 * What the page knows: the learner's classes, the pictures that it was shown, the steps taken and how to undo the last ones.
 * Every change goes to the worker, then to the store, then to listeners of "change".
 *
 * @typedef {import("./store.js").StoredPicture} StoredPicture
 * @typedef {import("./store.js").Step} Step
 * @typedef {{name: string, pictures: number}} Class
 * @typedef {{x: Int8Array | BigUint64Array, thumbnail: Uint8Array}} Encoded
 * @typedef {{text: string, state: Uint8Array, pictures: StoredPicture[]}} UndoEntry
 */
import { texts } from "./texts.js";

const HELD_BACK = 5; // every fifth picture of a class is held back
// A picture unlike all that were learned is "unknown" (docs/unknown.md). The rule is too strict or too lax for classes of few
// pictures, so the share is the largest one that calls at most MAX_UNKNOWN of the held-back pictures unknown.
const SHARES = [0.5, 0.3, 0.2, 0.1, 0.05];
const MAX_UNKNOWN = 0.05;
const MIN_HELD_BACK = 4; // fewer do not choose a share
const MAX_HELD_BACK = 40; // more take too long
const MAX_UNDO = 12;
const MAX_UNDO_BYTES = 64e6;
const MAX_STEPS = 200;

export class Session extends EventTarget {
  /** @param {import("./worker_client.js").WorkerClient} client @param {import("./store.js").Store} store @param {string} model a name */
  constructor(client, store, model) {
    super();
    this.client = client;
    this.store = store;
    this.model = model;
    /** @type {StoredPicture[]} */
    this.pictures = [];
    /** @type {Class[]} */
    this.classes = [];
    /** @type {Step[]} */
    this.steps = [];
    /** @type {UndoEntry[]} */
    this.undoStack = [];
    /** @type {{actual: string, predicted: string, picture: StoredPicture}[]} */
    this.evaluated = [];
    /** @type {Uint8Array} */
    this.state = new Uint8Array(0);
    this.hash = "";
    this.share = 0; // of "unknown"
    /** @type {{memory: {network: number, state: number, answers: number, work: number}, modelBytes: number, isa: string} | null} */
    this.costs = null;
    this.can = { unlearn: true, merge: true }; // single pictures, states
    /** @type {{ms: number, count: number, what: string} | null} */
    this.learned = null;
    this.turn = Promise.resolve();
  }

  /** @param {{file: string, strategy?: string}} model */
  async open(model) {
    const { saved, pictures } = await this.store.read(this.model);
    const opened = await this.client.call("open", model, saved?.state);
    this.costs = opened;
    this.can = opened.can;
    this.steps = saved?.steps ?? [];
    this.pictures = pictures;
    this._setLearned(opened);
    await this._evaluate();
    this.dispatchEvent(new Event("change"));
    await this._chooseShare();
  }

  /** @param {{classes: Class[], hash: string, state: Uint8Array}} summary */
  _setLearned({ classes, hash, state }) {
    this.classes = classes.map(({ name, pictures }) => ({ name: String(name), pictures }));
    this.hash = hash;
    this.state = state;
  }

  /** The held-back pictures and their classes as predicted now. */
  async _evaluate() {
    const known = new Set(this.classes.map(({ name }) => name));
    const held = this.pictures.filter(({ held, name }) => held && known.has(name));
    const predicted = held.length ? await this.client.call("evaluate", held.map(({ x }) => x)) : [];
    this.evaluated = held.map((picture, k) => ({ actual: picture.name, predicted: String(predicted[k]), picture }));
  }

  /** Chooses the share of "unknown". Nothing waits for it. */
  async _chooseShare() {
    const held = this.evaluated.map(({ picture }) => picture.x);
    const step = Math.max(1, Math.ceil(held.length / MAX_HELD_BACK));
    const sample = held.filter((_, k) => k % step === 0);
    const hash = this.hash;
    const share = await this.client.call("chooseShare", sample, sample.length < MIN_HELD_BACK ? [] : SHARES, MAX_UNKNOWN);
    if (hash === this.hash) this.share = share;
  }

  /** The held-back pictures of each class: [predicted right, all]. */
  right() {
    /** @type {Record<string, [number, number]>} */
    const counts = {};
    for (const { actual, predicted } of this.evaluated) {
      counts[actual] ??= [0, 0];
      counts[actual][0] += actual === predicted ? 1 : 0;
      counts[actual][1] += 1;
    }
    return counts;
  }

  /**
   * One change at a time.
   * @param {string} text what it does, for the list of steps
   * @param {() => Promise<any>} change calls the worker
   * @param {() => StoredPicture[]} pictures returns the pictures that there are afterwards
   * @param {boolean} [undoing]
   */
  _change(text, change, pictures, undoing = false) {
    const turn = this.turn.then(async () => {
      const before = { text, state: this.state, pictures: this.pictures };
      const summary = await change().catch(async (error) => {
        await this.client.call("load", before.state); // it may have been half done
        throw error;
      });
      this._setLearned(summary);
      this.pictures = pictures();
      await this._evaluate();
      if (undoing) this.steps = this.steps.slice(0, -1);
      else {
        this.steps = [...this.steps, { what: text, right: this.right() }].slice(-MAX_STEPS);
        this.undoStack = [...this.undoStack, before].slice(-MAX_UNDO);
        while (this.undoStack.length > 1 && this.undoStack.reduce((sum, { state }) => sum + state.length, 0) > MAX_UNDO_BYTES)
          this.undoStack.shift();
      }
      const now = new Set(this.pictures);
      const old = new Set(before.pictures);
      const ids = new Set(this.pictures.map(({ id }) => id));
      await this.store.write(
        { model: this.model, state: this.state, steps: this.steps },
        [...now].filter((picture) => !old.has(picture)),
        before.pictures.filter(({ id }) => !ids.has(id)),
      );
      this.dispatchEvent(new Event("change"));
      this._chooseShare().catch(() => undefined);
      return summary;
    });
    this.turn = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  /** @param {string} name @param {Encoded[]} encoded */
  async learn(name, encoded) {
    if (!encoded.length) return;
    const before = this.pictures.filter((picture) => picture.name === name).length;
    const added = encoded.map(({ x, thumbnail }, k) => ({
      id: crypto.randomUUID(),
      model: this.model,
      name,
      held: (before + k) % HELD_BACK === HELD_BACK - 1,
      x,
      thumbnail,
      when: Date.now() + k / 1000,
    }));
    const samples = added.filter(({ held }) => !held);
    const what = texts.did.learn(added.length, name);
    await this._change(
      what,
      async () => {
        if (!samples.length) return this.client.call("unlearn", []); // changes nothing
        const summary = await this.client.call("learn", samples.map(({ x }) => ({ x, name })));
        this.learned = { ms: summary.ms, count: samples.length, what };
        return summary;
      },
      () => [...this.pictures, ...added],
    );
  }

  /** @param {StoredPicture} picture */
  forgetPicture(picture) {
    return this._change(
      texts.did.forgetPicture(picture.name),
      () => this.client.call("unlearn", picture.held ? [] : [{ x: picture.x, name: picture.name }]),
      () => this.pictures.filter((other) => other !== picture),
    );
  }

  /** @param {string} name */
  forget(name) {
    return this._change(
      texts.did.forget(name),
      () => this.client.call("forget", name),
      () => this.pictures.filter((picture) => picture.name !== name),
    );
  }

  /** @param {string} from @param {string} to */
  rename(from, to) {
    return this._change(
      texts.did.rename(from, to),
      () => this.client.call("rename", from, to),
      () => this.pictures.map((picture) => (picture.name === from ? { ...picture, name: to } : picture)),
    );
  }

  /** Relabels the stored pictures of a class. @param {string} from @param {string} to */
  merge(from, to) {
    const relabeled = this.pictures.filter(({ name }) => name === from);
    return this._change(
      texts.did.merge(from, to),
      () => this.client.call("relabel", relabeled.filter(({ held }) => !held).map(({ x, name }) => ({ x, name })), to),
      () => this.pictures.map((picture) => (picture.name === from ? { ...picture, name: to } : picture)),
    );
  }

  /** @param {Uint8Array} state */
  load(state) {
    return this._change(
      texts.did.load,
      () => this.client.call("load", state),
      () => [],
    );
  }

  /** @param {Uint8Array} state */
  mergeState(state) {
    return this._change(
      texts.did.mergeState,
      () => this.client.call("merge", state),
      () => this.pictures,
    );
  }

  clear() {
    return this._change(
      texts.did.clear,
      () => this.client.call("clear"),
      () => [],
    );
  }

  /** The state as a file. */
  async file() {
    return this.state;
  }

  /** Undoes the last change and returns its text. */
  async undo() {
    const last = this.undoStack.at(-1);
    if (!last) return "";
    await this._change(
      last.text,
      () => this.client.call("load", last.state),
      () => last.pictures,
      true,
    );
    this.undoStack = this.undoStack.filter((entry) => entry !== last);
    this.dispatchEvent(new Event("change"));
    return last.text;
  }
}
