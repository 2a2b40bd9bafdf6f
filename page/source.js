/**
 * What it sees: the camera, a picture or an example. `current()` is the picture shown now, or null.
 */
import { byId, element } from "./element.js";
import { readExamples } from "./examples.js";
import { ofBlob, ofVideo, show } from "./frames.js";
import { texts } from "./texts.js";

export class Source {
  /** @param {{learn: (name: string, files: Blob[]) => Promise<void>, onShown: () => void, showError: (error: unknown) => void}} actions */
  constructor({ learn, onShown, showError }) {
    this.learn = learn;
    this.onShown = onShown;
    this.showError = showError;
    /** @type {import("./frames.js").Picture | null} */
    this.picture = null;
    /** @type {MediaStream | null} */
    this.stream = null;
    this.facing = "environment";
    this.camera = ""; // a device id, for cameras without a facing mode
    this.kind = "";
    this.shown = 0; // pictures shown so far: tells which one an answer belongs to
    this.video = /** @type {HTMLVideoElement} */ (byId("video"));
    for (const button of document.querySelectorAll("button[data-source]"))
      button.addEventListener("click", () => this.choose(/** @type {HTMLElement} */ (button).dataset.source ?? ""));
    byId("start").addEventListener("click", () => this.choose("camera"));
    byId("try-examples").addEventListener("click", () => this.choose("examples"));
    byId("turn").addEventListener("click", () => this.turnCamera());
    byId("file").addEventListener("change", (/** @type {any} */ event) => {
      const [file] = event.target.files;
      event.target.value = ""; // so that the same one can be chosen again
      this.showFile(file);
    });
    const stage = byId("stage");
    stage.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      stage.classList.add("drop");
    });
    stage.addEventListener("dragleave", () => stage.classList.remove("drop"));
    stage.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      stage.classList.remove("drop");
      const file = event.dataTransfer?.files[0];
      if (file) this.choose("picture").then(() => this.showFile(file));
    });
  }

  /** Whether the picture changes all the time. */
  get live() {
    return this.kind === "camera";
  }

  current() {
    if (this.kind === "camera") return this.stream && this.video.readyState >= 2 ? ofVideo(this.video) : null;
    return this.picture;
  }

  /** @param {string} kind */
  async choose(kind) {
    this.stop();
    this.kind = kind;
    this.picture = null;
    for (const button of document.querySelectorAll("button[data-source]"))
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.source === kind));
    byId("shown").hidden = this.video.hidden = byId("turn").hidden = true;
    byId("start").hidden = byId("try-examples").hidden = kind !== "";
    byId("choose").hidden = kind !== "picture";
    byId("examples").hidden = kind !== "examples";
    this.say({ "": texts.welcome, camera: texts.startingCamera, picture: texts.dropPicture, examples: texts.chooseExample }[kind] ?? "");
    document.body.dataset.source = kind;
    if (kind === "camera") await this.startCamera();
  }

  /** On the stage, before there is something else to see. @param {string} text */
  say(text) {
    byId("hint").textContent = text;
    byId("welcome").hidden = byId("mosaic").hidden = !text;
  }

  stop() {
    for (const media of this.stream?.getTracks() ?? []) media.stop();
    this.stream = this.video.srcObject = null;
  }

  async cameras() {
    return (await navigator.mediaDevices.enumerateDevices()).filter(({ kind }) => kind === "videoinput");
  }

  /** Front or rear; cameras without a facing mode take turns. */
  async turnCamera() {
    const { facingMode, deviceId } = this.stream?.getVideoTracks()[0].getSettings() ?? {};
    if (facingMode) this.facing = facingMode === "user" ? "environment" : "user";
    else {
      const ids = (await this.cameras()).map((camera) => camera.deviceId);
      this.camera = ids[(ids.indexOf(deviceId ?? "") + 1) % ids.length];
    }
    await this.choose("camera");
  }

  async startCamera() {
    try {
      const which = this.camera ? { deviceId: { exact: this.camera } } : { facingMode: this.facing };
      const video = { ...which, width: { ideal: 640 }, height: { ideal: 480 } };
      const stream = await navigator.mediaDevices.getUserMedia({ video, audio: false });
      this.stop();
      this.stream = stream;
      if (this.kind !== "camera") return this.stop(); // something else was chosen meanwhile
      // Shown as in a mirror, but learned as it is.
      const mirrored = this.stream.getVideoTracks()[0].getSettings().facingMode === "user";
      this.video.classList.toggle("mirrored", mirrored);
      this.video.srcObject = this.stream;
      await this.video.play();
      this.video.hidden = false;
      this.say("");
      byId("turn").hidden = (await this.cameras()).length < 2;
    } catch {
      if (this.kind === "camera") this.say(texts.noCamera);
    }
  }

  /** @param {Blob | undefined} file @param {string} [name] */
  async showFile(file, name = "") {
    if (!file) return;
    try {
      this.picture = await ofBlob(file);
      this.shown += 1;
      const canvas = /** @type {HTMLCanvasElement} */ (byId("shown"));
      show(this.picture, canvas);
      canvas.setAttribute("aria-label", name || ("name" in file ? String(file.name) : texts.picture));
      canvas.hidden = false;
      this.say("");
      this.onShown();
    } catch (error) {
      this.showError(error);
    }
  }

  async listExamples() {
    const list = byId("examples");
    for (const { name, learn, test } of await readExamples()) {
      let next = 0;
      const image = element("img", { alt: "", src: URL.createObjectURL(test[0]) });
      byId("mosaic").append(...[test[0], learn[0]].map((photo) => element("img", { alt: "", src: URL.createObjectURL(photo) })));
      const showButton = element("button", { type: "button", className: "thumb", "aria-label": texts.showExample(name) }, image);
      showButton.addEventListener("click", () => this.showFile(test[next++ % test.length], name));
      const teachButton = element("button", { type: "button", className: "plain" }, texts.teachExample(name));
      teachButton.addEventListener("click", async () => {
        teachButton.disabled = true;
        await this.learn(name, learn);
        teachButton.disabled = false;
      });
      list.append(element("li", {}, showButton, teachButton));
    }
  }
}
