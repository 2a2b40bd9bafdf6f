/**
 * The page's side of worker.js: `await teacher.ask("learn", pictures)`.
 *
 * Who learns in steps answers meanwhile: one worker has the state before and answers, another learns, and what it has learned
 * is given to the first. `onprogress` is told { done, steps }.
 */
class One {
  /** @param {(progress: any) => void} tell */
  constructor(tell) {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.next = 0;
    /** @type {Map<number, {done: (found: any) => void, fail: (error: Error) => void}>} */
    this.waiting = new Map();
    this.worker.onmessage = ({ data: { id, found, error, progress } }) => {
      if (progress) return tell(progress);
      const turn = this.waiting.get(id);
      this.waiting.delete(id);
      if (error === undefined) turn?.done(found);
      else turn?.fail(new Error(error));
    };
  }

  /**
   * @param {string} what
   * @param {...any} words
   * @returns {Promise<any>}
   */
  ask(what, ...words) {
    const id = this.next++;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      this.worker.postMessage({ id, what, words });
    });
  }
}

export class WorkerClient {
  /** @param {{file: string, strategy?: string}} model */
  constructor(model) {
    /** @type {(progress: {done: number, steps: number}) => void} */
    this.onprogress = () => {};
    const tell = (/** @type {any} */ progress) => this.onprogress(progress);
    this.model = model;
    this.answering = new One(tell);
    this.learning = model.strategy === "replay" ? new One(tell) : null;
    /** @type {Uint8Array | undefined} */
    this.state = undefined;
  }

  /**
   * @param {string} what
   * @param {...any} words
   * @returns {Promise<any>}
   */
  async ask(what, ...words) {
    if (!this.learning) return this.answering.ask(what, ...words);
    if (what === "requests")
      return (await Promise.all([this.answering, this.learning].map((one) => one.ask(what)))).flat();
    if (what === "open") await this.learning.ask("open", ...words);
    if (what !== "learn") {
      const found = await this.answering.ask(what, ...words);
      if (found?.state) this.state = found.state;
      return found;
    }
    await this.learning.ask("load", this.state);
    const found = await this.learning.ask("learn", ...words);
    return { ...(await this.ask("load", found.state)), ms: found.ms };
  }

  end() {
    this.answering.worker.terminate();
    this.learning?.worker.terminate();
  }
}
