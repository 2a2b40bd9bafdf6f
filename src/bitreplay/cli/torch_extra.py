"""Some commands need PyTorch, an extra: `pip install 'bitreplay[torch]'`."""

from __future__ import annotations


def need_torch() -> None:
    try:
        import bitreplay.torch.models as _models
    except ModuleNotFoundError as error:
        raise ValueError(f"This command needs {error.name}: pip install 'bitreplay[torch]'.") from None
    del _models
