"""The C interface of core/include for ctypes, by the names of the headers. Written by tools/make_bindings.py.

A pointer to a structure is `POINTER(br_...)`, which takes the structure itself; any other pointer is an address.
"""

# fmt: off
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

BR_ABI = 9
BR_SLOT_HEADER = 64
BR_STATE_HEAD = 48
BR_SECTION_ROOM = 320
BR_SECTION_RANK = 6
BR_OK = 0
BR_MALFORMED = 1
BR_NO_MEMORY = 2
BR_BAD_ARGUMENT = 3
BR_MISALIGNED = 4
BR_BAD_LABEL = 5
BR_UNKNOWN_ISA = 6
BR_FULL = 7
BR_UNKNOWN_CLASS = 8
BR_NAME_TAKEN = 9
BR_NEVER_LEARNED = 10
BR_NOTHING_LEARNED = 11
BR_BAD_ORDER = 12
BR_DAMAGED = 13
BR_OTHER_MODEL = 14
BR_OTHER_SETTINGS = 15
BR_NO_STATE = 16
BR_STORAGE = 17
BR_OTHER_BASE = 18
BR_IMPOSSIBLE = 19
BR_UNSUPPORTED = 20
BR_PREPARE = 0
BR_FORWARD = 1
BR_BACKWARD = 2
BR_UPDATE = 3
BR_STEP = 4
BR_CONSTANT = 0
BR_PARAMETER = 1
BR_ARENA = 2
BR_PASSING = 3
BR_INT8 = 0
BR_INT16 = 1
BR_INT32 = 2
BR_INT64 = 3
BR_UINT8 = 4
BR_UINT32 = 5
BR_UINT64 = 6
BR_RATE_GIVEN = 0
BR_RATE_FITTED = 1
BR_RATE_FITTED_WITH_FLIPS = 2
BR_SECTION_INT8 = 0
BR_SECTION_INT16 = 1
BR_SECTION_INT32 = 2
BR_SECTION_INT64 = 3
BR_SECTION_UINT8 = 4
BR_SECTION_UINT32 = 5
BR_SECTION_UINT64 = 6
BR_SECTION_FLAG = 7
BR_SECTION_FRACTION = 8
BR_SECTION_TEXT = 9
BR_SECTION_NAMES = 10

br_read = CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p, c_size_t)
br_write = CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p, c_size_t)


class br_run_args(Structure):
    _fields_ = [
        ("seed", c_uint64),
        ("step", c_uint64),
        ("samples", c_int64),
        ("rate_mantissa", c_int64),
        ("rate_shift", c_int64),
    ]


class br_tensor_info(Structure):
    _fields_ = [
        ("offset", c_uint64),
        ("region", c_uint32),
        ("dtype", c_uint32),
        ("per_sample", c_uint32),
        ("dimensions", c_uint32),
        ("shape", c_uint32 * 4),
    ]


class br_memory(Structure):
    _fields_ = [
        ("image", c_uint64),
        ("tables", c_uint64),
        ("packed_weights", c_uint64),
        ("parameters", c_uint64),
        ("arena", c_uint64),
        ("scratch", c_uint64),
    ]


class br_operation_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("reads", c_char_p),
        ("writes", c_char_p),
        ("attributes", c_char_p),
        ("code", c_uint32),
    ]


class br_sums(Structure):
    _fields_ = [
        ("features", c_uint32),
        ("classes", c_uint32),
        ("bits", c_uint32),
        ("counts", c_void_p),
        ("class_sums", c_void_p),
        ("products", c_void_p),
        ("class_products", c_void_p),
    ]


class br_shrinkage(Structure):
    _fields_ = [
        ("cap", c_uint32),
        ("top", c_uint32),
        ("bottom", c_uint32),
        ("pictures", c_uint32),
    ]


class br_sums_part(Structure):
    _fields_ = [
        ("length", c_int64),
        ("top", c_int64),
        ("bottom", c_int64),
    ]


class br_solution(Structure):
    _fields_ = [
        ("weights", c_void_p),
        ("biases", c_void_p),
        ("features", c_uint32),
        ("classes", c_uint32),
        ("pictures", c_int64),
        ("exponent", c_int32),
        ("dropped_features", c_uint32),
    ]


class br_factor(Structure):
    _fields_ = [
        ("rows", c_void_p),
        ("halves", c_void_p),
        ("centre", c_void_p),
        ("ridges", c_void_p),
        ("pictures", c_int64),
        ("features", c_uint32),
        ("dropped_features", c_uint32),
        ("point", c_int32),
    ]


class br_ood(Structure):
    _fields_ = [
        ("fitted", c_int64),
        ("ratio", c_int64),
        ("expected", c_int64),
        ("temperature", c_int64),
        ("weights", c_void_p),
        ("bias", c_int64),
    ]


class br_discriminant(Structure):
    _fields_ = [
        ("sums", c_void_p),
        ("parts", c_void_p),
        ("part_count", c_uint32),
        ("keeps_factor", c_uint32),
        ("shrinkage", br_shrinkage),
        ("is_expected", c_uint32),
        ("solution", br_solution),
        ("factor", br_factor),
        ("ood", br_ood),
    ]


class br_answers(Structure):
    _fields_ = [
        ("labels", c_void_p),
        ("scores", c_void_p),
        ("probabilities", c_void_p),
        ("unknown", c_void_p),
        ("share", c_uint32),
    ]


class br_learner_options(Structure):
    _fields_ = [
        ("classes", c_uint32),
        ("name_bytes", c_uint32),
        ("marks", c_uint32),
        ("wide", c_uint32),
        ("settings_bytes", c_uint32),
        ("factor", c_uint32),
        ("pictures", c_uint32),
        ("samples", c_uint32),
    ]


class br_learner_memory(Structure):
    _fields_ = [
        ("total", c_size_t),
        ("network", c_size_t),
        ("state", c_size_t),
        ("answers", c_size_t),
        ("experience", c_size_t),
        ("work", c_size_t),
    ]


class br_picture(Structure):
    _fields_ = [
        ("pixels", c_void_p),
        ("width", c_uint32),
        ("height", c_uint32),
        ("pixel_bytes", c_uint32),
        ("row_bytes", c_size_t),
    ]


class br_name(Structure):
    _fields_ = [
        ("text", c_void_p),
        ("length", c_size_t),
        ("number", c_int64),
    ]


class br_answer(Structure):
    _fields_ = [
        ("label", c_uint32),
        ("scores", c_void_p),
        ("probabilities", c_void_p),
        ("share", c_uint32),
        ("unknown", c_uint32),
    ]


class br_progress(Structure):
    _fields_ = [
        ("done", c_uint64),
        ("steps", c_uint64),
    ]


class br_slots(Structure):
    _fields_ = [
        ("context", c_void_p),
        ("size", c_size_t),
        ("read", CFUNCTYPE(c_int, c_void_p, c_uint32, c_size_t, c_void_p, c_size_t)),
        ("erase", CFUNCTYPE(c_int, c_void_p, c_uint32, c_size_t)),
        ("write", CFUNCTYPE(c_int, c_void_p, c_uint32, c_size_t, c_void_p, c_size_t)),
        ("sync", CFUNCTYPE(c_int, c_void_p, c_uint32)),
    ]


class br_section(Structure):
    _fields_ = [
        ("shape", c_uint64 * 6),
        ("offset", c_uint64),
        ("size", c_uint64),
        ("type", c_uint32),
        ("rank", c_uint32),
        ("name", c_char * 256),
    ]


FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "br_program_open": (c_int, [c_void_p, c_size_t, POINTER(c_void_p), c_char_p, c_size_t]),
    "br_program_open_in": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t, POINTER(c_void_p), c_char_p,
        c_size_t]),
    "br_program_open_threads": (c_int, [c_void_p, c_size_t, c_uint32, POINTER(c_void_p), c_char_p, c_size_t]),
    "br_program_close": (None, [c_void_p]),
    "br_worker_run": (c_int, [c_void_p]),
    "br_program_workers": (c_uint32, [c_void_p]),
    "br_program_plan": (c_int, [c_void_p, c_size_t, c_uint32, POINTER(br_memory), c_char_p, c_size_t]),
    "br_program_memory": (None, [c_void_p, POINTER(br_memory)]),
    "br_program_max_samples": (c_uint32, [c_void_p]),
    "br_program_parameter_bytes": (c_uint64, [c_void_p]),
    "br_program_arena_bytes": (c_uint64, [c_void_p]),
    "br_program_initial_parameters": (c_void_p, [c_void_p]),
    "br_program_tensor": (c_int, [c_void_p, c_char_p, POINTER(br_tensor_info)]),
    "br_program_isa": (c_char_p, [c_void_p]),
    "br_run": (c_int, [c_void_p, c_int, c_void_p, c_void_p, POINTER(br_run_args)]),
    "br_parts_bytes": (c_uint64, [c_void_p]),
    "br_parts_begin": (c_int, [c_void_p, c_void_p]),
    "br_parts_measure": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(br_run_args), c_void_p]),
    "br_parts_gather": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(br_run_args), c_uint32, c_void_p]),
    "br_parts_end": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(br_run_args)]),
    "br_isas": (c_char_p, []),
    "br_isa_supported": (c_int, [c_char_p]),
    "br_isa": (c_char_p, []),
    "br_set_isa": (c_int, [c_char_p]),
    "br_sums_bits": (c_uint32, [c_int64]),
    "br_sums_extent": (c_int64, [POINTER(br_sums)]),
    "br_sums_possible": (c_int, [POINTER(br_sums), c_int, c_void_p]),
    "br_sums_contain": (c_int, [POINTER(br_sums), POINTER(br_sums), c_void_p, c_int, c_void_p]),
    "br_sums_has_factor": (c_int, [POINTER(br_sums), c_void_p]),
    "br_sums_add": (c_int, [POINTER(br_sums), c_void_p, c_void_p, c_uint64, c_int, c_void_p]),
    "br_sums_add_bytes": (c_uint64, [c_uint32]),
    "br_sums_combine": (c_int, [POINTER(br_sums), POINTER(br_sums), c_int]),
    "br_sums_extent_without": (c_int64, [POINTER(br_sums), c_uint32, c_void_p]),
    "br_sums_forget": (c_int, [POINTER(br_sums), c_uint32, c_void_p]),
    "br_sums_shrinkage": (c_int, [POINTER(br_shrinkage), c_int64, c_int64, c_void_p, c_void_p]),
    "br_sums_solve": (c_int, [POINTER(br_sums), POINTER(br_sums_part), c_uint32, c_void_p,
        POINTER(br_solution)]),
    "br_sums_solve_bytes": (c_uint64, [c_uint32, c_uint32]),
    "br_sums_scores": (c_int, [POINTER(br_solution), c_void_p, c_uint64, c_void_p]),
    "br_error_text": (c_char_p, [c_int]),
    "br_version": (c_char_p, []),
    "br_abi": (c_int, []),
    "br_operation": (c_int, [c_size_t, POINTER(br_operation_info)]),
    "br_discriminant_place": (c_uint64, [POINTER(br_discriminant), c_uint32, c_uint32, c_void_p]),
    "br_discriminant_work_bytes": (c_uint64, [c_uint32, c_uint32, c_uint32]),
    "br_discriminant_answer_bytes": (c_uint64, [c_uint32, c_uint32]),
    "br_discriminant_solve": (c_int, [POINTER(br_discriminant), c_void_p]),
    "br_discriminant_expect": (c_int, [POINTER(br_discriminant), c_void_p]),
    "br_discriminant_answer": (c_int, [POINTER(br_discriminant), c_void_p, c_uint64, POINTER(br_answers),
        c_void_p]),
    "br_sums_mahalanobis": (c_int, [POINTER(br_factor), c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "br_sums_mahalanobis_bytes": (c_uint64, [c_uint32]),
    "br_sums_ood": (c_int, [POINTER(br_sums), POINTER(br_solution), POINTER(br_factor), POINTER(br_sums_part),
        c_uint32, POINTER(br_shrinkage), c_void_p, POINTER(br_ood)]),
    "br_sums_ood_score": (c_int, [POINTER(br_solution), POINTER(br_factor), POINTER(br_ood), c_void_p, c_int64,
        c_void_p, c_void_p, c_void_p]),
    "br_ood_threshold": (c_int64, [POINTER(br_ood), c_uint32]),
    "br_learner_plan": (c_int, [c_void_p, c_size_t, POINTER(br_learner_options), POINTER(br_learner_memory),
        c_char_p, c_size_t]),
    "br_learner_open": (c_int, [c_void_p, c_size_t, POINTER(br_learner_options), c_void_p, c_size_t,
        POINTER(c_void_p), c_char_p, c_size_t]),
    "br_learner_memory_used": (None, [c_void_p, POINTER(br_learner_memory)]),
    "br_learner_clear": (None, [c_void_p]),
    "br_learner_strategy": (c_char_p, [c_void_p]),
    "br_learner_side": (c_uint32, [c_void_p]),
    "br_fit": (c_int, [POINTER(br_picture), c_uint32, c_void_p]),
    "br_learner_encoded_bytes": (c_uint32, [c_void_p]),
    "br_learner_encode": (c_int, [c_void_p, POINTER(br_picture), c_void_p]),
    "br_learner_begin": (c_int, [c_void_p]),
    "br_learner_add": (c_int, [c_void_p, POINTER(br_picture), POINTER(br_name)]),
    "br_learner_add_encoded": (c_int, [c_void_p, c_void_p, POINTER(br_name)]),
    "br_learner_step": (c_int, [c_void_p, POINTER(br_progress)]),
    "br_learner_end": (c_int, [c_void_p]),
    "br_learner_ready": (c_int, [c_void_p]),
    "br_learner_predict": (c_int, [c_void_p, POINTER(br_picture), POINTER(br_answer)]),
    "br_learner_predict_encoded": (c_int, [c_void_p, c_void_p, POINTER(br_answer)]),
    "br_learner_share": (c_uint32, [c_void_p]),
    "br_learner_unlearn": (c_int, [c_void_p, POINTER(br_picture), POINTER(br_name)]),
    "br_learner_unlearn_encoded": (c_int, [c_void_p, c_void_p, POINTER(br_name)]),
    "br_learner_forget": (c_int, [c_void_p, POINTER(br_name)]),
    "br_learner_forget_sample": (c_int, [c_void_p, c_int64]),
    "br_learner_rename": (c_int, [c_void_p, POINTER(br_name), POINTER(br_name)]),
    "br_learner_classes": (c_uint32, [c_void_p]),
    "br_learner_class": (c_int, [c_void_p, c_uint32, POINTER(br_name), c_void_p, c_void_p]),
    "br_learner_label": (c_int, [c_void_p, POINTER(br_name), c_void_p]),
    "br_learner_pictures": (c_int64, [c_void_p]),
    "br_learner_experiences": (c_int64, [c_void_p]),
    "br_learner_steps": (c_int64, [c_void_p]),
    "br_learner_hash": (c_int, [c_void_p, c_char_p]),
    "br_learner_state_bytes": (c_size_t, [c_void_p]),
    "br_learner_write": (c_int, [c_void_p, br_write, c_void_p]),
    "br_learner_read": (c_int, [c_void_p, br_read, c_void_p, c_size_t]),
    "br_learner_verify": (c_int, [c_void_p, br_read, c_void_p, c_size_t]),
    "br_learner_merge": (c_int, [c_void_p, br_read, c_void_p, c_size_t]),
    "br_learner_merge_since": (c_int, [c_void_p, br_read, c_void_p, c_size_t, br_read, c_void_p, c_size_t]),
    "br_learner_take_out": (c_int, [c_void_p, br_read, c_void_p, c_size_t]),
    "br_learner_take_out_since": (c_int, [c_void_p, br_read, c_void_p, c_size_t, br_read, c_void_p, c_size_t]),
    "br_learner_save": (c_int, [c_void_p, POINTER(br_slots)]),
    "br_learner_load": (c_int, [c_void_p, POINTER(br_slots)]),
    "br_learner_rollback": (c_int, [c_void_p, POINTER(br_slots)]),
    "br_reservoir_slot": (c_int64, [c_uint64, c_uint32, c_uint64, c_uint32, c_uint32]),
    "br_draw": (c_int, [c_uint64, c_uint64, c_uint32, c_uint32, c_void_p, c_void_p]),
    "br_epochs": (c_uint64, [c_uint64, c_uint32, c_uint32, c_uint32]),
    "br_replayed": (c_uint32, [c_uint32, c_uint32, c_uint32]),
    "br_epoch_order": (c_int, [c_uint64, c_uint64, c_uint64, c_uint32, c_void_p]),
    "br_consolidate": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_uint32]),
    "br_rate": (c_int, [c_char_p, c_size_t, c_int, c_uint64, c_uint64, c_void_p, c_void_p]),
    "br_state_sections": (c_int, [c_void_p, c_size_t, POINTER(br_section), c_uint32, c_void_p]),
    "br_state_lay_out": (c_int, [POINTER(br_section), c_uint32, c_uint64, c_void_p, c_void_p]),
    "br_mark": (c_uint64, [c_void_p, c_size_t, c_void_p, c_size_t]),
}
