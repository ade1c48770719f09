"""The rule of a purge: as given, or from a profile, with its disagreements and its gaps."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from mlhpc.errors import UsageError
from mlhpc.sites.load import find_profile
from mlhpc.storage.rule import make_rule


@pytest.fixture
def osc() -> dict[str, Any]:
    data = yaml.safe_load(find_profile("osc").read_text())
    assert isinstance(data, dict)
    return data


def write(data: dict[str, Any], folder: Path) -> str:
    path = folder / "osc.yml"
    path.write_text(yaml.safe_dump(data))
    return str(path)


def scratch(data: dict[str, Any]) -> dict[str, Any]:
    found = next(tier for tier in data["storage"] if tier["id"] == "scratch")
    assert isinstance(found, dict)
    return found


def test_as_given() -> None:
    rule = make_rule("ctime", 14)
    assert (rule.basis, rule.days, rule.remarks) == ("ctime", 14, ())


@pytest.mark.parametrize(("basis", "days"), [(None, None), ("mtime", None), (None, 60)])
def test_nothing_is_assumed(basis: Any, days: int | None) -> None:
    with pytest.raises(UsageError, match="--basis and --days, or --site"):
        make_rule(basis, days)


def test_sources_that_disagree_are_both_named_and_the_shorter_counts() -> None:
    rule = make_rule(None, None, "osc")
    assert (rule.basis, rule.days) == ("atime", 60)
    (remark,) = rule.remarks
    for part in ("60 days (lab-guide)", "90 days (nuances)", "oschelp@osc.edu"):
        assert part in remark


def test_the_shorter_counts_also_where_the_profile_uses_the_longer(
    osc: dict[str, Any], tmp_path: Path
) -> None:
    scratch(osc)["purge"]["after"] = "90 days"
    assert make_rule(None, None, write(osc, tmp_path)).days == 60


def test_a_disputed_value_that_is_a_phrase_is_shown(osc: dict[str, Any], tmp_path: Path) -> None:
    conflict = next(one for one in osc["conflicts"] if one["fact"] == "storage.scratch.purge.after")
    conflict["values"][1]["value"] = "when space is needed"
    rule = make_rule(None, None, write(osc, tmp_path))
    assert rule.days == 60
    assert "when space is needed" in rule.remarks[0]


def test_what_is_given_wins_over_the_profile() -> None:
    rule = make_rule(None, 10, "osc")
    assert (rule.basis, rule.days, rule.remarks) == ("atime", 10, ())
    assert "days as given" in rule.source
    assert make_rule("mtime", None, "osc").basis == "mtime"


def test_a_disputed_basis_is_not_decided_here(osc: dict[str, Any], tmp_path: Path) -> None:
    values = [{"value": one, "source": "nuances"} for one in ("access-time", "modification-time")]
    osc["conflicts"].append({"fact": "storage.scratch.purge.basis", "values": values, "ask": "the centre"})
    profile = write(osc, tmp_path)
    with pytest.raises(UsageError, match=r"access-time .*modification-time .*--basis"):
        make_rule(None, None, profile)
    assert make_rule("mtime", None, profile).days == 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sagehen",), r"no tier that is purged by age .*its-hpc@pomona.edu"),
        (("generic",), r"scratch: not known"),
        (("osc", "hom"), r"no storage tier 'hom'; it has: home"),
        (("osc", "tmpdir"), r"not purged by age but: job-end"),
        (("generic", "scratch"), r"does not know what the purge of scratch goes by"),
        ((None, "scratch"), r"give --site"),
        (("nowhere",), r"No site profile named 'nowhere'"),
    ],
)
def test_what_a_profile_does_not_tell_is_not_guessed(arguments: tuple[str | None, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_rule(None, None, *arguments)


def test_an_unknown_number_of_days_is_asked_for(osc: dict[str, Any], tmp_path: Path) -> None:
    del scratch(osc)["purge"]["after"]
    osc["conflicts"] = []
    with pytest.raises(UsageError, match="does not know after how long scratch"):
        make_rule(None, None, write(osc, tmp_path))


def test_two_purged_tiers_are_a_choice(osc: dict[str, Any], tmp_path: Path) -> None:
    osc["storage"].append({**scratch(osc), "id": "scratch-two"})
    profile = write(osc, tmp_path)
    with pytest.raises(UsageError, match="choose --tier from scratch, scratch-two"):
        make_rule(None, None, profile)
    assert make_rule(None, None, profile, "scratch-two").days == 60
