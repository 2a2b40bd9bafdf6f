import pytest

from tests import tiny


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """The path of a tiny model file."""
    return tiny.model(tmp_path_factory.mktemp("model"))
