"""docs/fleet.md's figures."""

from __future__ import annotations

from decimal import Decimal

from figures.committed import EXPERIMENTS, Row, format_number, rows, rows_where, single_row, table

PAGE = "docs/fleet.md"
NAMES = {"groceries": "groceries", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100, re-split"}


def messages() -> str:
    """Bytes that a device sends, beside other codes."""
    names = ("state", "varint", "zlib", "message", "message_lzma", "masked")
    lines = [
        [
            row["features"],
            row["pictures"],
            *(f"{int(row[name]):,}" for name in names),
            row["message_ms"],
            row["lzma_ms"],
        ]
        for row in rows(EXPERIMENTS / "fleet_bytes.csv")
    ]
    header = ["features", "pictures", "state file", "varints", "zlib of the file", "message",
              "the same by lzma", "masked", "ms", "ms by lzma"]  # fmt: skip
    return table(header, lines)


def simulations() -> str:
    """Flower's simulated devices."""
    lines = [
        [NAMES[row["data"]], row["devices"], "masked" if row["masked"] == "True" else "open", row["counted"],
         row["failed"], row["repeats"], f"{int(row['pictures']):,}", f"{int(row['bytes_a_device']):,}", row["seconds"],
         "yes" if row["same_hash"] == "True" else "no"]
        for row in rows(EXPERIMENTS / "fleet_simulation.csv")
    ]  # fmt: skip
    header = ["pictures of", "devices", "sums", "counted", "failed", "repeats", "pictures that came", "bytes a device",
              "s", "same hash"]  # fmt: skip
    return table(header, lines)


def processes() -> str:
    """A SuperLink and its SuperNodes."""
    lines = [
        [row["supernodes"], "masked" if row["masked"] == "True" else "open", row["killed"], row["damaging"],
         row["counted"], row["seconds"], "yes" if row["same_hash"] == "True" else "no"]
        for row in rows(EXPERIMENTS / "fleet_deployment.csv")
    ]  # fmt: skip
    return table(["SuperNodes", "sums", "killed", "damaging", "counted", "s", "same hash"], lines)


def merges() -> str:
    """Folders of states on two workers."""
    lines = [
        [row["features"], f"{int(row['states']):,}", "one" if row["killed"] == "True" else "", row["seconds"],
         row["cpu_ms_a_state"], row["most_worker_mb"], "yes" if row["same_hash"] == "True" else "no"]
        for row in rows(EXPERIMENTS / "fleet_merge.csv")
    ]  # fmt: skip
    header = ["features", "states", "workers killed", "s", "ms of CPU a state", "most MB of a worker", "same hash"]
    return table(header, lines)


def _whole(features: str) -> Row:
    found = rows_where(EXPERIMENTS / "fleet_merge.csv", features=features, killed="False")
    most = max(int(row["states"]) for row in found)
    return single_row([row for row in found if int(row["states"]) == most])


def core_hours(features: str) -> str:
    """Hours of one core to merge a million states: the time of two workers, whatever they did or waited for."""
    row = _whole(features)
    return format_number(2 * Decimal(row["seconds"]) / int(row["states"]) * 10**6 / 3600, 1)


def cpu_hours(features: str) -> str:
    """What the tasks alone compute in that."""
    return format_number(Decimal(_whole(features)["cpu_ms_a_state"]) * 10**6 / 1000 / 3600, 1)


def million_gigabytes(features: str) -> str:
    """What a million states weigh."""
    return format_number(Decimal(_whole(features)["state_bytes"]) * 10**6 / 10**9, 0)


def compared() -> str:
    """Merged sums beside FedAvg and FedProx."""
    lines = [
        [NAMES[row["data"]], row["features"], row["method"], row["rounds"], row["accuracy_1"], row["accuracy_5"],
         row["accuracy_20"], row["accuracy_50"], f"{int(row['bytes_sent']):,}", _chosen(row),
         "exact" if row["withdrawal"] == "exact" else "by training anew"]
        for row in rows(EXPERIMENTS / "fleet_fedavg.csv")
    ]  # fmt: skip
    header = ["", "features", "method", "rounds", "after 1 round", "5", "20", "50", "bytes a device sends", "chosen",
              "withdrawal"]  # fmt: skip
    return table(header, lines)


def _chosen(row: Row) -> str:
    if not row["rate"]:
        return "nothing to choose"
    mu = f", mu {row['mu']}" if row["method"] == "FedProx" else ""
    return f"rate {row['rate']}, {row['epochs']} local epochs{mu}"
