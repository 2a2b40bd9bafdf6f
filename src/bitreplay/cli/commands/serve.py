"""bitreplay serve [STATE]: the page from this device, with the learner on the device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bitreplay.cli import options, show
from bitreplay.learner import Learner
from bitreplay.statefile import Lock

if TYPE_CHECKING:
    from bitreplay.serve.keys import Keys


def serve(
    state: Annotated[Path, typer.Argument(help="State file; begun if it does not exist.")] = Path("bitreplay.state"),
    model: options.ModelToBegin = None,
    size: options.Size = None,
    strategy: options.Strategy = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at. Another than this machine's own needs the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8421,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Name that browsers call this machine by; may be repeated.", show_default="its own"),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File of the token, made if it does not exist.", show_default="a new token each time"),
    ] = None,
    cert: Annotated[Path | None, typer.Option(help="Certificate (PEM), for https.")] = None,
    key: Annotated[Path | None, typer.Option(help="The certificate's key (PEM).")] = None,
) -> None:
    """Serve the page, with the learner on this machine and several people looking."""
    if (cert is None) != (key is None):
        raise ValueError("A certificate needs its key: give both --cert and --key.")
    try:
        from bitreplay.serve.keys import Keys, token_of
        from bitreplay.serve.running import Place, Served
    except ModuleNotFoundError as error:
        raise ValueError(f"This command needs {error.name}: pip install 'bitreplay[web]'.") from None
    named = options.given(strategy=strategy, size=size)
    with Lock(state) as lock:
        if state.exists():
            if named:
                raise ValueError(f"{state} exists, and its settings stay: leave out {', '.join(named)}.")
            learner = Learner.load(state, model)
        else:
            learner = Learner.from_pretrained(model or options.DEFAULT_MODEL, **named)
        place = Place(host, port, tuple(name or ()), cert, key)
        token, made, keys = "", False, None
        if place.for_others or token_file is not None:
            token, made = token_of(token_file)
            keys = Keys(token)
        served = Served(learner, state, lock, place, keys)
        _tell(served.address, keys, token if made else "", place.for_others and cert is None)
        if place.on_all_interfaces and not place.names:
            show.remark(f"Where {place.called} is not found, the machine's number in its place will do.")
        served.run()
    show.remark("The server has ended.")


def _tell(address: str, keys: Keys | None, token: str, plain: bool) -> None:
    """Where it is, and what is needed to look. The token is said once, when it is made."""
    opens = f"{address} (Ctrl-C ends it)" if keys is None else f"{address}enter?key={keys.link()} opens it once."
    show.text(f"{opens}\n")  # in one line, so that it can be copied
    if token:
        show.say(f"Token, said this once: {token}")
    if plain:
        show.remark(
            "Without --cert, what is sent can be read on the way, and phones give no camera: see docs/serve.md."
        )
