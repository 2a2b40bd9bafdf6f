"""How long the page takes from files that are given to what it shows, by the browser's own clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# From the moment that a place gets files to the one that a text, or a value of its data, is another one: milliseconds.
CLOCK = """([selector, place, name]) => {
  const seen = document.getElementById(place);
  const now = () => (name ? seen.dataset[name] : seen.textContent);
  const before = now();
  window.took = new Promise((done) =>
    document.querySelector(selector).addEventListener("change", () => {
      const start = performance.now();
      const look = () => now() !== before && done(performance.now() - start);
      new MutationObserver(look).observe(seen, { attributes: true, childList: true, subtree: true });
    }, { capture: true, once: true }));
}"""


def took(own: Any, selector: str, place: str, name: str, give: Callable[[], object]) -> float:
    """`give` gives files to the input at `selector`; the change is one of the element `place`, of its data `name`."""
    own.evaluate(CLOCK, [selector, place, name])
    give()
    return own.evaluate("window.took")
