// What js/interface.js has, and the functions of the module. Written by tools/make_bindings.py.

export type Layout = { bytes: number; fields: Record<string, [number, string | Layout]> };

export const br_run_args: { bytes: number; fields: { seed: [number, string | Layout]; step: [number, string | Layout];
  samples: [number, string | Layout]; rate_mantissa: [number, string | Layout]; rate_shift: [number, string | Layout] }
  };
export const br_tensor_info: { bytes: number; fields: { offset: [number, string | Layout]; region: [number, string |
  Layout]; dtype: [number, string | Layout]; per_sample: [number, string | Layout]; dimensions: [number, string |
  Layout]; shape: [number, string | Layout] } };
export const br_memory: { bytes: number; fields: { image: [number, string | Layout]; tables: [number, string | Layout];
  packed_weights: [number, string | Layout]; parameters: [number, string | Layout]; arena: [number, string | Layout];
  scratch: [number, string | Layout] } };
export const br_operation_info: { bytes: number; fields: { name: [number, string | Layout]; reads: [number, string |
  Layout]; writes: [number, string | Layout]; attributes: [number, string | Layout]; code: [number, string | Layout] }
  };
export const br_sums: { bytes: number; fields: { features: [number, string | Layout]; classes: [number, string |
  Layout]; bits: [number, string | Layout]; counts: [number, string | Layout]; class_sums: [number, string | Layout];
  products: [number, string | Layout]; class_products: [number, string | Layout] } };
export const br_shrinkage: { bytes: number; fields: { cap: [number, string | Layout]; top: [number, string | Layout];
  bottom: [number, string | Layout]; pictures: [number, string | Layout] } };
export const br_sums_part: { bytes: number; fields: { length: [number, string | Layout]; top: [number, string | Layout];
  bottom: [number, string | Layout] } };
export const br_solution: { bytes: number; fields: { weights: [number, string | Layout]; biases: [number, string |
  Layout]; features: [number, string | Layout]; classes: [number, string | Layout]; pictures: [number, string | Layout];
  exponent: [number, string | Layout]; dropped_features: [number, string | Layout] } };
export const br_factor: { bytes: number; fields: { rows: [number, string | Layout]; halves: [number, string | Layout];
  centre: [number, string | Layout]; ridges: [number, string | Layout]; pictures: [number, string | Layout]; features:
  [number, string | Layout]; dropped_features: [number, string | Layout]; point: [number, string | Layout] } };
export const br_ood: { bytes: number; fields: { fitted: [number, string | Layout]; ratio: [number, string | Layout];
  expected: [number, string | Layout]; temperature: [number, string | Layout]; weights: [number, string | Layout]; bias:
  [number, string | Layout] } };
export const br_discriminant: { bytes: number; fields: { sums: [number, string | Layout]; parts: [number, string |
  Layout]; part_count: [number, string | Layout]; keeps_factor: [number, string | Layout]; shrinkage: [number, string |
  Layout]; is_expected: [number, string | Layout]; solution: [number, string | Layout]; factor: [number, string |
  Layout]; ood: [number, string | Layout] } };
export const br_answers: { bytes: number; fields: { labels: [number, string | Layout]; scores: [number, string |
  Layout]; probabilities: [number, string | Layout]; unknown: [number, string | Layout]; share: [number, string |
  Layout] } };
export const br_learner_options: { bytes: number; fields: { classes: [number, string | Layout]; name_bytes: [number,
  string | Layout]; marks: [number, string | Layout]; wide: [number, string | Layout]; settings_bytes: [number, string |
  Layout]; factor: [number, string | Layout]; pictures: [number, string | Layout]; samples: [number, string | Layout] }
  };
export const br_learner_memory: { bytes: number; fields: { total: [number, string | Layout]; network: [number, string |
  Layout]; state: [number, string | Layout]; answers: [number, string | Layout]; experience: [number, string | Layout];
  work: [number, string | Layout] } };
export const br_picture: { bytes: number; fields: { pixels: [number, string | Layout]; width: [number, string | Layout];
  height: [number, string | Layout]; pixel_bytes: [number, string | Layout]; row_bytes: [number, string | Layout] } };
export const br_name: { bytes: number; fields: { text: [number, string | Layout]; length: [number, string | Layout];
  number: [number, string | Layout] } };
export const br_answer: { bytes: number; fields: { label: [number, string | Layout]; scores: [number, string | Layout];
  probabilities: [number, string | Layout]; share: [number, string | Layout]; unknown: [number, string | Layout] } };
export const br_progress: { bytes: number; fields: { done: [number, string | Layout]; steps: [number, string | Layout] }
  };
export const br_slots: { bytes: number; fields: { context: [number, string | Layout]; size: [number, string | Layout];
  read: [number, string | Layout]; erase: [number, string | Layout]; write: [number, string | Layout]; sync: [number,
  string | Layout] } };
export const br_section: { bytes: number; fields: { shape: [number, string | Layout]; offset: [number, string | Layout];
  size: [number, string | Layout]; type: [number, string | Layout]; rank: [number, string | Layout]; name: [number,
  string | Layout] } };

export const BR_ABI: 8;
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
  br_program_constant_bytes(program: number): bigint;
  br_program_arena_bytes(program: number): bigint;
  br_program_packed_weights_bytes(program: number): bigint;
  br_program_initial_parameters(program: number): number;
  br_program_constants(program: number): number;
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
  br_sums_factor(sums: number, parts: number, part_count: number, work: number, factor: number): number;
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
  br_epoch_order(seed: bigint, experience: bigint, epoch: bigint, samples: number, keys: number): number;
  br_consolidate(cw: number, tw: number, past: number, present: number, classes: number, columns: number): number;
  br_rate(top_bottom: number, length: number, kind: number, done: bigint, steps: bigint, mantissa: number, shift:
    number): number;
  br_state_sections(bytes: number, size: number, sections: number, room: number, count: number): number;
  br_state_lay_out(sections: number, count: number, offset: bigint, heads: number, ends: number): number;
  br_mark(before: number, before_size: number, bytes: number, size: number): bigint;
  br_learner_write_bytes(learner: number, to: number, size: number): number;
  br_learner_read_bytes(learner: number, from: number, size: number): number;
  br_learner_verify_bytes(learner: number, from: number, size: number): number;
  br_learner_merge_bytes(learner: number, from: number, size: number): number;
  br_learner_take_out_bytes(learner: number, from: number, size: number): number;
  br_learner_take_out_since_bytes(learner: number, from: number, size: number, base: number, base_size: number): number;
  br_learner_merge_since_bytes(learner: number, from: number, size: number, base: number, base_size: number): number;
  br_state_section_bytes(from: number, size: number, name: number, to: number, room: number, place: number): number;
}
