"""The course's own ``data/claims.yml``: it loads, it hangs together, and its queries can find records."""

from collections.abc import Iterator
from functools import cache

import pytest

from mlhpc.bench.case import Request
from mlhpc.bench.registry import find_workload
from mlhpc.claims.ledger import load_claims
from mlhpc.claims.schema import Claim, ConsistencyCheck, RatioCheck, ValueCheck
from mlhpc.claims.verdict import check
from mlhpc.records.query import Reference
from mlhpc.records.schema import Scalar, Tier

CLAIMS = load_claims().claims
RESOURCES = {"device", "processes", "threads", "workers", "scaling"}
"""Parameters whose values follow from the machine and the request, not from the workload."""
CHECKED = [claim for claim in CLAIMS if any(not isinstance(one, ConsistencyCheck) for one in claim.confirm)]


def references(claim: Claim) -> Iterator[Reference]:
    for one in claim.confirm:
        if isinstance(one, RatioCheck):
            yield from (one.numerator, one.denominator)
        elif isinstance(one, ValueCheck):
            yield one.of


@cache
def cases(workload: str) -> tuple[tuple[str, dict[str, Scalar]], ...]:
    """Return metric and parameters of all cases that the workload offers on a CPU at the tiers that count."""
    # At full tier ResNet-50 first tries batch sizes, for minutes; no query names a batch of it.
    tiers: tuple[Tier, ...] = ("quick",) if workload == "resnet50" else ("quick", "full")
    module = find_workload(workload)
    found = []
    for tier in tiers:
        variants = tuple(module.variants("cpu"))
        # Two processes, because some variants exist only for several.
        for case in module.cases(Request(tier=tier, processes=2, variants=variants)):
            found.append((case.metric, case.parameters))
    return tuple(found)


def fits(reference: Reference, metric: str, parameters: dict[str, Scalar]) -> bool:
    query = reference.query
    if query.metric not in (None, metric):
        return False
    for name, wanted in query.where.items():
        options = wanted if isinstance(wanted, tuple) else (wanted,)
        # tf32 exists on GPUs only; on a CPU its place is taken by fp32.
        allowed = {"fp32" if option == "tf32" else option for option in options}
        if name not in parameters or (name not in RESOURCES and parameters[name] not in allowed):
            return False
    return True


def test_every_source_is_used() -> None:
    assert {claim.source for claim in CLAIMS} == set(load_claims().sources)


def test_ids_are_unique() -> None:
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)


def test_the_table_is_there_cell_by_cell() -> None:
    """Twelve cells, as "Performance Scaling" has them."""
    ranges = {claim.id: claim.value.stated for claim in CLAIMS if claim.value is not None}
    table = {
        "resnet50": ((1, 1), (15, 20), (50, 60)),
        "dense": ((1, 1), (8, 12), (20, 30)),
        "xgboost": ((1, 1), (1, 2), (8, 12)),
        "loading": ((1, 1), (1, 1), (1, 1)),
    }
    for row, cells in table.items():
        for column, cell in zip(("cpu", "one-a100", "four-a100"), cells, strict=True):
            assert ranges[f"overview-{row}-{column}"] == cell


@pytest.mark.parametrize("claim", CHECKED, ids=lambda claim: claim.id)
def test_queries_name_what_the_workloads_record(claim: Claim) -> None:
    for reference in references(claim):
        offered = cases(reference.query.workload)
        assert any(fits(reference, *case) for case in offered), f"no case fits {reference}"
    for one in claim.confirm:
        if isinstance(one, RatioCheck):
            known = cases(one.numerator.query.workload)
            assert set(one.match) <= {name for _, parameters in known for name in parameters}


def test_both_sides_of_a_ratio_are_of_one_workload_and_quantity() -> None:
    for claim in CLAIMS:
        for one in claim.confirm:
            if isinstance(one, RatioCheck):
                sides = (one.numerator, one.denominator)
                assert len({(side.query.workload, side.quantity) for side in sides}) == 1, claim.id


def test_arithmetic_alone_contradicts_two_claims() -> None:
    """Without any record: eight to twelve times on four GPUs cannot follow from one to two on one."""
    verdicts = {verdict.claim.id: verdict for verdict in check(load_claims(), ())}
    contradicted = {name for name, verdict in verdicts.items() if verdict.verdict == "contradicted"}
    assert contradicted == {"overview-xgboost-four-a100", "nvidia-mxnet-printed-gain"}
    assert "8.00 and 6.00" in verdicts["overview-xgboost-four-a100"].reason
    assert {verdict.verdict for verdict in verdicts.values()} == {"contradicted", "cited only"}


def test_published_arithmetic_adds_up() -> None:
    """Derived figures, recomputed from the stated ones beside them."""
    value = {claim.id: claim.value.stated for claim in CLAIMS if claim.value is not None}

    def number(identifier: str) -> float:
        assert value[identifier][0] == value[identifier][1]
        return value[identifier][0]

    assert number("published-layout-v100") == pytest.approx(
        number("nvidia-v100-amp") / number("lambda-v100-amp"), abs=0.005
    )
    assert number("published-layout-a100") == pytest.approx(
        number("nvidia-a100-amp") / number("lambda-a100-80-sxm-amp"), abs=0.005
    )
    assert number("published-layout-rtx-3090") == pytest.approx(
        number("timm-rtx-3090-amp-channels-last") / number("timm-rtx-3090-amp-nchw"), abs=0.005
    )
    assert number("nvidia-mxnet-computed-gain") == pytest.approx(
        number("nvidia-mxnet-a100-amp") / number("nvidia-mxnet-a100-tf32"), abs=0.005
    )
    assert number("nersc-software-gain") == pytest.approx(
        number("nersc-compile") / number("nersc-start"), abs=0.06
    )
    assert number("loader-hidden-expected-minutes") == pytest.approx(
        90 * 1281167 / number("loader-hidden-amp-rate") / 60, abs=0.5
    )


@pytest.mark.parametrize(
    ("scaling", "rows"),
    [
        ("published-scaling-v100", ["lambda-v100-fp32", "lambda-v100-amp"]),
        ("published-scaling-a100", ["lambda-a100-80-sxm-tf32", "lambda-a100-80-sxm-amp"]),
        ("published-scaling-a100-mxnet", ["nvidia-mxnet-a100-tf32", "nvidia-mxnet-a100-amp"]),
        ("published-scaling-rtx-6000-ada", ["lambda-rtx-6000-ada-tf32", "lambda-rtx-6000-ada-amp"]),
        (
            "published-scaling-h100",
            [f"lambda-h100-{form}-{precision}" for form in ("pcie", "sxm") for precision in ("tf32", "amp")],
        ),
    ],
)
def test_scaling_efficiencies_follow_from_the_rates(scaling: str, rows: list[str]) -> None:
    value = {claim.id: claim.value.stated for claim in CLAIMS if claim.value is not None}
    shares = [100 * value[f"{row}-four"][0] / (4 * value[row][0]) for row in rows]
    # The source rounds to whole per cents where two figures are close.
    assert min(shares) == pytest.approx(value[scaling][0], abs=0.6)
    assert max(shares) == pytest.approx(value[scaling][1], abs=0.6)
