/**
 * The learner of a device that serves the page (`bitreplay serve`), in the place of the worker's. The server keeps classes,
 * pictures and steps, and tells every browser of each change; here is only what is drawn.
 */
import { element, byId } from "./element.js";
import { bmp, fit } from "./fit.js";
import { drawProgress } from "./progress.js";
import { Session } from "./session.js";
import { texts } from "./texts.js";

const AT_ONCE = 100; // pictures of one request

/** @typedef {{name: string, strategy?: string, file: string, bytes: number, floatBytes: number, remote?: boolean, side?: number, path?: string, work?: number}} Model */
/** @typedef {{turn: number, hash: string, stateBytes: number, experiences: number, classes: {name: string, pictures: number}[], pictures: [number, string, number][], tested: [number, string][], unknown: number, steps: {did: [string, ...any[]], right: Record<string, [number, number]>}[], undo: [string, ...any[]] | null}} Now */

/**
 * @param {string} path
 * @param {BodyInit} [body] sent with POST
 * @param {string} [kind]
 */
async function asked(path, body, kind) {
  const headers = kind ? { "Content-Type": kind } : undefined;
  const response = await fetch(`api/${path}`, body === undefined ? {} : { method: "POST", body, headers });
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({ error: response.statusText }));
  throw new Error(error);
}

/** @param {string} path @param {object} words */
const change = (path, words) => asked(path, JSON.stringify(words), "application/json");

/** What was done, in words. @param {[string, ...any[]]} did */
function told([what, ...words]) {
  const text = /** @type {any} */ (texts.did)[what];
  return typeof text === "function" ? text(...words) : text;
}

/** In the place of worker_client.js. */
export class RemoteWorkerClient {
  /** @param {Model} model */
  constructor(model) {
    this.side = model.side ?? 32;
  }

  /** @param {string} what @param {...any} words @returns {Promise<any>} */
  async ask(what, ...words) {
    if (what === "requests") return [];
    const picture = bmp(fit(words[0], this.side), this.side);
    if (what === "numbers") return picture;
    return (await asked("predict", picture, "image/bmp")).json();
  }

  end() {}
}

export class RemoteSession extends Session {
  /** @param {RemoteWorkerClient} teacher @param {Model} model */
  constructor(teacher, model) {
    super(/** @type {any} */ (teacher), /** @type {any} */ (null), model.name);
    this.about = model;
    this.now = -1;
    this.run = "";
    this.can = { unlearn: model.strategy === "exact", merge: model.strategy === "exact" };
  }

  async open() {
    const { bytes, work = 0, path = "" } = this.about;
    this.costs = { memory: { network: 0, state: 0, answers: 0, work }, modelBytes: bytes, path };
    await this.look();
    const events = new EventSource("api/events");
    events.addEventListener("run", ({ data }) => {
      if (this.run && this.run !== data) this.look();
      this.run = data;
    });
    events.addEventListener("turn", ({ data }) => Number(data) !== this.now && this.look());
    events.addEventListener("progress", ({ data }) => {
      const [done, steps] = JSON.parse(data);
      drawProgress({ done, steps });
    });
  }

  async look() {
    this.show(await (await asked("now")).json());
  }

  /** @param {Now} now */
  show(now) {
    if (now.turn < this.now && this.run) return; // a later one was faster
    this.now = now.turn;
    const known = new Map(this.pictures.map((picture) => [picture.id, picture]));
    this.pictures = now.pictures.map(([id, name, held]) => {
      const old = known.get(String(id));
      return old?.name === name ? old : this.kept(id, name, Boolean(held));
    });
    const byNumber = new Map(this.pictures.map((picture) => [picture.id, picture]));
    this.tested = now.tested.flatMap(([id, taken]) => {
      const picture = byNumber.get(String(id));
      return picture ? [{ is: picture.name, taken, picture }] : [];
    });
    this.classes = now.classes;
    this.share = now.unknown;
    this.hash = now.hash;
    this.state = /** @type {any} */ ({ length: now.stateBytes });
    this.steps = now.steps.map(({ did, right }) => ({ what: told(did), right }));
    this.past = now.undo ? [{ text: told(now.undo), state: this.state, pictures: [] }] : [];
    this.dispatchEvent(new Event("change"));
  }

  /** A thumbnail is an address here. @param {number} id @param {string} name @param {boolean} held */
  kept(id, name, held) {
    const thumbnail = /** @type {any} */ (`api/pictures/${id}`);
    return { id: String(id), model: this.model, name, held, x: new Int8Array(0), thumbnail, when: id };
  }

  /** @param {Promise<Response>} answer */
  async done(answer) {
    this.show(await (await answer).json());
  }

  /** @param {string} name @param {import("./session.js").Seen[]} seen */
  async learn(name, seen) {
    let ms = 0;
    for (let start = 0; start < seen.length; start += AT_ONCE) {
      const form = new FormData();
      form.append("name", name);
      for (const { x, thumbnail } of seen.slice(start, start + AT_ONCE)) {
        form.append("picture", new Blob([/** @type {any} */ (x)]), "picture");
        form.append("look", new Blob([/** @type {any} */ (thumbnail)]), "look");
      }
      const answer = asked("learn", form);
      ms += Number((await answer).headers.get("Server-Timing")?.match(/dur=([\d.]+)/)?.[1] ?? 0);
      this.learned = { ms, count: Math.min(start + AT_ONCE, seen.length) };
      await this.done(answer);
    }
  }

  /** @param {import("./store.js").Kept} picture @returns {Promise<any>} */
  forgetPicture(picture) {
    return this.done(change("forget-picture", { id: Number(picture.id) }));
  }

  /** @param {string} name @returns {Promise<any>} */
  forget(name) {
    return this.done(change("forget", { name }));
  }

  /** @param {string} old @param {string} to @returns {Promise<any>} */
  rename(old, to) {
    return this.done(change("rename", { old, new: to }));
  }

  /** @param {string} old @param {string} to @returns {Promise<any>} */
  merge(old, to) {
    return this.done(change("merge-classes", { old, new: to }));
  }

  /** @param {Uint8Array} state @returns {Promise<any>} */
  load(state) {
    return this.done(asked("open", /** @type {any} */ (state), "application/octet-stream"));
  }

  /** @param {Uint8Array} state @returns {Promise<any>} */
  mergeState(state) {
    return this.done(asked("merge", /** @type {any} */ (state), "application/octet-stream"));
  }

  /** @returns {Promise<any>} */
  clear() {
    return this.done(change("clear", {}));
  }

  async undo() {
    const text = this.past.at(-1)?.text ?? "";
    if (text) await this.done(change("undo", { turn: this.now }));
    return text;
  }

  async file() {
    return new Uint8Array(await (await asked("state")).arrayBuffer());
  }
}

/** What the page says of itself when it is served: nothing stays in this browser. */
export function beServed() {
  Object.assign(texts, texts.served);
  for (const place of document.querySelectorAll("[data-text]"))
    place.textContent = String(/** @type {any} */ (texts)[/** @type {HTMLElement} */ (place).dataset.text ?? ""]);
  byId("kept").textContent = texts.served.kept;
  if (location.hostname === "localhost" || /^(127\.|\[::1\])/.test(location.hostname)) return;
  const button = element("button", { type: "button", className: "plain" }, texts.served.invite);
  button.addEventListener("click", async () => {
    const { path } = await (await change("link", {})).json();
    byId("kept").textContent = texts.served.invited(new URL(path, location.href).href);
  });
  byId("kept").after(button);
}
