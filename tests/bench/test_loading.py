from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from mlhpc.bench import page_cache
from mlhpc.bench.case import Case, CaseUnavailable, Request
from mlhpc.bench.image_reader import ImageReader, image_gates
from mlhpc.bench.image_store import ImageStore
from mlhpc.bench.small_files import SmallFileReader, SmallFiles
from mlhpc.bench.workloads.loading import USUAL, USUAL_AT_SMOKE, WORKLOAD
from mlhpc.errors import UsageError
from mlhpc.records.schema import Tier

IMAGES, BATCH = 11, 4
METHODS = ("pil", "torchvision", "tar", "prebatched")


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MLHPC_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def store() -> Iterator[ImageStore]:
    made = ImageStore(IMAGES, batch=BATCH, seed=7)
    made.open()
    yield made
    made.close()


def _pass(store: ImageStore, method: str, workers: int = 0) -> tuple[torch.Tensor, list[int], ImageReader]:
    """Return images and labels of one pass, by number of the photograph."""
    reader = ImageReader(store, method, workers=workers, device="cpu")
    reader.open()
    batches = list(reader.batches())
    order = torch.tensor(reader.order).argsort()
    images = torch.cat([images for images, _ in batches])[order]
    labels = torch.cat([labels for _, labels in batches])[order]
    return images, labels.tolist(), reader


def test_all_methods_deliver_the_same_pixels_and_labels(store: ImageStore) -> None:
    plain, labels, reader = _pass(store, "pil")
    reader.close()
    assert labels == list(store.labels)
    for method in METHODS[1:]:
        images, labels, reader = _pass(store, method)
        reader.close()
        assert images.shape == (IMAGES, 3, 224, 224)
        assert images.dtype == torch.float32
        assert labels == list(store.labels)
        assert float((images - plain).abs().max()) < 0.02
        assert float((images - plain).abs().mean()) < 0.001


def test_workers_change_nothing_but_the_time(store: ImageStore) -> None:
    alone, labels, first = _pass(store, "torchvision")
    shared, shared_labels, second = _pass(store, "torchvision", workers=2)
    first.close()
    second.close()
    assert torch.equal(alone, shared)
    assert labels == shared_labels


def test_the_same_seed_gives_the_same_store() -> None:
    stores = [ImageStore(3, batch=2, seed=seed) for seed in (1, 1, 2)]
    contents = []
    for each in stores:
        each.open()
        contents.append([path.read_bytes() for path in (*each.files, each.tar, *each.batches)])
        each.close()
    assert contents[0] == contents[1]
    assert contents[0] != contents[2]


@pytest.mark.parametrize("method", METHODS)
def test_a_right_pass_passes_its_gates(store: ImageStore, method: str) -> None:
    reader = ImageReader(store, method, workers=0, device="cpu")
    reader.open()
    assert all(gate.passed for gate in reader.gates())
    reader.close()


def test_a_wrong_photograph_fails_the_gate(store: ImageStore) -> None:
    batch = np.load(store.batches[0])
    np.save(store.batches[0], np.roll(batch, 1, axis=0))
    reader = ImageReader(store, "prebatched", workers=0, device="cpu")
    reader.open()
    labels, pixels = reader.gates()
    reader.close()
    assert labels.passed
    assert not pixels.passed


def test_a_crop_that_is_off_by_one_pixel_fails_the_gate(store: ImageStore) -> None:
    batch = np.load(store.batches[0])
    np.save(store.batches[0], np.roll(batch, 1, axis=3))
    reader = ImageReader(store, "prebatched", workers=0, device="cpu")
    reader.open()
    assert not reader.gates()[1].passed
    reader.close()


@pytest.mark.parametrize("labels", [[0, 0, 1], [0, 1], [0, 1, 0, 0], []])
def test_labels_that_are_wrong_missing_or_too_many_fail_the_gate(labels: list[int]) -> None:
    assert not image_gates(labels, [0, 1, 0], [0.0])[0].passed


@pytest.mark.parametrize("differences", [[0.0, float("nan")], [float("nan"), 0.0], [0.5], []])
def test_pixels_that_are_not_numbers_differ_or_are_missing_fail_the_gate(differences: list[float]) -> None:
    assert not image_gates([1], [1], differences)[1].passed


def test_both_ways_of_reading_small_files_give_all_bytes_and_notice_a_changed_one() -> None:
    store = SmallFiles(1100, seed=0)
    readers = [SmallFileReader(store, many=many) for many in (True, False)]
    for reader in readers:
        reader.open()
        assert all(gate.passed for gate in reader.gates())
    store.many[1050].write_bytes(b"other")
    store.one.write_bytes(store.one.read_bytes()[:-4096])
    assert not any(gate.passed for reader in readers for gate in reader.gates())
    for reader in readers:
        reader.close()


def _cases(**wishes: object) -> list[Case]:
    return list(WORKLOAD.cases(Request(tier="smoke", **wishes)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("tier", "usual"), [("smoke", USUAL_AT_SMOKE), ("quick", USUAL), ("full", USUAL)])
def test_the_usual_cases_are_warm_and_cold_and_say_so(tier: Tier, usual: tuple[str, ...]) -> None:
    cases = WORKLOAD.cases(Request(tier=tier))
    assert [case.variant for case in cases] == list(usual)
    assert {case.parameters["cache"] for case in cases} == {"warm", "cold"}
    assert all(case.parameters["filesystem"] for case in cases)
    assert len({case.label for case in cases}) == len(cases)


def test_no_parameter_holds_a_path(parent: Path) -> None:
    assert not any("/" in str(value) for case in _cases() for value in case.parameters.values())


@pytest.mark.parametrize("variant", ["prebatched", "tiny-files", "one-file"])
def test_a_case_runs_and_cleans_up(variant: str, parent: Path) -> None:
    (case,) = _cases(variants=(variant,))
    prepared = case.prepare()
    assert all(gate.passed for gate in prepared.gates)
    prepared.before_step()
    prepared.step()
    assert prepared.bytes_per_step is not None
    assert prepared.bytes_per_step > 0
    prepared.close()
    assert list(parent.iterdir()) == []


def test_each_cold_step_starts_from_files_that_are_out_of_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    (case,) = _cases(variants=("tiny-files-cold",))
    if case.parameters["filesystem"] in page_cache.OWN_CACHE:
        pytest.skip("the temporary folder is in memory")
    prepared = case.prepare()
    reader: SmallFileReader = prepared.step.__self__  # type: ignore[attr-defined]
    for _ in range(2):
        prepared.before_step()
        assert page_cache.resident_share(reader.paths()) <= page_cache.COLD_SHARE
        prepared.step()
        assert page_cache.resident_share(reader.paths()) == 1.0
    prepared.close()


def test_no_cold_case_in_memory(monkeypatch: pytest.MonkeyPatch, parent: Path) -> None:
    monkeypatch.setattr("mlhpc.bench.workloads.loading.filesystem_kind", lambda path: "tmpfs")
    (case,) = _cases(variants=("one-file-cold",))
    with pytest.raises(CaseUnavailable, match="No cold read on tmpfs"):
        case.prepare()
    assert list(parent.iterdir()) == []


def test_no_cold_case_for_several_processes() -> None:
    (case,) = _cases(variants=("one-file-cold",), processes=2)
    with pytest.raises(CaseUnavailable, match="one process"):
        case.prepare()


def test_an_unknown_variant_and_a_missing_folder_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="torchvision"):
        _cases(variants=("torchvison",))
    monkeypatch.setenv("MLHPC_DATA", "/no/such/folder")
    with pytest.raises(UsageError, match="MLHPC_DATA"):
        _cases()
