"""Many files of 4 KB, and the same bytes in one file: what a file costs beyond its bytes."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from zlib import crc32

import numpy as np

from mlhpc.bench.scratch import SharedFolder
from mlhpc.records.schema import Gate

FILE_BYTES = 4096


class SmallFiles(SharedFolder):
    """``count`` files of ``FILE_BYTES`` seeded random bytes, and one file that holds them all."""

    def __init__(self, count: int, *, seed: int) -> None:
        super().__init__()
        self.count = count
        self.seed = seed
        self.checksum = 0
        """CRC-32 of all bytes in order, once the folder is open."""

    @property
    def many(self) -> Sequence[Path]:
        """The small files, 1,000 to a folder: file systems slow down in very large ones."""
        return [
            self.folder / f"{number // 1000:03d}" / f"{number % 1000:03d}.bin" for number in range(self.count)
        ]

    @property
    def one(self) -> Path:
        """The one large file."""
        return self.folder / "all.bin"

    def _fill(self) -> None:
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(0, 2)))
        with self.one.open("wb") as together:
            for path in self.many:
                data = generator.bytes(FILE_BYTES)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(data)
                together.write(data)
                self.checksum = crc32(data, self.checksum)


def read_many(paths: Sequence[Path]) -> list[bytes]:
    """Return the content of each file."""
    return [path.read_bytes() for path in paths]


def read_one(path: Path) -> list[bytes]:
    """Return the content of the one file in pieces of ``FILE_BYTES``."""
    with path.open("rb") as stream:
        return list(iter(lambda: stream.read(FILE_BYTES), b""))


class SmallFileReader:
    """Reads all bytes, from many files or from one."""

    item = "files"

    def __init__(self, store: SmallFiles, *, many: bool) -> None:
        self._store = store
        self._many = many
        self._read: Callable[[], list[bytes]] = list
        self.items = store.count

    def open(self) -> None:
        """Make the files, unless another reader has."""
        self._store.open()
        store = self._store
        self._read = partial(read_many, store.many) if self._many else partial(read_one, store.one)

    def close(self) -> None:
        """Give the files back."""
        self._store.close()

    def paths(self) -> Sequence[Path]:
        """Return the files that one pass reads."""
        return self._store.many if self._many else [self._store.one]

    def read(self) -> None:
        """Make one pass over all bytes."""
        self._read()

    def gates(self) -> Sequence[Gate]:
        """Compare the bytes of one pass with those that were written."""
        found = self._read()
        wrong = abs(self._store.count - len(found)) + (crc32(b"".join(found)) != self._store.checksum)
        return [
            Gate(
                name="missing files, and wrong checksum of all bytes", value=wrong, limit=0, passed=wrong == 0
            )
        ]
