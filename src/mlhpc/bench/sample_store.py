"""The same samples in three layouts: one file each, one tar file, one Parquet file."""

import ctypes
import io
import os
import tarfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args
from zlib import crc32

import numpy as np

from mlhpc.bench.case import CaseUnavailable
from mlhpc.bench.scratch import SharedFolder
from mlhpc.records.schema import Gate

Layout = Literal["files", "tar", "parquet"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
SAMPLE_BYTES = 4096
"""Size of a sample: that of a small image, and of one block of most file systems."""
_FILES_IN_A_FOLDER = 1000


class Samples:
    """``count`` samples of ``SAMPLE_BYTES`` seeded random bytes, made at the first use."""

    def __init__(self, count: int, *, seed: int) -> None:
        self.count = count
        self._seed = seed

    @cached_property
    def data(self) -> Sequence[bytes]:
        """The bytes of each sample."""
        generator = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(0, 3)))
        return [generator.bytes(SAMPLE_BYTES) for _ in range(self.count)]

    def gate(self, found: Sequence[bytes]) -> Gate:
        """Return the check that ``found`` are these samples in their order."""
        wrong = abs(self.count - len(found)) + (_checksum(found) != _checksum(self.data))
        return Gate(
            name="missing samples, and wrong checksum of all bytes", value=wrong, limit=0, passed=wrong == 0
        )


def _checksum(samples: Sequence[bytes]) -> int:
    checksum = 0
    for sample in samples:
        checksum = crc32(sample, checksum)
    return checksum


class SampleStore(SharedFolder):
    """The samples in one layout, in a temporary folder inside ``parent``."""

    def __init__(self, samples: Samples, layout: Layout, parent: Path) -> None:
        super().__init__(parent)
        self.samples = samples
        self.layout = layout

    def paths(self) -> Sequence[Path]:
        """Return the files that hold the samples."""
        return sample_paths(self.folder, self.layout, self.samples.count)

    def read(self) -> list[bytes]:
        """Return all samples in their order."""
        return read_samples(self.folder, self.layout, self.samples.count)

    def _fill(self) -> None:
        write_samples(self.folder, self.layout, self.samples.data)


class EmptyStore(SharedFolder):
    """A temporary folder inside ``parent`` to write into."""

    def _fill(self) -> None:
        """Leave it empty."""


def require_layout(layout: Layout) -> None:
    """Say so where a layout needs a package that is missing.

    Raises:
        CaseUnavailable: naming the package.
    """
    if layout != "parquet":
        return
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise CaseUnavailable("Parquet files need the package pyarrow, which is not installed.") from error
    del pyarrow


def sample_paths(folder: Path, layout: Layout, count: int) -> Sequence[Path]:
    """Return the files that hold ``count`` samples, in the order in which they are read."""
    if layout != "files":
        return [folder / f"samples.{layout}"]
    # File systems slow down in very large folders.
    places = (divmod(number, _FILES_IN_A_FOLDER) for number in range(count))
    return [folder / "files" / f"{outer:03d}" / f"{inner:03d}.bin" for outer, inner in places]


def write_samples(folder: Path, layout: Layout, samples: Sequence[bytes]) -> None:
    """Write the samples in one layout into an existing folder.

    Raises:
        OSError: if the file system takes no more.
    """
    paths = sample_paths(folder, layout, len(samples))
    if layout == "files":
        for path, sample in zip(paths, samples, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(sample)
    elif layout == "tar":
        with tarfile.open(paths[0], "w") as archive:
            for number, sample in enumerate(samples):
                member = tarfile.TarInfo(f"{number:06d}.bin")
                member.size = len(sample)
                archive.addfile(member, io.BytesIO(sample))
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"sample": pa.array(samples, pa.binary())})
        # Random bytes neither compress nor repeat: trying to would time the trying.
        pq.write_table(table, paths[0], compression="none", use_dictionary=False)


def read_samples(folder: Path, layout: Layout, count: int) -> list[bytes]:
    """Return the samples of one layout in their order, read by one thread.

    Raises:
        OSError: if a file is missing or cannot be read.
    """
    paths = sample_paths(folder, layout, count)
    if layout == "files":
        return [path.read_bytes() for path in paths]
    if layout == "tar":
        # As a stream, so that no index of the members is built first.
        with tarfile.open(paths[0], "r|") as archive:
            members = (archive.extractfile(member) for member in archive)
            return [stream.read() for stream in members if stream is not None]
    import pyarrow.parquet as pq

    with paths[0].open("rb") as stream:
        column = pq.read_table(stream, columns=["sample"], use_threads=False)["sample"]
    samples: list[bytes] = column.to_pylist()
    return samples


def flush(folder: Path) -> None:
    """Wait until the file system of ``folder`` has taken over all that was written to it (``man 2 syncfs``).

    Raises:
        OSError: if it could not.
    """
    function = ctypes.CDLL(None, use_errno=True).syncfs
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if function(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(descriptor)
