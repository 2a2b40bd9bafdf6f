/**
 * What is seen on the left: the camera, a picture, or an example. `current()` is the picture of this moment, or null.
 */
import { byId, element } from "./element.js";
import { readExamples } from "./examples.js";
import { ofBlob, ofVideo, show } from "./frames.js";
import { texts } from "./texts.js";

export class Source {
  /** @param {{teach: (name: string, files: Blob[]) => Promise<void>, shown: () => void, fail: (error: unknown) => void}} own */
  constructor({ teach, shown, fail }) {
    this.teach = teach;
    this.tellShown = shown;
    this.fail = fail;
    /** @type {import("./frames.js").Picture | null} */
    this.picture = null;
    /** @type {MediaStream | null} */
    this.stream = null;
    this.facing = "environment";
    this.kind = "";
    this.shown = 0; // how many pictures were shown: says which one an answer is to
    this.video = /** @type {HTMLVideoElement} */ (byId("video"));
    for (const button of document.querySelectorAll("[data-source]"))
      button.addEventListener("click", () => this.choose(/** @type {HTMLElement} */ (button).dataset.source ?? ""));
    byId("turn").addEventListener("click", () => {
      this.facing = this.facing === "user" ? "environment" : "user";
      this.choose("camera");
    });
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

  current() {
    if (this.kind === "camera") return this.stream && this.video.readyState >= 2 ? ofVideo(this.video) : null;
    return this.picture;
  }

  /** @param {string} kind */
  async choose(kind) {
    this.stop();
    this.kind = kind;
    this.picture = null;
    for (const button of document.querySelectorAll("[data-source]"))
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.source === kind));
    byId("shown").hidden = this.video.hidden = byId("turn").hidden = true;
    byId("choose").hidden = kind !== "picture";
    byId("examples").hidden = kind !== "examples";
    byId("hint").hidden = false;
    byId("hint").textContent =
      kind === "camera" ? texts.startCamera : kind === "picture" ? texts.dropPicture : texts.chooseExample;
    if (kind === "camera") await this.startCamera();
    if (kind === "examples") await this.listExamples().catch(this.fail);
  }

  stop() {
    for (const media of this.stream?.getTracks() ?? []) media.stop();
    this.stream = null;
  }

  async startCamera() {
    try {
      const video = { facingMode: this.facing, width: { ideal: 640 }, height: { ideal: 480 } };
      this.stream = await navigator.mediaDevices.getUserMedia({ video, audio: false });
      this.video.srcObject = this.stream;
      await this.video.play();
      this.video.hidden = byId("turn").hidden = false;
      byId("hint").hidden = true;
    } catch {
      byId("hint").textContent = texts.noCamera;
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
      byId("hint").hidden = true;
      this.tellShown();
    } catch (error) {
      this.fail(error);
    }
  }

  async listExamples() {
    const list = byId("examples");
    if (list.children.length) return;
    for (const { name, learn, test } of await readExamples()) {
      let next = 0;
      const image = element("img", { alt: "", src: URL.createObjectURL(test[0]) });
      const look = element("button", { type: "button", className: "thumb", "aria-label": texts.showExample(name) }, image);
      look.addEventListener("click", () => this.showFile(test[next++ % test.length], name));
      const teach = element("button", { type: "button", className: "plain" }, texts.teachExample(name));
      teach.addEventListener("click", async () => {
        teach.disabled = true;
        await this.teach(name, learn);
        teach.disabled = false;
      });
      list.append(element("li", {}, look, teach));
    }
  }
}
