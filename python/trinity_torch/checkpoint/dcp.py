"""Folders of torch.distributed.checkpoint. PyTorch's own reader unpickles their index as it is, which runs what is in it."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .shards import bad

INDEX = ".metadata"
# what an index is made of; none of these does anything but hold values
_ALLOWED = {
    "torch.distributed.checkpoint.metadata": {
        "Metadata", "TensorStorageMetadata", "BytesStorageMetadata", "TensorProperties", "ChunkStorageMetadata",
        "MetadataIndex", "StorageMeta", "_MEM_FORMAT_ENCODING",
    },
    "torch.distributed.checkpoint.filesystem": {"_StorageInfo"},
    "torch.serialization": {"_get_layout"},
    "torch": {"Size", "float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool"},
    "pathlib": {"PosixPath", "PurePosixPath"},
    "pathlib._local": {"PosixPath", "PurePosixPath"},
    "collections": {"OrderedDict"},
}


class _Index(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name not in _ALLOWED.get(module, ()):
            raise pickle.UnpicklingError(f"{module}.{name} does not belong in an index")
        return super().find_class(module, name)


class Folder:
    """Tensors by name, in pieces that lie anywhere in the folder's files."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            import torch.distributed.checkpoint  # noqa: F401  (classes of the index)

            with open(os.path.join(path, INDEX), "rb") as file:
                index = _Index(file).load()
            self.tensors = dict(index.state_dict_metadata)
            self.places = {(at.fqn, tuple(at.offset or ())): at_file for at, at_file in index.storage_data.items()}
        except MemoryError:
            raise
        except Exception as error:  # a damaged or hostile file fails in any of a dozen ways
            raise bad(os.path.join(path, INDEX), f"cannot be read: {type(error).__name__}: {error}") from error

    def data(self, name: str, shape: torch.Size) -> Callable[[], Tensor]:
        """All pieces are read once here, so that reading them later does not fail."""
        try:
            about = self.tensors[name]
            chunks = [(tuple(chunk.offsets), tuple(chunk.sizes)) for chunk in about.chunks]
            found = torch.Size(about.size)
        except Exception as error:
            raise bad(self.path, f"there is no tensor '{name}'", "was it saved with the same model and head?") from error
        if found != shape:
            raise bad(self.path, f"'{name}' has the shape {list(found)}, the model wants {list(shape)}")
        covered = torch.zeros(shape, dtype=torch.bool)
        for offsets, sizes in chunks:
            here = tuple(slice(a, a + n) for a, n in zip(offsets, sizes))
            if len(here) != len(shape) or self._piece(name, offsets).shape != covered[here].shape:
                raise bad(self.path, f"a piece of '{name}' does not fit")
            covered[here] = True
        if not bool(covered.all()):
            raise bad(self.path, f"pieces of '{name}' are missing")

        def whole() -> Tensor:
            out = torch.empty(shape)
            for offsets, sizes in chunks:
                out[tuple(slice(a, a + n) for a, n in zip(offsets, sizes))] = self._piece(name, offsets).float()
            return out

        return whole

    def number(self, name: str) -> Any:
        return self._piece(name, ())

    def _piece(self, name: str, offsets: tuple[int, ...]) -> Tensor:
        try:
            place = self.places[name, offsets]
            file_name = os.path.basename(str(place.relative_path))
            with open(os.path.join(self.path, file_name), "rb") as file:
                file.seek(int(place.offset))
                content = file.read(int(place.length))
            piece = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
            if isinstance(piece, Tensor):
                return piece
        except MemoryError:
            raise
        except Exception as error:
            raise bad(self.path, f"'{name}' cannot be read: {type(error).__name__}: {error}") from error
        raise bad(self.path, f"'{name}' is not a tensor")
