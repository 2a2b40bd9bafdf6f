"""bitreplay device PORT ACTION: teach and ask a learner on a board at a serial port, and bring its state over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay import statefile
from bitreplay.cli import options, show
from bitreplay.cli.reading import read_pictures
from bitreplay.device import Board, BoardError, SerialPort


def device(
    port: Annotated[str, typer.Argument(help="Serial port, such as /dev/ttyACM0.", show_default=False)],
    action: Annotated[
        str,
        typer.Argument(
            help="classes; teach NAME [PICTURES]; ask [PICTURES]; forget NAME; pull STATE; push STATE; save. Without "
            "pictures the board's camera takes one."
        ),
    ] = "classes",
    words: Annotated[list[str] | None, typer.Argument(help="What the action takes.", show_default=False)] = None,
    speed: Annotated[int, typer.Option(help="Bits per second of the line.")] = 115200,
    seconds: Annotated[float, typer.Option(help="How long the board may be silent.")] = 60,
    overwrite: Annotated[bool, typer.Option(help="Let pull replace another state.")] = False,
    save: Annotated[bool, typer.Option(help="Save on the board after teach, forget and push.")] = True,
    json: options.Json = False,
) -> None:
    """Teach and ask a learner on a board at a serial port, and bring its state to the desk and back."""
    run = ACTIONS.get(action)
    if run is None:
        raise ValueError(f"action must be one of {', '.join(ACTIONS)}, got {action!r}.")
    names = list(words or [])
    if action in ("teach", "forget", "pull", "push") and not names:
        raise ValueError(f"{action} needs {'a state file' if action.startswith('pu') else 'the name of a class'}.")
    if len(names) > {"teach": 10**6, "ask": 10**6, "forget": 1, "pull": 1, "push": 1}.get(action, 0):
        raise ValueError(f"{action} does not take {names[-1]!r}.")
    with SerialPort(port, speed) as line:
        board = Board(line, seconds)
        found, said = run(board, names, overwrite)
        if save and action in ("teach", "forget", "push") and board.saves:
            board.save()
    if json:
        show.as_json(found)
    else:
        show.say(*said)


def _pictures(board: Board, paths: list[str]) -> list[Any]:
    """Each as the network's square, which the board takes as it is; none: what its camera sees."""
    if not paths:
        return [(None, None)]
    read = read_pictures([Path(path) for path in paths], board.side, _refuse)
    return [(str(path), image[0]) for path, image in read]


def _refuse(error: ValueError) -> None:
    raise error


def _teach(board: Board, words: list[str], overwrite: bool) -> tuple[Any, list[str]]:
    name, *paths = words
    shown = _pictures(board, paths)
    for _, picture in shown:
        board.teach(name, picture)
    found = {"taught": len(shown), "classes": board.classes()}
    return found, [f"{len(shown)} picture{'s'[: len(shown) > 1]} of {name} taught.", *_lines(board.classes())]


def _ask(board: Board, words: list[str], overwrite: bool) -> tuple[Any, list[str]]:
    answers = [(path, board.ask(picture)) for path, picture in _pictures(board, words)]
    found = [{"picture": path, "label": a.name, "share": a.share, "unknown": a.unknown} for path, a in answers]
    titles = [f"{path}: " if path else "" for path, _ in answers]
    texts = [f"unknown, closest to {a.name}" if a.unknown else f"{a.name} ({a.share:.0%})" for _, a in answers]
    return found, [title + text for title, text in zip(titles, texts, strict=True)]


def _classes(board: Board, words: list[str], overwrite: bool) -> tuple[Any, list[str]]:
    found = board.classes()
    about = {"side": board.side, "camera": board.has_camera, "strategy": board.strategy, "hash": board.state_hash()}
    return about | {"classes": found}, _lines(found)


def _lines(classes: dict[str, int]) -> list[str]:
    return [f"{name}: {count} picture{'s'[: count != 1]}" for name, count in classes.items()] or [
        "It knows nothing yet."
    ]


def _forget(board: Board, words: list[str], overwrite: bool) -> tuple[Any, list[str]]:
    board.forget(words[0])
    return {"classes": board.classes()}, [f"Forgotten: {words[0]}.", *_lines(board.classes())]


def _pull(board: Board, words: list[str], overwrite: bool) -> tuple[Any, list[str]]:
    path, content = Path(words[0]), statefile.from_bytes(board.pull(), "The board's state")
    if content.state.hash() != board.state_hash():
        raise BoardError("The state that arrived has another hash than the board's.")
    statefile.save(path, content, statefile.Origin(), overwrite=overwrite)
    found = {"state": str(path), "hash": content.state.hash(), "model": content.model}
    return found, [f"{path} has what the board knows ({content.model}, {found['hash'][:16]}...)."]


def _push(board: Board, words: list[str], overwrite: bool) -> tuple[Any, list[str]]:
    content, _ = statefile.load(Path(words[0]))
    arrived = board.push(statefile.to_bytes(content))
    if arrived != content.state.hash():
        raise BoardError("The board's state has another hash than the one that was sent.")
    return {"hash": arrived, "classes": board.classes()}, [
        f"The board knows what {words[0]} does.",
        *_lines(board.classes()),
    ]


def _save(board: Board, words: list[str], overwrite: bool) -> tuple[Any, list[str]]:
    board.save()
    return {"saved": True}, ["Saved on the board."]


ACTIONS: dict[str, Callable[[Board, list[str], bool], tuple[Any, list[str]]]] = {
    "classes": _classes, "teach": _teach, "ask": _ask, "forget": _forget, "pull": _pull, "push": _push, "save": _save,
}  # fmt: skip
