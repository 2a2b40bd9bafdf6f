"""Identifiers that were retired, and what replaced them. A name that is retired later gets a line here.

0.3 renamed everything at once (CHANGELOG.md). Names inside state and model files are not retired: files keep them.
"""

# Definitions, names, attributes, arguments and imported modules in Python
PYTHON = {
    "Album": "PictureStore",
    "DecodeLevel": "DecodeLatents",
    "Desk": "LearnerService",
    "EncodeLevel": "EncodeLatents",
    "LevelCode": "LatentCode",
    "Misfit": "InvalidNodeError",
    "Patience": "TimeoutProtocol",
    "Pupil": "Student",
    "Tally": "ClassStatistics",
    "Unseen": "OodModel",
    "available_paths": "available_isas",
    "built_paths": "built_isas",
    "code_bits": "latent_bits",
    "decode_level": "decode_latents",
    "encode_level": "encode_latents",
    "evaluate_latents": "evaluate_encoded",
    "learn_latents": "learn_encoded",
    "least_steps": "min_steps",
    "level_code": "latent_code",
    "predict_latents": "predict_encoded",
    "predict_proba_latents": "predict_proba_encoded",
    "pupil_of": "make_student",
    "set_path": "set_isa",
    "strangeness": "ood_score",
    "usual_numbers": "default_feature_layers",
}

# Fields of Settings, and keywords of calls that take settings. As other names they are good words.
SETTINGS = {
    "code_bits": "latent_bits",
    "least_steps": "min_steps",
    "level": "replay_layer",
    "micro": "micro_batch_size",
    "new": "batch_size",
    "numbers": "feature_layers or n_components",
    "per_class": "memory_per_class",
    "rate": "learning_rate",
    "replayed": "replay_batch_size",
}
TAKE_SETTINGS = {"Settings", "changed", "from_pretrained", "load"}

# Pages that describe files, which keep these names
IN_FILES = {"docs/old-state-formats.md": {"code_bits", "least_steps"}}

# Members of public classes and modules
MEMBERS = {
    "bitreplay.data.named": {"named": "load_dataset"},
    "bitreplay.engine.native": {"path": "isa"},
    "bitreplay.Learner": {"latents": "encode"},
    "bitreplay.Settings": {"to_json": "to_dict"},
    "bitreplay.parts.part": {"Given": "PartState", "Plain": "ArrayState"},
    "bitreplay.parts.part.Part": {"give": "state_dict", "take": "load_state_dict"},
    "bitreplay.strategies.strategy": {"Ground": "StrategyContext"},
    "bitreplay.strategies.strategy.Strategy": {"take": "load_state"},
}

OPTIONS = {
    "--code-bits": "--latent-bits",
    "--least-steps": "--min-steps",
    "--level": "--replay-layer",
    "--micro": "--micro-batch-size",
    "--new": "--batch-size",
    "--numbers": "--feature-layers or --n-components",
    "--per-class": "--memory-per-class",
    "--rate": "--learning-rate",
    "--replayed": "--replay-batch-size",
}

# Symbols and macros in C and C++, and in JavaScript, which calls them
C = {
    "BITREPLAY_UNSEEN_H": "BITREPLAY_DISCRIMINANT_H",
    "BR_TAKEN_NAME": "BR_NAME_TAKEN",
    "BR_UNKNOWN_PATH": "BR_UNKNOWN_ISA",
    "br_learn_add_numbers": "br_learn_add_features",
    "br_learner_numbers": "br_learner_features",
    "br_learner_taken": "br_learner_memory_used",
    "br_numbers_of": "br_learner_extract",
    "br_path": "br_isa",
    "br_path_supported": "br_isa_supported",
    "br_paths": "br_isas",
    "br_predict_numbers": "br_predict_features",
    "br_program_derived_bytes": "br_program_packed_weights_bytes",
    "br_program_helpers": "br_program_workers",
    "br_program_path": "br_program_isa",
    "br_replay_add_code": "br_replay_add_latent",
    "br_replay_code_of": "br_replay_latent",
    "br_replay_code_words": "br_replay_latent_words",
    "br_replay_predict_code": "br_replay_predict_latent",
    "br_replay_taken": "br_replay_memory_used",
    "br_reservoir_place": "br_reservoir_slot",
    "br_serve": "br_worker_run",
    "br_set_path": "br_set_isa",
    "br_sums_lengths": "br_sums_mahalanobis",
    "br_sums_lengths_bytes": "br_sums_mahalanobis_bytes",
    "br_sums_solve_factor": "br_discriminant_solve",
    "br_sums_strangeness": "br_sums_ood_score",
    "br_sums_unseen": "br_sums_ood",
    "br_unlearn_numbers": "br_unlearn_features",
    "br_unseen": "br_ood",
    "br_unseen_limit": "br_ood_threshold",
}
C_FIELDS = {
    "br_learner_options": {"texts": "settings_bytes"},
    "br_memory": {"derived": "packed_weights"},
    "br_replay_options": {"texts": "settings_bytes"},
}

JAVASCRIPT = {
    "Caller": "BaseLearner",
    "RemoteTeacher": "RemoteWorkerClient",
    "Teacher": "WorkerClient",
    "codeOf": "encode",
    "hasVectors": "hasSimd",
    "namesOf": "predictNames",
    "numbersOf": "encode",
    "predictCode": "predictLatent",
    "predictNumbers": "predictFeatures",
    "setPath": "setIsa",
}

ENVIRONMENT = {"BITREPLAY_PATH": "BITREPLAY_ISA"}

FILES = {
    "benchmarks/micro.py": "benchmarks/micro_batches.py",
    "core/embedded/crew.cc": "core/embedded/thread_pool.cc",
    "core/include/bitreplay_ood.h": "core/include/bitreplay_discriminant.h",
    "core/include/bitreplay_unseen.h": "core/include/bitreplay_discriminant.h",
    "core/src/machine/crew.cc": "core/src/machine/thread_pool.cc",
    "core/src/machine/crew.h": "core/src/machine/thread_pool.h",
    "core/src/operations/level_code.cc": "core/src/operations/latent_code.cc",
    "core/src/sums/strangeness.cc": "core/src/sums/ood_score.cc",
    "core/src/sums/unseen.cc": "core/src/sums/ood.cc",
    "docs/law/unseen.json": "docs/law/ood.json",
    "experiments/figures/shown.py": "experiments/figures/shared.py",
    "experiments/levels.py": "experiments/replay_layers.py",
    "js/caller.js": "js/base_learner.js",
    "page/by_replay.js": "page/replay_strategy.js",
    "page/by_sums.js": "page/exact_strategy.js",
    "page/teacher.js": "page/worker_client.js",
    "page/tested.js": "page/evaluation.js",
    "src/bitreplay/bench/__init__.py": "benchmarks/bench/__init__.py",
    "src/bitreplay/cli/answering.py": "src/bitreplay/cli/predicting.py",
    "src/bitreplay/cli/answers.py": "src/bitreplay/cli/predictions.py",
    "src/bitreplay/cli/commands/bench.py": "benchmarks/bench/__main__.py",
    "src/bitreplay/cli/everywhere.py": "src/bitreplay/cli/common_options.py",
    "src/bitreplay/cli/short.py": "src/bitreplay/cli/fast_predict.py",
    "src/bitreplay/data/pictures/given.py": "src/bitreplay/data/pictures/inputs.py",
    "src/bitreplay/engine/layers/level_code.py": "src/bitreplay/engine/layers/latent_code.py",
    "src/bitreplay/engine/lengths.py": "src/bitreplay/engine/mahalanobis.py",
    "src/bitreplay/engine/unseen.py": "src/bitreplay/engine/ood.py",
    "src/bitreplay/parts/tally.py": "src/bitreplay/parts/class_statistics.py",
    "src/bitreplay/serve/album.py": "src/bitreplay/serve/picture_store.py",
    "src/bitreplay/serve/answering.py": "src/bitreplay/serve/prediction_queue.py",
    "src/bitreplay/serve/desk.py": "src/bitreplay/serve/learner_service.py",
    "src/bitreplay/serve/patience.py": "src/bitreplay/serve/timeout_protocol.py",
    "src/bitreplay/serve/running.py": "src/bitreplay/serve/server.py",
    "src/bitreplay/serve/seeing.py": "src/bitreplay/serve/view.py",
    "src/bitreplay/statefile/beside.py": "src/bitreplay/statefile/atomic_write.py",
    "src/bitreplay/statefile/generations.py": "src/bitreplay/statefile/revisions.py",
    "src/bitreplay/table1.py": "experiments/table1_counts.py",
    "src/bitreplay/torch/convert/level_code.py": "src/bitreplay/torch/convert/latent_code.py",
    "src/bitreplay/torch/distillation/loop.py": "src/bitreplay/torch/distillation/distillation_loop.py",
    "src/bitreplay/torch/distillation/options.py": "src/bitreplay/torch/distillation/distillation_options.py",
    "src/bitreplay/torch/distillation/pupil.py": "src/bitreplay/torch/distillation/student.py",
    "src/bitreplay/torch/distillation/recipe.py": "src/bitreplay/torch/distillation/distillation_recipe.py",
    "src/bitreplay/torch/pretraining/keeping.py": "src/bitreplay/torch/pretraining/best_weights.py",
    "src/bitreplay/torch/pretraining/lessons.py": "src/bitreplay/torch/pretraining/training_data.py",
    "src/bitreplay/torch/pretraining/loop.py": "src/bitreplay/torch/pretraining/pretraining_loop.py",
    "src/bitreplay/torch/pretraining/pupil.py": "src/bitreplay/torch/pretraining/trainer.py",
    "page/fit.js": "js/fit.js",
}
