// What js/interface.js has, and the functions of the module. Written by tools/make_bindings.py.

export type Layout = { bytes: number; fields: Record<string, [number, string | Layout]> };

export const br_run_args: Layout;
export const br_tensor_info: Layout;
export const br_memory: Layout;
export const br_operation_info: Layout;
export const br_sums: Layout;
export const br_shrinkage: Layout;
export const br_sums_part: Layout;
export const br_solution: Layout;
export const br_factor: Layout;
export const br_ood: Layout;
export const br_discriminant: Layout;
export const br_answers: Layout;
export const br_learner_options: Layout;
export const br_learner_memory: Layout;
export const br_picture: Layout;
export const br_name: Layout;
export const br_answer: Layout;
export const br_progress: Layout;
export const br_slots: Layout;
export const br_section: Layout;

export const BR_ABI: 9;
export const BR_SLOT_HEADER: 64;
export const BR_STATE_HEAD: 48;
export const BR_SECTION_ROOM: 320;
export const BR_SECTION_RANK: 6;
export const BR_OK: 0;
export const BR_MALFORMED: 1;
export const BR_NO_MEMORY: 2;
export const BR_BAD_ARGUMENT: 3;
export const BR_MISALIGNED: 4;
export const BR_BAD_LABEL: 5;
export const BR_UNKNOWN_ISA: 6;
export const BR_FULL: 7;
export const BR_UNKNOWN_CLASS: 8;
export const BR_NAME_TAKEN: 9;
export const BR_NEVER_LEARNED: 10;
export const BR_NOTHING_LEARNED: 11;
export const BR_BAD_ORDER: 12;
export const BR_DAMAGED: 13;
export const BR_OTHER_MODEL: 14;
export const BR_OTHER_SETTINGS: 15;
export const BR_NO_STATE: 16;
export const BR_STORAGE: 17;
export const BR_OTHER_BASE: 18;
export const BR_IMPOSSIBLE: 19;
export const BR_UNSUPPORTED: 20;
export const BR_PREPARE: 0;
export const BR_FORWARD: 1;
export const BR_BACKWARD: 2;
export const BR_UPDATE: 3;
export const BR_STEP: 4;
export const BR_CONSTANT: 0;
export const BR_PARAMETER: 1;
export const BR_ARENA: 2;
export const BR_PASSING: 3;
export const BR_INT8: 0;
export const BR_INT16: 1;
export const BR_INT32: 2;
export const BR_INT64: 3;
export const BR_UINT8: 4;
export const BR_UINT32: 5;
export const BR_UINT64: 6;
export const BR_RATE_GIVEN: 0;
export const BR_RATE_FITTED: 1;
export const BR_RATE_FITTED_WITH_FLIPS: 2;
export const BR_SECTION_INT8: 0;
export const BR_SECTION_INT16: 1;
export const BR_SECTION_INT32: 2;
export const BR_SECTION_INT64: 3;
export const BR_SECTION_UINT8: 4;
export const BR_SECTION_UINT32: 5;
export const BR_SECTION_UINT64: 6;
export const BR_SECTION_FLAG: 7;
export const BR_SECTION_FRACTION: 8;
export const BR_SECTION_TEXT: 9;
export const BR_SECTION_NAMES: 10;

/** Addresses are numbers, 64-bit integers BigInt. */
export interface CoreFunctions {
  br_program_open(bytes: number, size: number, program: number, error: number, error_size: number): number;
  br_program_open_in(bytes: number, size: number, memory: number, memory_size: number, program: number, error: number,
    error_size: number): number;
  br_program_open_threads(bytes: number, size: number, threads: number, program: number, error: number, error_size:
    number): number;
  br_program_close(program: number): void;
  br_worker_run(program: number): number;
  br_program_workers(program: number): number;
  br_program_plan(bytes: number, size: number, threads: number, memory: number, error: number, error_size: number):
    number;
  br_program_memory(program: number, memory: number): void;
  br_program_max_samples(program: number): number;
  br_program_parameter_bytes(program: number): bigint;
  br_program_arena_bytes(program: number): bigint;
  br_program_initial_parameters(program: number): number;
  br_program_tensor(program: number, name: number, info: number): number;
  br_program_isa(program: number): number;
  br_run(program: number, list: number, parameters: number, arena: number, args: number): number;
  br_parts_bytes(program: number): bigint;
  br_parts_begin(program: number, arena: number): number;
  br_parts_measure(program: number, parameters: number, arena: number, args: number, work: number): number;
  br_parts_gather(program: number, parameters: number, arena: number, args: number, minibatch: number, work: number):
    number;
  br_parts_end(program: number, parameters: number, arena: number, args: number): number;
  br_isas(): number;
  br_isa_supported(name: number): number;
  br_isa(): number;
  br_set_isa(name: number): number;
  br_sums_bits(pictures: bigint): number;
  br_sums_extent(sums: number): bigint;
  br_sums_possible(sums: number, forgot: number, work: number): number;
  br_sums_contain(sums: number, part: number, rows: number, forgot: number, work: number): number;
  br_sums_has_factor(sums: number, work: number): number;
  br_sums_add(sums: number, x: number, labels: number, pictures: bigint, sign: number, work: number): number;
  br_sums_add_bytes(features: number): bigint;
  br_sums_combine(sums: number, other: number, sign: number): number;
  br_sums_extent_without(sums: number, row: number, work: number): bigint;
  br_sums_forget(sums: number, row: number, work: number): number;
  br_sums_shrinkage(shrinkage: number, pictures: bigint, features: bigint, top: number, bottom: number): number;
  br_sums_solve(sums: number, parts: number, part_count: number, work: number, solution: number): number;
  br_sums_solve_bytes(features: number, classes: number): bigint;
  br_sums_scores(solution: number, x: number, pictures: bigint, scores: number): number;
  br_error_text(error: number): number;
  br_version(): number;
  br_abi(): number;
  br_operation(index: number, info: number): number;
  br_discriminant_place(discriminant: number, features: number, classes: number, memory: number): bigint;
  br_discriminant_work_bytes(features: number, classes: number, part_count: number): bigint;
  br_discriminant_answer_bytes(features: number, classes: number): bigint;
  br_discriminant_solve(discriminant: number, work: number): number;
  br_discriminant_expect(discriminant: number, work: number): number;
  br_discriminant_answer(discriminant: number, x: number, images: bigint, answers: number, work: number): number;
  br_sums_mahalanobis(factor: number, y: number, vectors: bigint, work: number, squares: number, exponents: number):
    number;
  br_sums_mahalanobis_bytes(features: number): bigint;
  br_sums_ood(sums: number, solution: number, factor: number, parts: number, part_count: number, shrinkage: number,
    work: number, ood: number): number;
  br_sums_ood_score(solution: number, factor: number, ood: number, x: number, best: bigint, away: number, work: number,
    score: number): number;
  br_ood_threshold(ood: number, share: number): bigint;
  br_learner_plan(model: number, size: number, options: number, memory: number, error: number, error_size: number):
    number;
  br_learner_open(model: number, size: number, options: number, memory: number, memory_size: number, learner: number,
    error: number, error_size: number): number;
  br_learner_memory_used(learner: number, memory: number): void;
  br_learner_clear(learner: number): void;
  br_learner_strategy(learner: number): number;
  br_learner_side(learner: number): number;
  br_fit(picture: number, side: number, fitted: number): number;
  br_learner_encoded_bytes(learner: number): number;
  br_learner_encode(learner: number, picture: number, encoded: number): number;
  br_learner_begin(learner: number): number;
  br_learner_add(learner: number, picture: number, name: number): number;
  br_learner_add_encoded(learner: number, encoded: number, name: number): number;
  br_learner_step(learner: number, progress: number): number;
  br_learner_end(learner: number): number;
  br_learner_ready(learner: number): number;
  br_learner_predict(learner: number, picture: number, answer: number): number;
  br_learner_predict_encoded(learner: number, encoded: number, answer: number): number;
  br_learner_share(learner: number): number;
  br_learner_unlearn(learner: number, picture: number, name: number): number;
  br_learner_unlearn_encoded(learner: number, encoded: number, name: number): number;
  br_learner_forget(learner: number, name: number): number;
  br_learner_forget_sample(learner: number, sample: bigint): number;
  br_learner_rename(learner: number, from: number, to: number): number;
  br_learner_classes(learner: number): number;
  br_learner_class(learner: number, label: number, name: number, pictures: number, stored: number): number;
  br_learner_label(learner: number, name: number, label: number): number;
  br_learner_pictures(learner: number): bigint;
  br_learner_experiences(learner: number): bigint;
  br_learner_steps(learner: number): bigint;
  br_learner_hash(learner: number, hash: number): number;
  br_learner_state_bytes(learner: number): number;
  br_learner_write(learner: number, write: number, context: number): number;
  br_learner_read(learner: number, read: number, context: number, size: number): number;
  br_learner_verify(learner: number, read: number, context: number, size: number): number;
  br_learner_merge(learner: number, read: number, context: number, size: number): number;
  br_learner_merge_since(learner: number, read: number, context: number, size: number, base_read: number, base_context:
    number, base_size: number): number;
  br_learner_take_out(learner: number, read: number, context: number, size: number): number;
  br_learner_take_out_since(learner: number, read: number, context: number, size: number, base_read: number,
    base_context: number, base_size: number): number;
  br_learner_save(learner: number, slots: number): number;
  br_learner_load(learner: number, slots: number): number;
  br_learner_rollback(learner: number, slots: number): number;
  br_reservoir_slot(seed: bigint, label: number, seen: bigint, held: number, slots: number): bigint;
  br_draw(seed: bigint, draw: bigint, stored: number, count: number, exchanged: number, picked: number): number;
  br_epochs(samples: bigint, batch_size: number, epochs: number, min_steps: number): bigint;
  br_replayed(fresh: number, batch_size: number, replay_batch_size: number): number;
  br_epoch_order(seed: bigint, experience: bigint, epoch: bigint, samples: number, keys: number): number;
  br_consolidate(cw: number, tw: number, past: number, present: number, classes: number, columns: number): number;
  br_rate(top_bottom: number, length: number, kind: number, done: bigint, steps: bigint, mantissa: number, shift:
    number): number;
  br_state_sections(bytes: number, size: number, sections: number, room: number, count: number): number;
  br_state_lay_out(sections: number, count: number, offset: bigint, heads: number, ends: number): number;
  br_mark(before: number, before_size: number, bytes: number, size: number): bigint;
  br_memory_read(): number;
  br_memory_write(): number;
  br_state_section_bytes(from: number, size: number, name: number, to: number, room: number, place: number): number;
}
