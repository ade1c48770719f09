"""Storage tiers: what is mounted, which place is on what, and what is said of places that give no answer."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.machine import Sources, storage
from mlhpc.machine.mounts import Mount, kind_of, mount_of, read_mounts
from mlhpc.machine.storage import StorageTier, distinct, find_storage
from tests.machine.fake_tree import FakeTree


def mounted(tree: FakeTree, *mounts: tuple[Path, str, str]) -> None:
    """Make the fake kernel say that these (mount point, device, file-system type) are all that is mounted."""
    lines = []
    for number, (point, device, kind) in enumerate(mounts, 900_001):
        escaped = str(point).replace(" ", "\\040")
        lines.append(f"{number} 1 {device} / {escaped} rw,relatime shared:1 - {kind} server:/x rw\n")
    tree.write("/proc/self/mountinfo", "".join(lines))


@pytest.fixture
def places(tree: FakeTree, tmp_path: Path) -> dict[str, Path]:
    """Four folders that lie on four mounted file systems, two of which are one."""
    found = {name: tmp_path / "disks" / name for name in ("home", "job 7", "scratch", "lab")}
    for path in found.values():
        path.mkdir(parents=True)
    mounted(
        tree,
        (tmp_path, "0:1", "ext4"),
        (found["home"], "0:50", "nfs4"),
        (found["job 7"], "254:3", "xfs"),
        (found["scratch"], "0:60", "lustre"),
        (found["lab"], "0:60", "lustre"),
    )
    tree.environment.update(
        HOME=str(found["home"]), TMPDIR=str(found["job 7"]), SCRATCH=str(found["scratch"])
    )
    return found


def by_role(tree: FakeTree) -> dict[str, StorageTier]:
    return {tier.role: tier for tier in find_storage(tree.sources()) if tier.role != "course"}


def test_each_place_has_the_file_system_that_it_is_mounted_on(
    tree: FakeTree, places: dict[str, Path]
) -> None:
    found = by_role(tree)
    assert {role: (tier.name, tier.file_system, tier.kind) for role, tier in found.items()} == {
        "temporary": ("$TMPDIR", "xfs", "local"),
        "home": ("home", "nfs4", "network"),
        "scratch": ("$SCRATCH", "lustre", "network"),
    }
    assert found["temporary"].path == str(places["job 7"])
    assert len({tier.number for tier in found.values()}) == 3


def test_a_network_file_system_that_nothing_names_is_found_once(
    tree: FakeTree, places: dict[str, Path]
) -> None:
    del tree.environment["SCRATCH"]
    shared = [tier for tier in find_storage(tree.sources()) if tier.role == "shared"]
    assert [(tier.path, tier.file_system) for tier in shared] == [(str(places["scratch"]), "lustre")]


def test_sizes_are_those_that_the_system_reports(tree: FakeTree, places: dict[str, Path]) -> None:
    tier = by_role(tree)["home"]
    said = os.statvfs(places["home"])
    assert tier.total_bytes == said.f_blocks * said.f_frsize
    assert tier.total_inodes == (said.f_files or None)
    assert tier.writable


def test_inodes_that_a_file_system_does_not_count_are_none(
    tree: FakeTree, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = list(os.statvfs(places["home"]))
    said[5:8] = [0, 0, 0]  # f_files, f_ffree, f_favail, as btrfs reports them
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result(said))
    tier = by_role(tree)["home"]
    assert (tier.total_inodes, tier.free_inodes) == (None, None)


def test_inside_names_the_variables_of_the_job(tree: FakeTree, places: dict[str, Path]) -> None:
    inner = places["job 7"] / "mine"
    inner.mkdir()
    tree.environment.update(HOME=str(inner), SLURM_TMPDIR=str(places["job 7"]))
    found = by_role(tree)
    assert found["home"].inside == ("SLURM_TMPDIR", "TMPDIR")
    assert found["temporary"].name == "$SLURM_TMPDIR"
    assert found["scratch"].inside == ("SCRATCH",)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("/no/such/folder", "No such file"),
        ("relative", "not absolute"),
        ("/proc/self/status", "Not a direct"),
    ],
)
def test_a_place_that_is_none_says_why(tree: FakeTree, value: str, fault: str) -> None:
    tree.environment["TMPDIR"] = value
    tier = by_role(tree)["temporary"]
    assert fault in (tier.fault or "")
    assert (tier.writable, tier.number, tier.free_bytes) == (False, None, None)
    assert tier not in distinct([tier])


def test_an_empty_variable_names_nothing(tree: FakeTree) -> None:
    tree.environment.update(TMPDIR="", SCRATCH="")
    found = by_role(tree)
    assert found["temporary"].name == "the temporary folder"
    assert "scratch" not in found


def test_a_file_system_that_does_not_answer_holds_up_neither_the_others_nor_the_caller(
    tree: FakeTree, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answer = os.statvfs, time.sleep

    def dead_server(path: Path) -> os.statvfs_result:
        if path == places["home"]:
            answer(3)
        return asked(path)

    monkeypatch.setattr(os, "statvfs", dead_server)
    monkeypatch.setattr(storage, "PATIENCE", 0.5)
    found = by_role(tree)
    assert found["home"].fault == "did not answer in 0.5 s"
    assert found["scratch"].fault is None


def test_distinct_keeps_the_first_place_of_each_file_system(tree: FakeTree, places: dict[str, Path]) -> None:
    tree.environment["PROJECT"] = str(places["lab"])
    roles = [tier.role for tier in distinct(find_storage(tree.sources())) if tier.role != "course"]
    assert roles == ["temporary", "home", "scratch"]


def test_the_running_system_agrees_with_df(tmp_path: Path) -> None:
    df = shutil.which("df")
    assert df
    said = subprocess.run(
        [df, "--output=fstype", tmp_path], capture_output=True, text=True, check=True
    ).stdout.split()[-1]
    mount = mount_of(tmp_path, read_mounts(Sources()), Sources())
    assert mount is not None
    assert mount.file_system == said


def test_a_later_mount_hides_an_earlier_one_and_a_deeper_one_wins(tree: FakeTree, tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    mounted(tree, (tmp_path, "1:1", "ext4"), (tmp_path / "a", "1:2", "xfs"), (tmp_path / "a", "1:3", "btrfs"))
    sources = tree.sources()
    assert (mount_of(deep, read_mounts(sources), sources) or pytest.fail("none")).device == "1:3"
    assert (mount_of(tmp_path, read_mounts(sources), sources) or pytest.fail("none")).device == "1:1"


def test_without_mountinfo_nothing_is_known_and_nothing_breaks(tree: FakeTree, tmp_path: Path) -> None:
    (tree.root / "proc/self/mountinfo").unlink()
    tree.environment["TMPDIR"] = str(tmp_path)
    tier = by_role(tree)["temporary"]
    assert (tier.file_system, tier.kind, tier.fault) == ("unknown", "unknown", None)
    assert tier.free_bytes


@pytest.mark.parametrize(
    ("file_system", "kind"),
    [
        ("tmpfs", "memory"),
        ("zfs", "local"),
        ("beegfs", "network"),
        ("fuse.sshfs", "network"),
        ("overlay", "container"),
        ("something-new", "unknown"),
    ],
)
def test_kinds(file_system: str, kind: str) -> None:
    assert kind_of(file_system) == kind


@given(st.text())
def test_any_text_is_read_as_mounts_or_skipped(text: str) -> None:
    class Said(Sources):
        def text(self, path: object) -> str:
            return text

    assert all(isinstance(mount, Mount) for mount in read_mounts(Said()))


@given(st.text(st.characters(codec="ascii", exclude_characters="\n\r\v\f\x1c\x1d\x1e"), min_size=1))
def test_a_mount_point_survives_the_kernels_escapes(name: str) -> None:
    escaped = "".join(f"\\{ord(sign):03o}" if sign in " \t\\#" else sign for sign in name)

    class Said(Sources):
        def text(self, path: object) -> str:
            return f"1 0 0:9 / /{escaped} rw - tmpfs none rw\n"

    assert [mount.point for mount in read_mounts(Said())] == [f"/{name}"]
