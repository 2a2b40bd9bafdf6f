/**
 * States and pictures in IndexedDB. A change is one transaction, so that a tab may be killed at any moment.
 *
 * @typedef {{id: string, model: string, name: string, held: boolean, x: Int8Array | BigUint64Array, thumbnail: Uint8Array, when: number}} StoredPicture
 * @typedef {{model: string, state: Uint8Array, steps: Step[]}} Saved
 * @typedef {{what: string, right: Record<string, [number, number]>}} Step
 */

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const resultOf = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export class Store {
  /** @param {IDBDatabase} database */
  constructor(database) {
    this.database = database;
  }

  static async open() {
    const request = indexedDB.open("bitreplay", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("states", { keyPath: "model" });
      request.result.createObjectStore("pictures", { keyPath: "id" }).createIndex("model", "model");
    };
    return new Store(await resultOf(request));
  }

  /** @param {string} model @returns {Promise<{saved: Saved | undefined, pictures: StoredPicture[]}>} */
  async read(model) {
    const reading = this.database.transaction(["states", "pictures"]);
    const [saved, pictures] = await Promise.all([
      resultOf(reading.objectStore("states").get(model)),
      resultOf(reading.objectStore("pictures").index("model").getAll(model)),
    ]);
    pictures.sort((a, b) => a.when - b.when);
    return { saved, pictures };
  }

  /** @param {Saved} saved @param {StoredPicture[]} put @param {StoredPicture[]} removed */
  async write(saved, put, removed) {
    const writing = this.database.transaction(["states", "pictures"], "readwrite");
    writing.objectStore("states").put(saved);
    for (const picture of removed) writing.objectStore("pictures").delete(picture.id);
    for (const picture of put) writing.objectStore("pictures").put(picture);
    await new Promise((resolve, reject) => {
      writing.oncomplete = resolve;
      writing.onabort = () => reject(writing.error);
    });
  }
}
