"""What sources say, on pages.

Roles ``{claim}``, ``{measured}``, ``{illustration}``; directives ``{claim-table}``, ``{claim-plot}``,
``{ledger}``, ``{sources}``.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from book.ext import parts
from book.ext.course import CourseDirective, CourseRole, records
from book.ext.figures import figure_nodes
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from mlhpc.claims import Claim, Ledger, Source, Verdict, check, load_claims
from mlhpc.claims.schema import RatioCheck, ValueCheck
from mlhpc.errors import UsageError
from mlhpc.formatting import NO_BREAK, format_exact, with_unit
from mlhpc.plots import Range, plot_ranges
from mlhpc.records.query import Reference, select

SIGNS = {"confirmed": "✓", "contradicted": "✗", "depends": "±", "cited only": "○"}
"""A sign beside the word of each verdict, so that a column of them can be skimmed."""

MEANINGS = {
    "confirmed": "every measurement agrees with the claimed value",
    "contradicted": "no measurement agrees with it, or arithmetic rules it out",
    "depends": "some measurements agree and others do not",
    "cited only": "nothing was measured yet that could tell",
}
BASES = {"stated": "{}", "derived": "derived from {}", "estimate": "estimate, {}"}
"""How a sentence names the source, by what the number is based on."""

IDS_SHOWN = 3


@lru_cache(maxsize=1)
def ledger() -> Ledger:
    """Return the ledger of this build."""
    return load_claims()


@lru_cache(maxsize=1)
def verdicts() -> dict[str, Verdict]:
    """Return the verdict of the published records on each claim, by the claim's id."""
    return {verdict.claim.id: verdict for verdict in check(ledger(), records().every_published)}


def verdict_on(identifier: str) -> Verdict:
    """Return the verdict on one claim.

    Raises:
        UsageError: if there is no such claim.
    """
    return verdicts()[ledger().claim(identifier).id]


def claimed_text(claim: Claim) -> str:
    """Return what the source states, with every digit that it gives and its unit; empty for a rule."""
    if claim.value is None or claim.unit is None:
        return ""
    if claim.value.value is not None:
        text = format_exact(claim.value.value)
    elif claim.value.low is not None and claim.value.high is not None:
        text = f"{format_exact(claim.value.low)} to {format_exact(claim.value.high)}"
    elif claim.value.low is not None:
        text = f"at least {format_exact(claim.value.low)}"
    else:
        text = f"at most {format_exact(claim.value.high or 0.0)}"
    return with_unit(text, claim.unit)


def outcome_text(outcome: str) -> str:
    """Return sign and word of a verdict, held together."""
    return f"{SIGNS[outcome]} {outcome}".replace(" ", NO_BREAK)


def ledger_link(claim: Claim, text: str, document: str) -> nodes.Node:
    """Return a link to the claim's row in the ledger."""
    return parts.link_to_label(f"claim-{claim.id}", [nodes.Text(text)], document)


class ClaimRole(CourseRole):
    """``{claim}`id```: the claimed value, linked to the ledger, with its source and verdict."""

    def inline_nodes(self) -> Sequence[nodes.Node]:
        """Return the value and, in small type, who says so and what was found."""
        verdict = verdict_on(self.text)
        claim = verdict.claim
        text = claimed_text(claim) or claim.statement.rstrip(".")
        source = BASES[claim.basis].format(ledger().sources[claim.source].name)
        return [
            nodes.inline(
                "",
                "",
                ledger_link(claim, text, self.env.docname),
                parts.small(f" ({source}; {outcome_text(verdict.verdict)})"),
                classes=["claim"],
            )
        ]


class MeasuredRole(CourseRole):
    """``{measured}`id```: what was measured for a claim, linked to the ledger."""

    def inline_nodes(self) -> Sequence[nodes.Node]:
        """Return the measured value with its interval, or the span of several."""
        verdict = verdict_on(self.text)
        text = verdict.measured_text()
        if not text:
            raise UsageError(f"Nothing was measured for the claim {self.text}: {verdict.reason}")
        link = ledger_link(verdict.claim, text, self.env.docname)
        return [nodes.inline("", "", link, classes=["measured"])]


class IllustrationRole(CourseRole):
    """``{illustration}`about 3 GB```: a number that stands for an example and claims nothing."""

    def inline_nodes(self) -> Sequence[nodes.Node]:
        """Return the text, marked as an illustration."""
        if not self.text.strip():
            raise UsageError("An illustration needs its text.")
        return [nodes.inline("", self.text, classes=["illustration"])]


def _verdict_cell(verdict: Verdict) -> parts.Cell:
    """Return the verdict with what was measured and why it came about."""
    shown: list[nodes.Node] = [nodes.Text(outcome_text(verdict.verdict))]
    measured = verdict.measured_text()
    if measured:
        shown.append(nodes.Text(f": {measured}"))
    shown.append(parts.small(_why(verdict)))
    if verdict.records:
        more = len(verdict.records) - IDS_SHOWN
        listed = ", ".join(verdict.records[:IDS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        shown.append(parts.small(f"Records {listed}"))
    return shown


def _why(verdict: Verdict) -> str:
    """Return the reason; short where nothing was measured, which most rows of the ledger would repeat."""
    claim = verdict.claim
    if verdict.verdict != "cited only":
        return verdict.reason
    if not claim.confirm:
        return "Nothing that the course measures could tell."
    sides = [side for one in claim.confirm for side in _selections(one)]
    if any(not select(records().every_published, side.query) for side in sides):
        return "Not measured yet."
    return verdict.reason


def _selections(one: object) -> list[Reference]:
    """Return the selections of records that a check of a claim needs; none for arithmetic."""
    if isinstance(one, RatioCheck):
        return [one.numerator, one.denominator]
    return [one.of] if isinstance(one, ValueCheck) else []


class ClaimTable(CourseDirective):
    """``{claim-table} ID ID ...`` or ``:source: ID``: claims with what was found, linked to the ledger."""

    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = {"source": directives.unchanged_required, "caption": directives.unchanged}  # noqa: RUF012

    def content_nodes(self) -> list[nodes.Node]:
        """Return the table."""
        rows: list[list[parts.Cell]] = [
            [
                [ledger_link(verdict.claim, verdict.claim.statement, self.env.docname)],
                claimed_text(verdict.claim) or "a rule",
                outcome_text(verdict.verdict),
                verdict.measured_text() or ("–" if verdict.verdict == "cited only" else "by arithmetic"),
            ]
            for verdict in self._chosen()
        ]
        headers = ["Claim", "Claimed", "Verdict", "Measured"]
        return [parts.table(headers, rows, caption=self.options.get("caption", ""))]

    def _chosen(self) -> list[Verdict]:
        identifiers = self.arguments[0].split() if self.arguments else []
        source = self.options.get("source")
        if bool(identifiers) == bool(source):
            raise UsageError("Name either claims or, with ':source:', one source.")
        if source is None:
            return [verdict_on(identifier) for identifier in identifiers]
        found = [verdict for verdict in verdicts().values() if verdict.claim.source == source]
        if not found:
            raise UsageError(f"No claim has the source {source} in {ledger().path.name}.")
        return found


class ClaimPlot(CourseDirective):
    """``{claim-plot} ID ID ...`` with ``:alt:``: claimed ranges and what was measured, one row each.

    ``:labels:`` gives the rows' names, separated by ``|``; ``:axis:`` names the value axis.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {  # noqa: RUF012 - docutils' own interface
        "alt": directives.unchanged_required,
        "labels": directives.unchanged_required,
        "axis": directives.unchanged_required,
        "caption": directives.unchanged,
    }

    def content_nodes(self) -> list[nodes.Node]:
        """Return the figure."""
        if not self.options.get("alt", "").strip():
            raise UsageError("':alt:' missing: a figure needs a text for those who do not see it.")
        chosen = [verdict_on(identifier) for identifier in self.arguments[0].split()]
        units = {verdict.claim.unit for verdict in chosen}
        if len(units) != 1 or None in units:
            raise UsageError("Claims in one figure need one unit; these have different ones or none.")
        names = [name.strip() for name in self.options.get("labels", "").split("|") if name.strip()]
        names = names or [verdict.claim.id.replace("-", " ") for verdict in chosen]
        if len(names) != len(chosen):
            raise UsageError(f"':labels:' has {len(names)} names for {len(chosen)} claims.")
        rows = [_range(verdict, name) for verdict, name in zip(chosen, names, strict=True)]
        figure = plot_ranges(rows, label=self.options.get("axis", "Speed-up"), unit=units.pop() or "")
        caption = self.options.get("caption", "")
        return [figure_nodes(figure, alternative=self.options["alt"], caption=caption, environment=self.env)]


def _range(verdict: Verdict, label: str) -> Range:
    """Return a row of the figure."""
    value = verdict.claim.value
    if value is None:
        raise UsageError(f"The claim {verdict.claim.id} is a rule without a number, which cannot be drawn.")
    measured = tuple(finding.quantity for finding in verdict.findings)
    return Range(label, *value.stated, measured)


class LedgerDirective(CourseDirective):
    """``{ledger}``: every claim, one section for each source."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return the count of verdicts and the sections."""
        counts: Counter[str] = Counter(verdict.verdict for verdict in verdicts().values())
        rows: list[list[parts.Cell]] = [
            [outcome_text(name), meaning, str(counts[name])] for name, meaning in MEANINGS.items()
        ]
        overview = parts.table(["Verdict", "Meaning", "Claims"], rows, numeric=(2,))
        sections = [self._section(identifier, source) for identifier, source in ledger().sources.items()]
        return [overview, *filter(None, sections)]

    def _section(self, identifier: str, source: Source) -> nodes.section | None:
        found = [verdict for verdict in verdicts().values() if verdict.claim.source == identifier]
        if not found:
            return None
        section = parts.section([nodes.Text(source.title)], f"claims-of-{identifier}", self.state.document)
        section += nodes.paragraph("", "", *source_nodes(source))
        headers = ["Claim", "Claimed", "Verdict"]
        section += parts.table(headers, [self._row(verdict) for verdict in found], classes=("ledger",))
        return section

    def _row(self, verdict: Verdict) -> list[parts.Cell]:
        claim = verdict.claim
        notes = [claim.id, claim.where, "" if claim.basis == "stated" else claim.basis, claim.condition or ""]
        if claim.depends_on:
            notes.append(f"depends on {', '.join(claim.depends_on)}")
        place = parts.target(f"claim-{claim.id}", self.state.document)
        about = parts.small("; ".join(note.rstrip(".") for note in notes if note))
        statement: parts.Cell = [place, nodes.Text(claim.statement), about]
        claimed = claimed_text(claim) or "a rule"
        return [statement, claimed, _verdict_cell(verdict)]


def source_nodes(source: Source) -> list[nodes.Node]:
    """Return where a source is found: kind, place, date and address."""
    text = ", ".join(filter(None, [source.where, source.date]))
    shown: list[nodes.Node] = [nodes.Text(f"{source.kind.capitalize()}: {text}")]
    if source.url:
        shown += [nodes.Text(", "), nodes.reference("", source.url, refuri=source.url, internal=False)]
    return shown


class Sources(CourseDirective):
    """``{sources}``: the sources of all claims, by title."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return the list of sources with the number of claims taken from each."""
        counts = Counter(verdict.claim.source for verdict in verdicts().values())
        result = nodes.definition_list()
        for identifier, source in sorted(ledger().sources.items(), key=lambda item: item[1].title.lower()):
            number = counts[identifier]
            claims = f"{number} claim{'s' if number != 1 else ''} in the ledger"
            body = nodes.definition("", nodes.paragraph("", "", *source_nodes(source)), parts.note(claims))
            result += nodes.definition_list_item("", nodes.term("", source.title), body)
        return [result]


def setup(app: Sphinx) -> None:
    """Register the roles and the directives."""
    app.add_role("claim", ClaimRole())
    app.add_role("measured", MeasuredRole())
    app.add_role("illustration", IllustrationRole())
    app.add_directive("claim-table", ClaimTable)
    app.add_directive("claim-plot", ClaimPlot)
    app.add_directive("ledger", LedgerDirective)
    app.add_directive("sources", Sources)
