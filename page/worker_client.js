/**
 * The page's side of worker.js: `await client.call("learn", samples)`.
 *
 * A strategy that learns in steps has two workers, so that predictions go on meanwhile: one keeps the state before and predicts,
 * the other learns and then passes its state to the first. `onprogress` is called with { done, steps }.
 */
class WorkerConnection {
  /** @param {(progress: any) => void} report */
  constructor(report) {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.nextId = 0;
    /** @type {Map<number, {resolve: (result: any) => void, reject: (error: Error) => void}>} */
    this.pending = new Map();
    this.worker.onmessage = ({ data: { id, result, error, progress } }) => {
      if (progress) return report(progress);
      const call = this.pending.get(id);
      this.pending.delete(id);
      if (error === undefined) call?.resolve(result);
      else call?.reject(new Error(error));
    };
  }

  /**
   * @param {string} method
   * @param {...any} args
   * @returns {Promise<any>}
   */
  call(method, ...args) {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.worker.postMessage({ id, method, args });
    });
  }
}

export class WorkerClient {
  /** @param {{file: string, strategy?: string}} model */
  constructor(model) {
    /** @type {(progress: {done: number, steps: number}) => void} */
    this.onprogress = () => {};
    const report = (/** @type {any} */ progress) => this.onprogress(progress);
    this.model = model;
    this.predicting = new WorkerConnection(report);
    this.learning = model.strategy === "replay" ? new WorkerConnection(report) : null;
    /** @type {Uint8Array | undefined} */
    this.state = undefined;
  }

  /**
   * @param {string} method
   * @param {...any} args
   * @returns {Promise<any>}
   */
  async call(method, ...args) {
    if (!this.learning) return this.predicting.call(method, ...args);
    if (method === "requests")
      return (await Promise.all([this.predicting, this.learning].map((worker) => worker.call(method)))).flat();
    if (method === "open") await this.learning.call("open", ...args);
    if (method !== "learn") {
      const result = await this.predicting.call(method, ...args);
      if (result?.state) this.state = result.state;
      return result;
    }
    await this.learning.call("load", this.state);
    const { state, ms } = await this.learning.call("learn", ...args);
    return { ...(await this.call("load", state)), ms };
  }

  terminate() {
    this.predicting.worker.terminate();
    this.learning?.worker.terminate();
  }
}
