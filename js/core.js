/**
 * The core as a WebAssembly module (core/wasm): its functions, its memory, and the little of an operating system that its
 * C library asks for.
 *
 *     const core = await Core.open(await readFile("bitreplay.wasm"));
 *     const at = core.take(64);           // an address, aligned to 64, zeroed
 *     core.bytes.set(picture, at);
 *     core.give(at);
 *
 * Functions are `core.call.br_...`; 64-bit numbers are BigInt. The memory may grow in any call: `bytes` and `view` are to
 * be asked for anew after one.
 */

/** A program of a few instructions with a vector in it: a browser that accepts it has SIMD128. */
const VECTOR = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

/** Whether this engine runs the kernel set `wasm`; others load bitreplay-plain.wasm. */
export const hasVectors = () => WebAssembly.validate(VECTOR);

export class Core {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    /** @type {Record<string, any>} */
    this.call = instance.exports;
  }

  /**
   * @param {BufferSource | WebAssembly.Module} module
   * @returns {Promise<Core>}
   */
  static async open(module) {
    /** @type {{memory?: WebAssembly.Memory}} */
    const own = {};
    const view = () => new DataView(/** @type {WebAssembly.Memory} */ (own.memory).buffer);
    const compiled = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(module);
    const instance = await WebAssembly.instantiate(compiled, {
      wasi_snapshot_preview1: {
        // No variables.
        environ_sizes_get: (/** @type {number} */ count, /** @type {number} */ size) => {
          view().setUint32(count, 0, true);
          view().setUint32(size, 0, true);
          return 0;
        },
        environ_get: () => 0,
        // Threads would wait by it; there are none.
        poll_oneoff: () => 52,
        proc_exit: (/** @type {number} */ code) => {
          throw new Error(`The core ended with ${code}.`);
        },
        fd_close: () => 8,
        fd_seek: () => 8,
        fd_write: () => 8,
      },
    });
    own.memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
    const core = new Core(instance);
    core.call._initialize();
    return core;
  }

  get bytes() {
    return new Uint8Array(this.call.memory.buffer);
  }

  get view() {
    return new DataView(this.call.memory.buffer);
  }

  /** Zeroed memory, aligned to 64. @param {number} size */
  take(size) {
    const at = this.call.aligned_alloc(64, Math.max(64, Math.ceil(size / 64) * 64)) >>> 0;
    if (!at) throw new Error(`There is no memory for ${size} bytes.`);
    this.bytes.fill(0, at, at + size);
    return at;
  }

  /** A copy of the bytes, aligned to 64. @param {Uint8Array} bytes */
  place(bytes) {
    const at = this.take(bytes.length);
    this.bytes.set(bytes, at);
    return at;
  }

  /** @param {number} at */
  give(at) {
    this.call.free(at);
  }

  /** Text that ends with 0. @param {number} at */
  text(at) {
    const bytes = this.bytes;
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  /** Instruction sets of this module. */
  paths() {
    return this.text(this.call.br_isas()).split(" ");
  }

  path() {
    return this.text(this.call.br_isa());
  }

  /** @param {string} name */
  setPath(name) {
    const at = this.place(new TextEncoder().encode(`${name}\0`));
    const failed = this.call.br_set_isa(at);
    this.give(at);
    if (failed) throw new Error(`There is no instruction set ${name} here; there are ${this.paths().join(", ")}.`);
  }

  /** What an error number means, as a sentence. @param {number} failed */
  sentence(failed) {
    const text = this.text(this.call.br_error_text(failed));
    return `${text[0].toUpperCase()}${text.slice(1)}.`;
  }

  /** Throws where a call failed. @param {number} failed */
  check(failed) {
    if (failed) throw new Error(this.sentence(failed));
  }
}
