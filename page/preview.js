/** The camera's picture in a corner while its own place is out of sight, so that one sees what a button takes. */
import { byId } from "./element.js";

const SEEN = 0.4; // so much of the place must be in sight

export class Preview {
  constructor() {
    this.video = /** @type {HTMLVideoElement} */ (byId("preview"));
    this.away = false;
    const look = new IntersectionObserver(
      ([entry]) => {
        this.away = entry.intersectionRatio < SEEN;
        this.draw();
      },
      { threshold: [0, SEEN, 1] },
    );
    look.observe(byId("stage"));
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
