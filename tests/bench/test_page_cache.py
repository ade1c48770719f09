import mmap
import os
from pathlib import Path

import pytest

from mlhpc.bench.case import CaseUnavailable
from mlhpc.bench.page_cache import OWN_CACHE, make_cold, read_all, resident_share
from mlhpc.bench.scratch import filesystem_kind

PAGES = 256


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Files whose pages are in the cache and not yet on disk."""
    if filesystem_kind(tmp_path) in OWN_CACHE:
        pytest.skip(f"the temporary folder is on {filesystem_kind(tmp_path)}, which cannot be evicted")
    made = [tmp_path / "a", tmp_path / "b"]
    for path in made:
        path.write_bytes(os.urandom(PAGES * mmap.PAGESIZE // 2 - 1))
    return made


def test_written_files_are_resident_then_cold_then_warm_again(files: list[Path]) -> None:
    assert resident_share(files) == 1.0
    make_cold(files, "ext4")
    assert resident_share(files) <= 0.01
    read_all(files)
    assert resident_share(files) == 1.0


def test_a_part_that_was_read_counts_as_a_part(files: list[Path]) -> None:
    make_cold(files, "ext4")
    descriptor = os.open(files[0], os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)  # no reading ahead
    os.pread(descriptor, 1, 0)
    os.pread(descriptor, 1, 50 * mmap.PAGESIZE)
    os.close(descriptor)
    assert 2 / PAGES <= resident_share(files) < 0.5


def test_a_file_held_by_a_live_memory_map_is_not_called_cold(files: list[Path]) -> None:
    with files[0].open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapping:
        assert sum(mapping[:: mmap.PAGESIZE]) >= 0  # touches each page
        with pytest.raises(CaseUnavailable, match="stayed in memory"):
            make_cold(files, "ext4")
    make_cold(files, "ext4")


def test_the_check_itself_leaves_no_mapping_behind(files: list[Path]) -> None:
    for _ in range(3):
        resident_share(files)
    assert str(files[0]) not in Path("/proc/self/maps").read_text()
    make_cold(files, "ext4")


@pytest.mark.parametrize("kind", ["tmpfs", "zfs", "gpfs"])
def test_file_systems_with_a_cache_of_their_own_are_refused(kind: str, files: list[Path]) -> None:
    with pytest.raises(CaseUnavailable, match=f"No cold read on {kind}.*MLHPC_DATA"):
        make_cold(files, kind)


def test_a_file_in_memory_is_found_out_even_where_its_file_system_is_not_known() -> None:
    folder = Path("/dev/shm")
    if not folder.is_dir() or filesystem_kind(folder) != "tmpfs":
        pytest.skip("no tmpfs at /dev/shm")
    path = folder / f"mlhpc-test-{os.getpid()}"
    try:
        path.write_bytes(bytes(10 * mmap.PAGESIZE))
        with pytest.raises(CaseUnavailable, match="100% of the pages stayed"):
            make_cold([path], "unknown")
    finally:
        path.unlink()


def test_a_missing_file_is_not_cold(tmp_path: Path) -> None:
    with pytest.raises(CaseUnavailable, match="No such file"):
        make_cold([tmp_path / "missing"], "ext4")


def test_an_empty_file_has_no_pages(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert resident_share([tmp_path / "empty"]) == 0.0
