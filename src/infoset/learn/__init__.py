"""Networks that learn by self-play (extra ``learn``)."""

from infoset.errors import MissingExtraError

try:
    import safetensors
    import torch
except ImportError as error:
    raise MissingExtraError("learning", "learn") from error

__all__ = ["safetensors", "torch"]
