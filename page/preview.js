/** The camera's picture in a corner while the stage is scrolled out of sight, so that readers see what a button captures. */
import { byId } from "./element.js";

const VISIBLE = 0.4; // the share of the stage that must be in sight

export class Preview {
  constructor() {
    this.video = /** @type {HTMLVideoElement} */ (byId("preview"));
    this.away = false;
    const observer = new IntersectionObserver(
      ([entry]) => {
        this.away = entry.intersectionRatio < VISIBLE;
        this.draw();
      },
      { threshold: [0, VISIBLE, 1] },
    );
    observer.observe(byId("stage"));
  }

  /** @param {MediaStream | null} stream @param {boolean} [mirrored] */
  show(stream, mirrored = false) {
    this.video.srcObject = stream;
    this.video.classList.toggle("mirrored", mirrored);
    this.draw();
  }

  draw() {
    this.video.hidden = !this.away || !this.video.srcObject;
    if (!this.video.hidden) this.video.play().catch(() => undefined);
  }
}
