"""bitreplay serve [STATE]: serve the page from this device, where the learner runs."""

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
    state: Annotated[Path, typer.Argument(help="State file; created if it does not exist.")] = Path("bitreplay.state"),
    model: options.ModelToBegin = None,
    size: options.Size = None,
    strategy: options.Strategy = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but this machine's own requires the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any free one.")] = 8421,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Name by which browsers reach this machine; may be repeated.", show_default="its own"),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File of the token; created if it does not exist.", show_default="a new token each time"),
    ] = None,
    cert: Annotated[Path | None, typer.Option(help="Certificate (PEM), for https.")] = None,
    key: Annotated[Path | None, typer.Option(help="The certificate's key (PEM).")] = None,
) -> None:
    """Serve the page to browsers, with one learner on this machine for all of them."""
    if (cert is None) != (key is None):
        raise ValueError("--cert and --key belong together: give both.")
    try:
        from bitreplay.serve.keys import Keys, load_token
        from bitreplay.serve.server import Endpoint, LearnerServer
    except ModuleNotFoundError as error:
        raise ValueError(f"This command needs {error.name}: pip install 'bitreplay[web]'.") from None
    settings = options.settings_in(locals())
    with Lock(state) as lock:
        if state.exists():
            if settings:
                raise ValueError(
                    f"{state} exists, and its settings cannot be changed: leave out {', '.join(settings)}."
                )
            learner = Learner.load(state, model)
        else:
            learner = Learner.from_pretrained(model or options.DEFAULT_MODEL, **settings)
        endpoint = Endpoint(host, port, tuple(name or ()), cert, key)
        token, token_is_new, keys = "", False, None
        if endpoint.is_public or token_file is not None:
            token, token_is_new = load_token(token_file)
            keys = Keys(token)
        served = LearnerServer(learner, state, lock, endpoint, keys)
        _print_result(served.address, keys, token if token_is_new else "", endpoint.is_public and cert is None)
        if endpoint.is_wildcard and not endpoint.names:
            show.note(f"If {endpoint.public_name} is not found, use the machine's IP address instead.")
        served.run()
    show.note("The server has stopped.")


def _print_result(address: str, keys: Keys | None, token: str, plain: bool) -> None:
    """Prints the address and what is needed to open it. A new token is printed once."""
    link = f"{address} (Ctrl-C stops)" if keys is None else f"{address}enter?key={keys.link()} opens it once."
    show.text(f"{link}\n")  # on one line, so that it can be copied
    if token:
        show.say(f"Token, printed only this once: {token}")
    if plain:
        show.note(
            "Without --cert the connection is not encrypted, and phones do not allow the camera: see docs/serve.md."
        )
