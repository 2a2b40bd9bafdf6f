/**
 * What the page knows: the learner's classes, the pictures that were shown to it, the steps taken, and how to take back the
 * last ones. Every change goes to the worker, then to the store, then to those who listen ("change").
 *
 * @typedef {import("./store.js").Kept} Kept
 * @typedef {import("./store.js").Step} Step
 * @typedef {{name: string, pictures: number}} Class
 * @typedef {{x: Int8Array | BigUint64Array, thumbnail: Uint8Array}} Seen
 * @typedef {{text: string, state: Uint8Array, pictures: Kept[]}} Past
 */
import { texts } from "./texts.js";

const HELD_BACK = 5; // the last of so many pictures of a class is held back
// What is unlike all that was learned is "unknown" (docs/unknown.md). The rule expects too much or too little of a class
// that has few pictures, so its share is the largest with which these few of the held-back pictures are still known.
const SHARES = [0.5, 0.3, 0.2, 0.1, 0.05];
const REFUSED = 0.05;
const LEAST_ASKED = 4;
const MOST_ASKED = 40;
const MOST_PAST = 12;
const MOST_PAST_BYTES = 64e6;

export class Session extends EventTarget {
  /** @param {import("./worker_client.js").WorkerClient} teacher @param {import("./store.js").Store} store @param {string} model a name */
  constructor(teacher, store, model) {
    super();
    this.teacher = teacher;
    this.store = store;
    this.model = model;
    /** @type {Kept[]} */
    this.pictures = [];
    /** @type {Class[]} */
    this.classes = [];
    /** @type {Step[]} */
    this.steps = [];
    /** @type {Past[]} */
    this.past = [];
    /** @type {{is: string, taken: string, picture: Kept}[]} */
    this.tested = [];
    /** @type {Uint8Array} */
    this.state = new Uint8Array(0);
    this.hash = "";
    this.share = 0; // of "unknown"
    /** @type {{memory: {network: number, state: number, answers: number, work: number}, modelBytes: number, path: string} | null} */
    this.costs = null;
    this.can = { unlearn: true, merge: true }; // single pictures, states
    /** @type {{ms: number, count: number} | null} */
    this.learned = null;
    this.turn = Promise.resolve();
  }

  /** @param {{file: string, strategy?: string}} model */
  async open(model) {
    const { saved, pictures } = await this.store.read(this.model);
    const found = await this.teacher.ask("open", model, saved?.state);
    this.costs = found;
    this.can = found.can;
    this.steps = saved?.steps ?? [];
    this.pictures = pictures;
    this._take(found);
    await this._test();
    this.dispatchEvent(new Event("change"));
    await this._chooseShare();
  }

  /** @param {{classes: Class[], hash: string, state: Uint8Array}} found */
  _take({ classes, hash, state }) {
    this.classes = classes.map(({ name, pictures }) => ({ name: String(name), pictures }));
    this.hash = hash;
    this.state = state;
  }

  /** Pictures that were held back, and what they are taken for now. */
  async _test() {
    const known = new Set(this.classes.map(({ name }) => name));
    const held = this.pictures.filter(({ held, name }) => held && known.has(name));
    const taken = held.length ? await this.teacher.ask("evaluate", held.map(({ x }) => x)) : [];
    this.tested = held.map((picture, k) => ({ is: picture.name, taken: String(taken[k]), picture }));
  }

  /** After the answers: nobody waits for it. */
  async _chooseShare() {
    const held = this.tested.map(({ picture }) => picture.x);
    const step = Math.max(1, Math.ceil(held.length / MOST_ASKED));
    const some = held.filter((_, k) => k % step === 0);
    const hash = this.hash;
    const share = await this.teacher.ask("share", some, some.length < LEAST_ASKED ? [] : SHARES, REFUSED);
    if (hash === this.hash) this.share = share;
  }

  /** [right, all] of the held-back pictures of each class. */
  right() {
    /** @type {Record<string, [number, number]>} */
    const found = {};
    for (const { is, taken } of this.tested) {
      found[is] ??= [0, 0];
      found[is][0] += is === taken ? 1 : 0;
      found[is][1] += 1;
    }
    return found;
  }

  /**
   * One change at a time: ask(worker), then the pictures as they are afterwards.
   * @param {string} text
   * @param {() => Promise<any>} ask
   * @param {() => Kept[]} pictures
   * @param {boolean} [undoing]
   */
  _change(text, ask, pictures, undoing = false) {
    const turn = this.turn.then(async () => {
      const before = { text, state: this.state, pictures: this.pictures };
      const found = await ask().catch(async (error) => {
        await this.teacher.ask("load", before.state); // what was half done is undone
        throw error;
      });
      this._take(found);
      this.pictures = pictures();
      await this._test();
      if (undoing) this.steps = this.steps.slice(0, -1);
      else {
        this.steps = [...this.steps, { what: text, right: this.right() }].slice(-200);
        this.past = [...this.past, before].slice(-MOST_PAST);
        while (this.past.length > 1 && this.past.reduce((sum, { state }) => sum + state.length, 0) > MOST_PAST_BYTES)
          this.past.shift();
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
      return found;
    });
    this.turn = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  /** @param {string} name @param {Seen[]} seen */
  async learn(name, seen) {
    if (!seen.length) return;
    const before = this.pictures.filter((picture) => picture.name === name).length;
    const added = seen.map(({ x, thumbnail }, k) => ({
      id: crypto.randomUUID(),
      model: this.model,
      name,
      held: (before + k) % HELD_BACK === HELD_BACK - 1,
      x,
      thumbnail,
      when: Date.now() + k / 1000,
    }));
    const fresh = added.filter(({ held }) => !held);
    await this._change(
      texts.did.learn(added.length, name),
      async () => {
        if (!fresh.length) return this.teacher.ask("unlearn", []); // changes nothing
        const found = await this.teacher.ask("learn", fresh.map(({ x }) => ({ x, name })));
        this.learned = { ms: found.ms, count: fresh.length };
        return found;
      },
      () => [...this.pictures, ...added],
    );
  }

  /** @param {Kept} picture */
  forgetPicture(picture) {
    return this._change(
      texts.did.forgetPicture(picture.name),
      () => this.teacher.ask("unlearn", picture.held ? [] : [{ x: picture.x, name: picture.name }]),
      () => this.pictures.filter((other) => other !== picture),
    );
  }

  /** @param {string} name */
  forget(name) {
    return this._change(
      texts.did.forget(name),
      () => this.teacher.ask("forget", name),
      () => this.pictures.filter((picture) => picture.name !== name),
    );
  }

  /** @param {string} from @param {string} to */
  rename(from, to) {
    return this._change(
      texts.did.rename(from, to),
      () => this.teacher.ask("rename", from, to),
      () => this.pictures.map((picture) => (picture.name === from ? { ...picture, name: to } : picture)),
    );
  }

  /** Pictures of one class become another's: only those that are here. @param {string} from @param {string} to */
  merge(from, to) {
    const own = this.pictures.filter(({ name }) => name === from);
    return this._change(
      texts.did.merge(from, to),
      () => this.teacher.ask("relabel", own.filter(({ held }) => !held).map(({ x, name }) => ({ x, name })), to),
      () => this.pictures.map((picture) => (picture.name === from ? { ...picture, name: to } : picture)),
    );
  }

  /** @param {Uint8Array} state */
  load(state) {
    return this._change(
      texts.did.load,
      () => this.teacher.ask("load", state),
      () => [],
    );
  }

  /** @param {Uint8Array} state */
  mergeState(state) {
    return this._change(
      texts.did.mergeState,
      () => this.teacher.ask("merge", state),
      () => this.pictures,
    );
  }

  clear() {
    return this._change(
      texts.did.clear,
      () => this.teacher.ask("clear"),
      () => [],
    );
  }

  /** The state as a file. */
  async file() {
    return this.state;
  }

  /** The last change, taken back. */
  async undo() {
    const past = this.past.at(-1);
    if (!past) return "";
    await this._change(
      past.text,
      () => this.teacher.ask("load", past.state),
      () => past.pictures,
      true,
    );
    this.past = this.past.filter((one) => one !== past);
    this.dispatchEvent(new Event("change"));
    return past.text;
  }
}
