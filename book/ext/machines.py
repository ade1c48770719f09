"""Where the measurements come from: ``{machines}`` and ``{notebooks}`` on the page "Measured on"."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from book.ext import parts
from book.ext.course import CourseDirective, lessons, records
from book.ext.records import machine_label
from docutils import nodes
from sphinx.application import Sphinx

from mlhpc.errors import MlhpcError
from mlhpc.formatting import format_value
from mlhpc.machine.model import Machine
from mlhpc.records.query import machine_identity
from mlhpc.records.schema import Record


def _list(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values))) or "–"


def _processor(machine: Machine) -> str:
    cpu = machine.cpu
    features = f" ({', '.join(cpu.instruction_sets)})" if cpu.instruction_sets else ""
    return f"{cpu.model}, {cpu.architecture}{features}"


def _gpus(machine: Machine) -> str:
    kinds = Counter(
        f"{gpu.name}, {format_value(gpu.memory_bytes, 'B')}, compute capability "
        f"{gpu.compute_capability or 'not known'}, driver {gpu.driver or 'not known'}"
        for gpu in machine.gpus
    )
    return "; ".join(f"{count} × {kind}" for kind, count in kinds.items()) or "none"


def _commits(found: Sequence[Record]) -> str:
    states = {
        (record.commit[:12] if record.commit else "not a checkout")
        + (" (modified)" if record.modified else "")
        for record in found
    }
    return _list(states)


def _description(found: Sequence[Record]) -> list[tuple[str, str]]:
    """Return what a reader needs to know about the machine and the measurements made on it."""
    machine = found[0].machine
    days = sorted(f"{record.measured_at:%Y-%m-%d}" for record in found)
    counts = Counter((record.workload, record.tier) for record in found)
    packages = {f"{name} {number}" for one in found for name, number in one.software.packages.items()}
    policies = {record.contention.omp_wait_policy or "default" for record in found}
    memory = format_value(machine.memory.usable_bytes, "B")
    return [
        ("Processor", _processor(machine)),
        ("Cores", f"{machine.cpu.cores_usable} used of {machine.cpu.cores_present} present"),
        ("Memory", f"{memory} usable of {format_value(machine.memory.total_bytes, 'B')}"),
        ("GPUs", _gpus(machine)),
        ("System", _list(record.machine.operating_system for record in found)),
        ("Kind of session", _list(record.machine.session for record in found)),
        ("Measured", days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"),
        ("Records", "; ".join(f"{name}: {number} at {tier} tier" for (name, tier), number in counts.items())),
        ("Python", _list(record.software.python for record in found)),
        ("Packages", _list(packages)),
        ("Waiting threads", f"OMP_WAIT_POLICY {_list(policies)}"),
        (
            "Load average before",
            f"{max(record.contention.load_average_before for record in found):.1f} at most",
        ),
        ("Commit", _commits(found)),
    ]


def _by_machine(found: Iterable[Record]) -> list[list[Record]]:
    groups: dict[str, list[Record]] = {}
    for record in found:
        groups.setdefault(machine_identity(record.machine), []).append(record)
    return list(groups.values())


def _name(machine: Machine) -> str:
    gpus = Counter(gpu.name for gpu in machine.gpus)
    devices = [f"{count} × {name}" for name, count in gpus.items()]
    cores = machine.cpu.cores_usable
    return ", ".join([*devices, f"{machine.cpu.model}, {cores} core{'s' if cores != 1 else ''}"])


class Machines(CourseDirective):
    """``{machines}``: one section for each machine behind the published records, then this machine."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return the sections."""
        known = records()
        sections: list[nodes.Node] = [
            nodes.warning("", nodes.paragraph("", f"Damaged: {line.path.name}, line {line.line_number}."))
            for line in known.damaged
        ]
        if not known.published:
            sections.append(nodes.paragraph("", "No record is published yet."))
        sections += [self._section(found) for found in _by_machine(known.published)]
        sections += [self._section(found, own=True) for found in _by_machine(known.local)]
        return sections

    def _section(self, found: Sequence[Record], *, own: bool = False) -> nodes.section:
        name = _name(found[0].machine)
        # A machine may be published and be this one: the label must still lead to one place.
        label = f"own-{machine_label(found[0])}" if own else machine_label(found[0])
        title = f"This machine: {name}" if own else name
        section = parts.section([nodes.Text(title)], label, self.state.document)
        if own:
            section += parts.note("Your own records: they are on no page but those that you build here.")
        section += parts.facts(_description(found))
        return section


def _read_notebook(stem: str) -> Any:
    """Return the executed notebook of a lesson.

    Raises:
        MlhpcError: if it does not exist or is no notebook.
    """
    import nbformat

    from mlhpc.lessons.layout import locate

    path = locate(stem).notebook
    try:
        return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except FileNotFoundError:
        raise MlhpcError(f"{path.name} is missing: make it with mlhpc lesson run {stem}.") from None
    except (OSError, ValueError, nbformat.reader.NotJSONError) as error:
        raise MlhpcError(f"{path.name} cannot be read as a notebook: {error}") from error


class Notebooks(CourseDirective):
    """``{notebooks}``: with what the committed outputs of each notebook were made."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return the table of notebooks."""
        rows: list[list[parts.Cell]] = []
        for lesson in lessons():
            notebook = _read_notebook(lesson.stem)
            code = [cell for cell in notebook.cells if cell.cell_type == "code"]
            run = sum(cell.execution_count is not None for cell in code)
            made = notebook.metadata.get("mlhpc", {})
            versions = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in made.items())
            link = parts.link_to_page(f"notebooks/{lesson.stem}", lesson.notebook, self.env.docname)
            rows.append([[link], f"{run} of {len(code)}", versions or "not noted"])
        if not rows:
            return [nodes.paragraph("", "There is no notebook yet.")]
        return [parts.table(["Notebook", "Code cells run", "Made with"], rows)]


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("machines", Machines)
    app.add_directive("notebooks", Notebooks)
