/**
 * Structures of core/include in WebAssembly's memory: bytes, and of each field its offset and DataView's
 * name for its type. Written by tools/make_bindings.py.
 */

export const br_run_args = {
  bytes: 40,
  fields: { seed: [0, "BigUint64"], step: [8, "BigUint64"], samples: [16, "BigInt64"], rate_mantissa: [24, "BigInt64"],
    rate_shift: [32, "BigInt64"] },
};

export const br_tensor_info = {
  bytes: 40,
  fields: { offset: [0, "BigUint64"], region: [8, "Uint32"], dtype: [12, "Uint32"], per_sample: [16, "Uint32"],
    dimensions: [20, "Uint32"], shape: [24, "Uint32"] },
};

export const br_memory = {
  bytes: 48,
  fields: { image: [0, "BigUint64"], tables: [8, "BigUint64"], packed_weights: [16, "BigUint64"], parameters: [24,
    "BigUint64"], arena: [32, "BigUint64"], scratch: [40, "BigUint64"] },
};

export const br_operation_info = {
  bytes: 20,
  fields: { name: [0, "Uint32"], reads: [4, "Uint32"], writes: [8, "Uint32"], attributes: [12, "Uint32"], code: [16,
    "Uint32"] },
};

export const br_sums = {
  bytes: 28,
  fields: { features: [0, "Uint32"], classes: [4, "Uint32"], bits: [8, "Uint32"], counts: [12, "Uint32"], class_sums:
    [16, "Uint32"], products: [20, "Uint32"], class_products: [24, "Uint32"] },
};

export const br_shrinkage = {
  bytes: 16,
  fields: { cap: [0, "Uint32"], top: [4, "Uint32"], bottom: [8, "Uint32"], pictures: [12, "Uint32"] },
};

export const br_sums_part = {
  bytes: 24,
  fields: { length: [0, "BigInt64"], top: [8, "BigInt64"], bottom: [16, "BigInt64"] },
};

export const br_solution = {
  bytes: 32,
  fields: { weights: [0, "Uint32"], biases: [4, "Uint32"], features: [8, "Uint32"], classes: [12, "Uint32"], pictures:
    [16, "BigInt64"], exponent: [24, "Int32"], dropped_features: [28, "Uint32"] },
};

export const br_factor = {
  bytes: 40,
  fields: { rows: [0, "Uint32"], halves: [4, "Uint32"], centre: [8, "Uint32"], ridges: [12, "Uint32"], pictures: [16,
    "BigInt64"], features: [24, "Uint32"], dropped_features: [28, "Uint32"], point: [32, "Int32"] },
};

export const br_ood = {
  bytes: 48,
  fields: { fitted: [0, "BigInt64"], ratio: [8, "BigInt64"], expected: [16, "BigInt64"], temperature: [24, "BigInt64"],
    weights: [32, "Uint32"], bias: [40, "BigInt64"] },
};

export const br_discriminant = {
  bytes: 160,
  fields: { sums: [0, "Uint32"], parts: [4, "Uint32"], part_count: [8, "Uint32"], keeps_factor: [12, "Uint32"],
    shrinkage: [16, br_shrinkage], is_expected: [32, "Uint32"], solution: [40, br_solution], factor: [72, br_factor],
    ood: [112, br_ood] },
};

export const br_answers = {
  bytes: 20,
  fields: { labels: [0, "Uint32"], scores: [4, "Uint32"], probabilities: [8, "Uint32"], unknown: [12, "Uint32"], share:
    [16, "Uint32"] },
};

export const br_learner_options = {
  bytes: 32,
  fields: { classes: [0, "Uint32"], name_bytes: [4, "Uint32"], marks: [8, "Uint32"], wide: [12, "Uint32"],
    settings_bytes: [16, "Uint32"], factor: [20, "Uint32"], pictures: [24, "Uint32"], samples: [28, "Uint32"] },
};

export const br_learner_memory = {
  bytes: 24,
  fields: { total: [0, "Uint32"], network: [4, "Uint32"], state: [8, "Uint32"], answers: [12, "Uint32"], experience:
    [16, "Uint32"], work: [20, "Uint32"] },
};

export const br_picture = {
  bytes: 20,
  fields: { pixels: [0, "Uint32"], width: [4, "Uint32"], height: [8, "Uint32"], pixel_bytes: [12, "Uint32"], row_bytes:
    [16, "Uint32"] },
};

export const br_name = {
  bytes: 16,
  fields: { text: [0, "Uint32"], length: [4, "Uint32"], number: [8, "BigInt64"] },
};

export const br_answer = {
  bytes: 20,
  fields: { label: [0, "Uint32"], scores: [4, "Uint32"], probabilities: [8, "Uint32"], share: [12, "Uint32"], unknown:
    [16, "Uint32"] },
};

export const br_progress = {
  bytes: 16,
  fields: { done: [0, "BigUint64"], steps: [8, "BigUint64"] },
};

export const br_slots = {
  bytes: 24,
  fields: { context: [0, "Uint32"], size: [4, "Uint32"], read: [8, "Uint32"], erase: [12, "Uint32"], write: [16,
    "Uint32"], sync: [20, "Uint32"] },
};

export const br_section = {
  bytes: 328,
  fields: { shape: [0, "BigUint64"], offset: [48, "BigUint64"], size: [56, "BigUint64"], type: [64, "Uint32"], rank:
    [68, "Uint32"], name: [72, "Int8"] },
};

export const BR_ABI = 9;
export const BR_SLOT_HEADER = 64;
export const BR_STATE_HEAD = 48;
export const BR_SECTION_ROOM = 320;
export const BR_SECTION_RANK = 6;
export const BR_OK = 0;
export const BR_MALFORMED = 1;
export const BR_NO_MEMORY = 2;
export const BR_BAD_ARGUMENT = 3;
export const BR_MISALIGNED = 4;
export const BR_BAD_LABEL = 5;
export const BR_UNKNOWN_ISA = 6;
export const BR_FULL = 7;
export const BR_UNKNOWN_CLASS = 8;
export const BR_NAME_TAKEN = 9;
export const BR_NEVER_LEARNED = 10;
export const BR_NOTHING_LEARNED = 11;
export const BR_BAD_ORDER = 12;
export const BR_DAMAGED = 13;
export const BR_OTHER_MODEL = 14;
export const BR_OTHER_SETTINGS = 15;
export const BR_NO_STATE = 16;
export const BR_STORAGE = 17;
export const BR_OTHER_BASE = 18;
export const BR_IMPOSSIBLE = 19;
export const BR_UNSUPPORTED = 20;
export const BR_PREPARE = 0;
export const BR_FORWARD = 1;
export const BR_BACKWARD = 2;
export const BR_UPDATE = 3;
export const BR_STEP = 4;
export const BR_CONSTANT = 0;
export const BR_PARAMETER = 1;
export const BR_ARENA = 2;
export const BR_PASSING = 3;
export const BR_INT8 = 0;
export const BR_INT16 = 1;
export const BR_INT32 = 2;
export const BR_INT64 = 3;
export const BR_UINT8 = 4;
export const BR_UINT32 = 5;
export const BR_UINT64 = 6;
export const BR_RATE_GIVEN = 0;
export const BR_RATE_FITTED = 1;
export const BR_RATE_FITTED_WITH_FLIPS = 2;
export const BR_SECTION_INT8 = 0;
export const BR_SECTION_INT16 = 1;
export const BR_SECTION_INT32 = 2;
export const BR_SECTION_INT64 = 3;
export const BR_SECTION_UINT8 = 4;
export const BR_SECTION_UINT32 = 5;
export const BR_SECTION_UINT64 = 6;
export const BR_SECTION_FLAG = 7;
export const BR_SECTION_FRACTION = 8;
export const BR_SECTION_TEXT = 9;
export const BR_SECTION_NAMES = 10;
