"""Gains of the learning rate chosen on held-out training pictures; tuning.py has the runs that they were chosen by."""

# (data, model, strategy, scenario, epochs) -> gain; all others are best, or were left, at the strategy's own
GAINS: dict[tuple[str, str, str, str, int], str] = {
    ("cifar10", "react18", "frozen-tail", "nc", 5): "160",
    ("cifar10", "react18", "cwr", "nc", 5): "10",
    ("cifar10", "bireal18", "replay", "nc", 5): "80",
    ("cifar10", "bireal18", "frozen-tail", "nc", 5): "80",
    ("cifar10", "bireal18", "cwr", "nc", 5): "10",
    ("cifar10", "bireal18", "joint", "nc", 5): "10",
    ("cifar10", "bireal18", "joint", "nc", 20): "10",
    ("cifar100", "react18", "frozen-tail", "nc", 5): "640",
    ("cifar100", "react18", "cwr", "nc", 5): "30",
    ("cifar100", "react18", "joint", "nc", 5): "20",
    ("cifar100", "bireal18", "replay", "nc", 5): "160",
    ("cifar100", "bireal18", "frozen-tail", "nc", 5): "160",
    ("cifar100", "bireal18", "cwr", "nc", 5): "30",
    ("sessions", "quicknet", "cwr", "nc", 5): "10",
    ("sessions", "quicknet_large", "cwr", "nc", 5): "10",
}
# (model, replay layer) -> gain of replay behind one that is not the last
LEVEL_GAINS: dict[tuple[str, str], str | None] = {("react18", "add_11"): "20"}
# (model, bits) -> powers of two by which latent weights move faster
LATENT_GAINS: dict[tuple[str, str], int] = {
    ("react18", "8/8/16"): 0,
    ("react18", "8/4/16"): 0,
    ("bireal18", "8/8/16"): 0,
    ("bireal18", "8/4/16"): -2,
    ("react18", "8/8/16, magnitude"): 0,  # not tried: trained without that term
    ("bireal18", "8/8/16, magnitude"): 0,
    ("react18", "flips"): -2,
    ("bireal18", "flips"): -6,
    ("trial", "8/8/16"): -2,
    ("trial", "8/4/16"): 0,
}
