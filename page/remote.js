/**
 * The learner of a device that serves the page (`bitreplay serve`), instead of the worker's. The server keeps classes, pictures
 * and steps and notifies every browser of each change; the page only displays them.
 */
import { Core, hasSimd } from "./bitreplay/core.js";
import { fit } from "./bitreplay/fit.js";
import { bmp } from "./bmp.js";
import { byId, element, fillTexts } from "./element.js";
import { drawProgress } from "./progress.js";
import { Session } from "./session.js";
import { texts } from "./texts.js";

const MAX_PICTURES = 100; // of one request

/** @typedef {{name: string, strategy?: string, file: string, bytes: number, floatBytes: number, components?: number, reduced?: boolean, remote?: boolean, side?: number, isa?: string, work?: number}} Model */
/** @typedef {{turn: number, hash: string, stateBytes: number, experiences: number, classes: {name: string, pictures: number}[], pictures: [number, string, number][], tested: [number, string][], unknown: number, steps: {did: [string, ...any[]], right: Record<string, [number, number]>}[], undo: [string, ...any[]] | null}} Now */

/**
 * @param {string} path
 * @param {BodyInit} [body] sent with POST
 * @param {string} [contentType]
 */
async function request(path, body, contentType) {
  const headers = contentType ? { "Content-Type": contentType } : undefined;
  const response = await fetch(`api/${path}`, body === undefined ? {} : { method: "POST", body, headers });
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({ error: response.statusText }));
  throw new Error(error);
}

/** @param {string} path @param {object} fields */
const change = (path, fields) => request(path, JSON.stringify(fields), "application/json");

/** The text of a step. @param {[string, ...any[]]} did */
function stepText([kind, ...args]) {
  const text = /** @type {any} */ (texts.did)[kind];
  return typeof text === "function" ? text(...args) : text;
}

/** The core for fitting pictures here, so that a device is sent few bytes; null where the device has none to give out. */
async function openCore() {
  const response = await fetch(hasSimd() ? "bitreplay.wasm" : "bitreplay-plain.wasm");
  return response.ok ? Core.open(await response.arrayBuffer()) : null;
}

/** Has the methods of WorkerClient. */
export class RemoteWorkerClient {
  /** @param {Model} model */
  constructor(model) {
    this.side = model.side ?? 32;
    this.core = openCore().catch(() => null);
  }

  /** A file that the device fits to the same pixels, whether it was fitted here or not. @param {any} picture */
  async file(picture) {
    const core = await this.core;
    return bmp(core ? { data: fit(core, picture, this.side), width: this.side, height: this.side } : picture);
  }

  /** @param {string} method @param {...any} args @returns {Promise<any>} */
  async call(method, ...args) {
    if (method === "requests") return [];
    const picture = await this.file(args[0]);
    if (method === "encode") return picture;
    return (await request("predict", picture, "image/bmp")).json();
  }

  terminate() {}
}

export class RemoteSession extends Session {
  /** @param {RemoteWorkerClient} client @param {Model} model */
  constructor(client, model) {
    super(/** @type {any} */ (client), /** @type {any} */ (null), model.name);
    this.modelInfo = model;
    this.shownTurn = -1;
    this.run = "";
    this.can = { unlearn: model.strategy === "exact", merge: model.strategy === "exact" };
  }

  async open() {
    const { bytes, work = 0, isa = "" } = this.modelInfo;
    this.costs = { memory: { network: 0, state: 0, answers: 0, work }, modelBytes: bytes, isa };
    await this.refresh();
    const events = new EventSource("api/events");
    events.addEventListener("run", ({ data }) => {
      if (this.run && this.run !== data) this.refresh();
      this.run = data;
    });
    events.addEventListener("turn", ({ data }) => Number(data) !== this.shownTurn && this.refresh());
    events.addEventListener("progress", ({ data }) => {
      const [done, steps] = JSON.parse(data);
      drawProgress({ done, steps });
    });
  }

  async refresh() {
    this.show(await (await request("now")).json());
  }

  /** @param {Now} now */
  show(now) {
    if (now.turn < this.shownTurn && this.run) return; // a later response overtook this one
    this.shownTurn = now.turn;
    const known = new Map(this.pictures.map((picture) => [picture.id, picture]));
    this.pictures = now.pictures.map(([id, name, held]) => {
      const old = known.get(String(id));
      return old?.name === name ? old : this.stored(id, name, Boolean(held));
    });
    const byPictureId = new Map(this.pictures.map((picture) => [picture.id, picture]));
    this.evaluated = now.tested.flatMap(([id, predicted]) => {
      const picture = byPictureId.get(String(id));
      return picture ? [{ actual: picture.name, predicted, picture }] : [];
    });
    this.classes = now.classes;
    this.share = now.unknown;
    this.hash = now.hash;
    this.state = /** @type {any} */ ({ length: now.stateBytes });
    this.steps = now.steps.map(({ did, right }) => ({ what: stepText(did), right }));
    this.undoStack = now.undo ? [{ text: stepText(now.undo), state: this.state, pictures: [] }] : [];
    this.dispatchEvent(new Event("change"));
  }

  /** Its thumbnail is a URL. @param {number} id @param {string} name @param {boolean} held */
  stored(id, name, held) {
    const thumbnail = /** @type {any} */ (`api/pictures/${id}`);
    return { id: String(id), model: this.model, name, held, x: new Int8Array(0), thumbnail, when: id };
  }

  /** @param {Promise<Response>} response */
  async showResponse(response) {
    this.show(await (await response).json());
  }

  /** @param {string} name @param {import("./session.js").Encoded[]} encoded */
  async learn(name, encoded) {
    let ms = 0;
    for (let start = 0; start < encoded.length; start += MAX_PICTURES) {
      const form = new FormData();
      form.append("name", name);
      for (const { x, thumbnail } of encoded.slice(start, start + MAX_PICTURES)) {
        form.append("picture", new Blob([/** @type {any} */ (x)]), "picture");
        form.append("look", new Blob([/** @type {any} */ (thumbnail)]), "look");
      }
      const response = request("learn", form);
      ms += Number((await response).headers.get("Server-Timing")?.match(/dur=([\d.]+)/)?.[1] ?? 0);
      const count = Math.min(start + MAX_PICTURES, encoded.length);
      this.learned = { ms, count, what: texts.did.learn(count, name) };
      await this.showResponse(response);
    }
  }

  /** @param {import("./store.js").StoredPicture} picture @returns {Promise<any>} */
  forgetPicture(picture) {
    return this.showResponse(change("forget-picture", { id: Number(picture.id) }));
  }

  /** @param {string} name @returns {Promise<any>} */
  forget(name) {
    return this.showResponse(change("forget", { name }));
  }

  /** @param {string} old @param {string} to @returns {Promise<any>} */
  rename(old, to) {
    return this.showResponse(change("rename", { old, new: to }));
  }

  /** @param {string} old @param {string} to @returns {Promise<any>} */
  merge(old, to) {
    return this.showResponse(change("merge-classes", { old, new: to }));
  }

  /** @param {Uint8Array} state @returns {Promise<any>} */
  load(state) {
    return this.showResponse(request("open", /** @type {any} */ (state), "application/octet-stream"));
  }

  /** @param {Uint8Array} state @returns {Promise<any>} */
  mergeState(state) {
    return this.showResponse(request("merge", /** @type {any} */ (state), "application/octet-stream"));
  }

  /** @returns {Promise<any>} */
  clear() {
    return this.showResponse(change("clear", {}));
  }

  async undo() {
    const text = this.undoStack.at(-1)?.text ?? "";
    if (text) await this.showResponse(change("undo", { turn: this.shownTurn }));
    return text;
  }

  async file() {
    return new Uint8Array(await (await request("state")).arrayBuffer());
  }
}

/** Switches to the texts of a served page: nothing is stored in this browser. */
export function useServedTexts() {
  Object.assign(texts, texts.served);
  fillTexts();
  byId("kept").textContent = texts.served.kept;
  if (location.hostname === "localhost" || /^(127\.|\[::1\])/.test(location.hostname)) return;
  const button = element("button", { type: "button", className: "plain" }, texts.served.invite);
  button.addEventListener("click", async () => {
    const { path } = await (await change("link", {})).json();
    byId("kept").textContent = texts.served.invited(new URL(path, location.href).href);
  });
  byId("kept").after(button);
}
