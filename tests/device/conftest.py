from tests.cli.conftest import shell  # noqa: F401  the command line, as its own tests run it
