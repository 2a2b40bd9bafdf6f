"""The site: `make docs` builds it into build/docs; a warning is an error. Pages are MyST Markdown, themed by Furo;
tutorials are notebooks, executed while it is built, each in an empty folder."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

import bitreplay  # noqa: E402

project, author, copyright = "bitreplay", "the authors of bitreplay", "the authors of bitreplay, Apache-2.0"
version = release = bitreplay.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["plots", "law"]
html_theme, html_title = "furo", f"bitreplay {release}"
html_show_sphinx = False
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4

nb_execution_mode = "force"
nb_execution_in_temp = nb_execution_raise_on_error = nb_merge_streams = True
nb_execution_timeout = 300

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = False
napoleon_use_ivar = True


def as_rst(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text. Blocks that are set out in columns stay as they are, the rest flows as paragraphs.

    Napoleon has turned the sections that follow (Parameters, Returns, ...) into fields already.
    """
    end = next((number for number, line in enumerate(lines) if re.match(r":\w+[^:]*:|\.\. \w+::", line)), len(lines))
    sections = [line if line.lstrip().startswith((">>>", "...")) else escaped(line) for line in lines[end:]]
    blocks = re.split(r"\n\s*\n", "\n".join(lines[:end]).strip("\n"))
    paragraphs = []
    for block in blocks:
        rows = block.split("\n")
        if rows[0].lstrip().startswith(">>>"):
            paragraphs.append(block)
        elif any(re.search(r"\S {2,}\S|^ ", row) for row in rows):
            paragraphs.append("::\n\n" + "\n".join(f"    {row}" for row in rows))
        else:
            paragraphs.append(escaped(block))
    lines[:] = "\n\n".join(paragraphs).split("\n") + [""] + sections + [""]


def escaped(text: str) -> str:
    """Backticks are code; stars and bars are themselves."""
    return re.sub(r"(?<!\\)([*|])", r"\\\1", re.sub(r"`([^`]+)`", r"``\1``", text))


def places(app: object, name: str, source: list[str]) -> None:
    """Of the pages that index.md names, those that exist; pages that it does not name come last."""
    if name != "index":
        return
    docs = Path(__file__).parent
    there = {
        page.relative_to(docs).with_suffix("").as_posix()
        for kind in ("md", "ipynb")
        for page in docs.rglob(f"*.{kind}")
    }
    lines = source[0].split("\n")
    named = {line for line in lines if line in there}
    lines = [line for line in lines if line in there or not re.fullmatch(r"[a-z0-9/-]+", line)]
    source[0] = "\n".join(lines).replace("FURTHER", "\n".join(sorted(there - named - {"index"})))


def paths(app: object, place: Path, name: str, content: list[str]) -> None:
    """Links of pages that lie elsewhere in the repository and are included here."""
    pages = {
        "core/README.md": "core",
        "js/README.md": "javascript",
        "ARCHITECTURE.md": "architecture",
        "CONTRIBUTING.md": "contributing",
    }
    for path, page in pages.items():
        content[0] = content[0].replace(f"]({path})", f"](docs/{page}.md)")


def setup(app: object) -> None:
    app.connect("include-read", paths)  # type: ignore[attr-defined]
    app.connect("source-read", places)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", as_rst)  # type: ignore[attr-defined]
