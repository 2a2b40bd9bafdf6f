/**
 * The page's side of worker.js: `await teacher.ask("learn", pictures)`.
 */
export class Teacher {
  constructor() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.next = 0;
    /** @type {Map<number, {done: (found: any) => void, fail: (error: Error) => void}>} */
    this.waiting = new Map();
    this.worker.onmessage = ({ data: { id, found, error } }) => {
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

  end() {
    this.worker.terminate();
  }
}
