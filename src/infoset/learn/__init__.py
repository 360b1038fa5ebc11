"""Networks that learn to play by playing against themselves (extra ``learn``)."""

from infoset.errors import MissingExtraError

try:
    import safetensors
    import torch
except ImportError as error:
    raise MissingExtraError("learning", "learn") from error

__all__ = ["safetensors", "torch"]
