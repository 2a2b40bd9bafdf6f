// What core/tools/cases.c, golden.c and sums.c do on ARM, for WebAssembly: the same files in, the same bytes out. Runs in
// Node (node.mjs) and in a browser (browser.py).
//
// Linear memory ends where nothing can be touched: a tensor that lies last is put there, so that a kernel that reads or
// writes one byte too many traps.

const PAGE = 65536;
const WIDTHS = [1, 2, 4, 8, 1, 4, 8];

/** `size` zeroed bytes, the last of memory; aligned to 8 if the size is a multiple of 8. */
class End {
  constructor(core) {
    this.core = core;
    this.pages = 0;
    this.end = 0;
  }

  take(size) {
    const memory = this.core.call.memory;
    if (memory.buffer.byteLength !== this.end || this.pages * PAGE < size) {
      this.pages = Math.max(1, Math.ceil(size / PAGE));
      memory.grow(this.pages);
      this.end = memory.buffer.byteLength;
    }
    this.core.bytes.fill(0, this.end - this.pages * PAGE, this.end);
    return this.end - size;
  }
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  number() {
    this.at += 8;
    return Number(this.view.getBigUint64(this.at - 8, true));
  }

  take(size) {
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function openProgram(core, bytes) {
  const at = core.copyIn(bytes);
  const result = core.allocate(256 + 64);
  if (core.call.br_program_open(at, bytes.length, result, result + 64, 256)) throw new Error(core.text(result + 64));
  const program = core.view.getUint32(result, true);
  core.free(result);
  return { at, program };
}

export function cases(core, bytes) {
  const from = new Reader(bytes);
  const end = new End(core);
  const results = [];
  const args = core.allocate(40);
  const parameters = core.allocate(64);
  while (from.at < bytes.length) {
    const size = from.number();
    const arenaSize = from.number();
    core.bytes.set(from.take(40), args);
    const { at, program } = openProgram(core, from.take(size));
    const arenaBytes = Number(core.call.br_program_arena_bytes(program));
    const arena = end.take(arenaBytes);
    core.bytes.set(from.take(arenaSize), arena);
    core.check(core.call.br_run(program, 1, parameters, arena, args));
    results.push(core.bytes.slice(arena, arena + arenaSize));
    core.call.br_program_close(program);
    core.free(at);
  }
  return joined(results);
}

/** Sums and what they are solved to; each array lies last in memory in some case. */
export function sums(core, bytes) {
  const from = new Reader(bytes);
  const end = new End(core);
  const results = [];
  const padded = (size) => Math.ceil(size / 8) * 8;
  for (let number = 0; from.at < bytes.length; ++number) {
    const [d, c, bits, parts, n, removed] = Array.from({ length: 6 }, () => from.number());
    const item = bits / 8;
    const sizes = [parts * 24, c * 8, c * d * item, ((d * (d + 1)) / 2) * item, n * 4, n * d];
    const contents = sizes.map((size) => from.take(padded(size)).subarray(0, size));
    const works = [Number(core.call.br_sums_add_bytes(d)), Number(core.call.br_sums_solve_bytes(d, c))];
    const all = [...sizes, ...works, c * d * 4, c * 8, n * c * 8];
    const last = number % all.length;
    const addresses = all.map((size, k) => (k === last ? 0 : core.allocate(size)));
    const head = core.allocate(64);
    const solution = core.allocate(64);
    const at = [...addresses];
    at[last] = end.take(all[last]);
    contents.forEach((content, k) => core.bytes.set(content, at[k]));
    const view = core.view;
    [d, c, bits, at[1], at[2], at[3]].forEach((value, k) => view.setUint32(head + 4 * k, value, true));
    view.setUint32(solution, at[8], true);
    view.setUint32(solution + 4, at[9], true);
    core.check(core.call.br_sums_add(head, at[5], at[4], BigInt(n), 1, at[6]));
    core.check(core.call.br_sums_add(head, at[5], at[4], BigInt(removed), -1, at[6]));
    core.check(core.call.br_sums_solve(head, at[0], parts, at[7], solution));
    core.check(core.call.br_sums_scores(solution, at[5], BigInt(n), at[10]));
    for (const k of [1, 2, 3, 8, 9]) results.push(core.bytes.slice(at[k], at[k] + all[k]));
    results.push(core.bytes.slice(solution + 24, solution + 32), core.bytes.slice(at[10], at[10] + all[10]));
    for (const address of [...addresses, head, solution]) core.free(address);
  }
  return joined(results);
}

function tensor(core, program, name, samples) {
  const text = core.copyIn(new TextEncoder().encode(`${name}\0`));
  const info = core.allocate(64);
  core.check(core.call.br_program_tensor(program, text, info));
  const view = core.view;
  let size = samples * WIDTHS[view.getUint32(info + 12, true)];
  for (let axis = 0; axis < view.getUint32(info + 20, true); ++axis) size *= view.getUint32(info + 24 + 4 * axis, true);
  return { offset: Number(view.getBigUint64(info, true)), size };
}

/** A program with its regions, and a way to run a list of it. */
export function machine(core, bytes, samples, seed, mantissa, shift) {
  const { program } = openProgram(core, bytes);
  const size = Number(core.call.br_program_parameter_bytes(program));
  const parameters = core.allocate(size);
  const arena = core.allocate(Number(core.call.br_program_arena_bytes(program)));
  const initial = core.call.br_program_initial_parameters(program);
  core.bytes.copyWithin(parameters, initial, initial + size);
  const args = core.allocate(40);
  [seed, 0, samples, mantissa, shift].forEach((value, k) => core.view.setBigInt64(args + 8 * k, BigInt(value), true));
  return {
    program,
    arena,
    run: (list, step) => {
      core.view.setBigUint64(args + 8, BigInt(step), true);
      core.check(core.call.br_run(program, list, parameters, arena, args));
    },
    parameters: () => core.bytes.slice(parameters, parameters + size),
  };
}

export function golden(core, bytes, inputs, steps, samples, seed, mantissa, shift) {
  const runner = machine(core, bytes, samples, seed, mantissa, shift);
  const latents = tensor(core, runner.program, "latents", samples);
  const labels = tensor(core, runner.program, "labels", samples);
  const minibatch = latents.size + labels.size;
  runner.run(0, 0);
  for (let step = 0; step < steps; ++step) {
    const from = (step % (inputs.length / minibatch)) * minibatch;
    core.bytes.set(inputs.subarray(from, from + latents.size), runner.arena + latents.offset);
    core.bytes.set(inputs.subarray(from + latents.size, from + minibatch), runner.arena + labels.offset);
    runner.run(4, step);
  }
  return runner.parameters();
}

/** The fewest milliseconds that these lists of a program took, one after another. */
export function times(core, bytes, samples, lists, turns, now = () => performance.now()) {
  const runner = machine(core, bytes, samples, 7, 1 << 20, 31);
  runner.run(0, 0);
  let fewest = Infinity;
  for (let turn = 0; turn < turns; ++turn) {
    const start = now();
    for (const list of lists) runner.run(list, turn);
    fewest = Math.min(fewest, now() - start);
  }
  return fewest;
}

/**
 * A learner's life (js/learner.js): a model, pictures of one size, steps as JSON, and state files that steps name by number.
 * Comes back as its hash (64 bytes), a byte for the predicted class of each picture, and its state file.
 */
export async function learn(core, model, pixels, steps, ...states) {
  const { Learner } = await import("../../js/learner.js");
  const learner = Learner.open(core, model);
  const { side, turns } = JSON.parse(new TextDecoder().decode(steps));
  const size = side * side * 3;
  const count = pixels.length / size;
  const picture = (k) => ({ data: pixels.subarray(k * size, (k + 1) * size), width: side, height: side });
  const methods = {
    learn: (pairs) => learner.learn(pairs.map(([k, name]) => ({ picture: picture(k), name }))),
    learnFeatures: (pairs) => learner.learn(pairs.map(([k, name]) => ({ encoded: learner.encode(picture(k)), name }))),
    unlearn: (k, name) => learner.unlearn(learner.encode(picture(k)), name),
    forget: (name) => learner.forget(name),
    rename: (from, to) => learner.rename(from, to),
    load: (k) => learner.load(states[k]),
    merge: (k, base) => learner.merge(states[k], base === undefined ? undefined : states[base]),
    takeOut: (k, base) => learner.takeOut(states[k], base === undefined ? undefined : states[base]),
    refuses: (method, ...args) => {
      const before = learner.hash();
      let sentence = "";
      try {
        methods[method](...args);
      } catch (error) {
        sentence = error.message;
      }
      if (!sentence.endsWith(".") || learner.hash() !== before) throw new Error(`${method} was not refused: ${sentence}`);
    },
  };
  for (const [method, ...args] of turns) methods[method](...args);
  const answers = Uint8Array.from({ length: count }, (_, k) => learner.predict(picture(k)).label);
  for (let k = 0; k < count; ++k)
    if (learner.predictEncoded(learner.encode(picture(k))).label !== answers[k]) throw new Error("two answers");
  return joined([new TextEncoder().encode(learner.hash()), answers, learner.save()]);
}

/**
 * Reads a state and predicts from features: for each of the shares (thousandths, as JSON) one byte per picture (1: unknown), then
 * all probabilities in units of 2^-30.
 */
export async function predictEncoded(core, model, state, features, thousandths) {
  const { Learner } = await import("../../js/learner.js");
  const learner = Learner.open(core, model);
  learner.load(state);
  const pictures = [];
  for (let at = 0; at < features.length; at += learner.encodedBytes)
    pictures.push(new Int8Array(features.slice(at, at + learner.encodedBytes).buffer));
  const refused = JSON.parse(new TextDecoder().decode(thousandths)).map((share) =>
    Uint8Array.from(pictures, (x) => Number(learner.predictEncoded(x, { unknown: share / 1000 }).unknown)),
  );
  const shares = pictures.flatMap((x) => learner.predictEncoded(x).probabilities);
  const setting = Uint8Array.from(pictures, (x) => Number(learner.predictEncoded(x).unknown));
  return joined([...refused, setting, new Uint8Array(Uint32Array.from(shares, (share) => share * 2 ** 30).buffer)]);
}

/** The life of a learner by replay (js/learner.js), as `learn`: a hash, answers, a state file. */
export async function replay(core, model, pixels, steps, ...states) {
  const { Learner } = await import("../../js/learner.js");
  const learner = Learner.open(core, model);
  const { side, turns } = JSON.parse(new TextDecoder().decode(steps));
  const size = side * side * 3;
  const count = pixels.length / size;
  const picture = (k) => ({ data: pixels.subarray(k * size, (k + 1) * size), width: side, height: side });
  const samples = (pairs) => pairs.map(([k, name]) => ({ picture: picture(k), name }));
  const methods = {
    learn: (pairs) => learner.learn(samples(pairs)),
    learnLatents: (pairs) => learner.learn(pairs.map(([k, name]) => ({ encoded: learner.encode(picture(k)), name }))),
    // Stopped after one step: nothing may have changed.
    stopEarly: (pairs) => {
      const before = learner.hash();
      for (const { done } of learner.learning(samples(pairs))) if (done === 1) break;
      if (learner.hash() !== before) throw new Error("an experience that was stopped changed the state");
    },
    forget: (name) => learner.forget(name),
    rename: (from, to) => learner.rename(from, to),
    load: (k) => learner.load(states[k]),
    refuses: (method, ...args) => {
      const before = learner.hash();
      let sentence = "";
      try {
        methods[method](...args);
      } catch (error) {
        sentence = error.message;
      }
      if (!sentence.endsWith(".") || learner.hash() !== before) throw new Error(`${method} was not refused: ${sentence}`);
    },
  };
  for (const [method, ...args] of turns) methods[method](...args);
  const answers = Uint8Array.from({ length: count }, (_, k) => learner.predict(picture(k)).label);
  for (let k = 0; k < count; ++k)
    if (learner.predictEncoded(learner.encode(picture(k))).label !== answers[k]) throw new Error("two answers");
  return joined([new TextEncoder().encode(learner.hash()), answers, learner.save()]);
}
