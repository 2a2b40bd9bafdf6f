"""One masked round over Flower's grid: the four steps of fleet/masking/, and who dropped out before which."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.adapters.flower.questions import Questions
from bitreplay.fleet.gathering import REFUSED, Verdict
from bitreplay.fleet.masking.server import MaskedRound
from bitreplay.fleet.masking.terms import Terms


class MaskedSteps:
    """`nodes` are the names of those that are ready, as many as the terms say; `verdicts` says why one dropped out."""

    def __init__(self, questions: Questions, nodes: Mapping[int, str], terms: Terms) -> None:
        self._questions, self._round, self._terms = questions, MaskedRound(terms), terms
        self._ring, self._name = list(nodes), dict(nodes)
        random.SystemRandom().shuffle(self._ring)
        self._place = {node: place for place, node in enumerate(self._ring)}
        self.verdicts: list[Verdict] = []

    def run(self) -> NDArray[np.int64]:
        """The sum of the vectors that came. ValueError if too few did."""
        play, place = self._round, self._place
        joined = self._ask("join", {node: {"terms": self._terms.to_json()} for node in self._ring})
        play.joined({place[node]: (answer["keys"][0], answer["keys"][1]) for node, answer in joined.items()})
        told = {node: {"place": place[node]} | _flat(play.keys_for(place[node])) for node in joined}
        shared = self._ask("shares", told)
        for node, answer in shared.items():
            play.shared(place[node], dict(zip(answer["places"], answer["shares"], strict=True)))
        passed = {node: play.shares_for(place[node]) for node in shared}
        vectors = self._ask("masked", {node: {"places": list(got), "shares": list(got.values())}
                                       for node, got in passed.items()})  # fmt: skip
        for node, answer in vectors.items():
            vector = bytes(answer["vector"])
            if hashlib.sha256(vector).digest() == answer["sha256"]:
                play.came(place[node], vector)
            else:
                self._dropped(node, "Its vector was damaged on its way.")
        last = {node: dict(zip(("survivors", "dropped"), play.to_unmask(place[node]), strict=True)) for node in vectors}
        for node, answer in self._ask("unmask", last).items():
            play.unmasked(place[node], dict(zip(answer["seed_places"], answer["seeds"], strict=True)),
                          dict(zip(answer["key_places"], answer["keys"], strict=True)))  # fmt: skip
        try:
            return play.total()
        except ValueError as error:
            first = next((f" {said.device} said: {said.reason}" for said in self.verdicts), "")
            raise ValueError(f"{error}{first}") from None

    @property
    def came(self) -> list[int]:
        """Nodes that are in the sum."""
        return [self._ring[place] for place in self._round.survivors]

    def _ask(self, action: str, asked: dict[int, Any]) -> dict[int, Any]:
        """Answers of one step; whoever does not answer in time, or refuses, has dropped out."""
        answers = self._questions.ask(action, asked)
        self._questions.forget()
        for node in asked:
            if node not in answers:
                self._dropped(node, f"It dropped out before the step {action}.")
            elif "refused" in answers[node]:
                self._dropped(node, str(answers[node]["refused"]))
        return {node: answer for node, answer in answers.items() if "refused" not in answer}

    def _dropped(self, node: int, reason: str) -> None:
        self.verdicts.append(Verdict(self._name[node], REFUSED, 0, reason))


def _flat(keys: dict[int, tuple[bytes, bytes]]) -> dict[str, list[Any]]:
    return {"places": list(keys), "keys": [key for pair in keys.values() for key in pair]}
