/**
 * The core as a WebAssembly module (core/wasm): its functions, its memory, and the few system calls that its C library
 * needs.
 *
 *     const core = await Core.open(await readFile("bitreplay.wasm"));
 *     const at = core.allocate(64);       // an address, aligned to 64 bytes; the memory is zeroed
 *     core.bytes.set(picture, at);
 *     core.free(at);
 *
 * Functions are `core.call.br_...`; 64-bit integers are BigInt. Any call may grow the memory: read `bytes` and `view` again
 * after each.
 */

/** A module of a few instructions, one of them on a vector: an engine that accepts it has SIMD128. */
const SIMD_MODULE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

/** Bytes before those of a file: its address and its size. */
export const FILE_HEAD = 64;

/** Whether this engine runs bitreplay.wasm; others need bitreplay-plain.wasm. */
export const hasSimd = () => WebAssembly.validate(SIMD_MODULE);

export class Core {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    /** @type {Record<string, any> & import("./interface.js").CoreFunctions} */
    this.call = /** @type {any} */ (instance.exports);
  }

  /**
   * @param {BufferSource | WebAssembly.Module} module
   * @returns {Promise<Core>}
   */
  static async open(module) {
    /** @type {{memory?: WebAssembly.Memory}} */
    const state = {};
    const view = () => new DataView(/** @type {WebAssembly.Memory} */ (state.memory).buffer);
    const compiled = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(module);
    const instance = await WebAssembly.instantiate(compiled, {
      wasi_snapshot_preview1: {
        // There are no environment variables.
        environ_sizes_get: (/** @type {number} */ count, /** @type {number} */ size) => {
          view().setUint32(count, 0, true);
          view().setUint32(size, 0, true);
          return 0;
        },
        environ_get: () => 0,
        // Only threads wait, and there are none.
        poll_oneoff: () => 52,
        proc_exit: (/** @type {number} */ code) => {
          throw new Error(`The core exited with ${code}.`);
        },
        fd_close: () => 8,
        fd_seek: () => 8,
        fd_write: () => 8,
      },
    });
    state.memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
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

  /** Zeroed memory, aligned to 64 bytes. @param {number} size */
  allocate(size) {
    const at = this.call.aligned_alloc(64, Math.max(64, Math.ceil(size / 64) * 64)) >>> 0;
    if (!at) throw new Error(`Out of memory: ${size} bytes were requested.`);
    this.bytes.fill(0, at, at + size);
    return at;
  }

  /** The address of a copy, aligned to 64 bytes. @param {Uint8Array} bytes */
  copyIn(bytes) {
    const at = this.allocate(bytes.length);
    this.bytes.set(bytes, at);
    return at;
  }

  /**
   * The address of a file, for `br_memory_read()` and `br_memory_write()`; its bytes begin FILE_HEAD behind.
   * @param {number} size @param {Uint8Array} [bytes] zeros otherwise
   */
  allocateFile(size, bytes = new Uint8Array(0)) {
    const at = this.allocate(FILE_HEAD + size);
    this.view.setUint32(at, at + FILE_HEAD, true);
    this.view.setUint32(at + 4, size, true);
    this.bytes.set(bytes, at + FILE_HEAD);
    return at;
  }

  /** @param {number} at */
  free(at) {
    this.call.free(at);
  }

  /**
   * Writes fields of a structure of interface.js; the others keep what they have.
   * @param {number} at
   * @param {import("./interface.js").Layout} layout
   * @param {Record<string, number | bigint>} values
   */
  write(at, layout, values) {
    const view = /** @type {any} */ (this.view);
    for (const [name, value] of Object.entries(values)) {
      const [offset, type] = layout.fields[name];
      view[`set${type}`](at + offset, value, true);
    }
    return at;
  }

  /**
   * The fields of a structure: addresses and numbers up to 32 bits as numbers, larger ones as BigInt.
   * @param {number} at
   * @param {import("./interface.js").Layout} layout
   * @returns {Record<string, any>}
   */
  read(at, layout) {
    const view = /** @type {any} */ (this.view);
    const fields = Object.entries(layout.fields);
    return Object.fromEntries(fields.map(([name, [offset, type]]) => [name, view[`get${type}`](at + offset, true)]));
  }

  /** A zero-terminated string. @param {number} at */
  text(at) {
    const bytes = this.bytes;
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  /** Instruction sets of this module. */
  isas() {
    return this.text(this.call.br_isas()).split(" ");
  }

  /** The instruction set in use. */
  isa() {
    return this.text(this.call.br_isa());
  }

  /** @param {string} name */
  setIsa(name) {
    const at = this.copyIn(new TextEncoder().encode(`${name}\0`));
    const failed = this.call.br_set_isa(at);
    this.free(at);
    if (failed) throw new Error(`There is no instruction set ${name}; there are ${this.isas().join(", ")}.`);
  }

  /** The sentence for an error number. @param {number} failed */
  errorText(failed) {
    const text = this.text(this.call.br_error_text(failed));
    return `${text[0].toUpperCase()}${text.slice(1)}.`;
  }

  /** Throws if a call failed. @param {number} failed */
  check(failed) {
    if (failed) throw new Error(this.errorText(failed));
  }
}
