"""One run of a workload in this process: prepare each group of cases, time it, make the records."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Literal

from mlhpc.bench.case import Capped, Case, CaseUnavailable, Prepared, Request, Workload
from mlhpc.bench.device import synchroniser, threads_per_process
from mlhpc.bench.numerics import WrongNumbers, require
from mlhpc.bench.protocol import Limits, Sampler, limits_for, measure_group
from mlhpc.bench.ranks import Ranks
from mlhpc.bench.shares import performance
from mlhpc.interruption import shielded
from mlhpc.machine.model import Contention, Machine
from mlhpc.records.compare import FEWEST_SAMPLES
from mlhpc.records.schema import Quantity, Record

if TYPE_CHECKING:
    from mlhpc.bench.ceiling import Ceiling

_SECONDS_BETWEEN_REPORTS = 0.2


@dataclass(frozen=True)
class Progress:
    """Where a run is, for whoever shows it."""

    workload: str
    label: str
    """Of the case at hand; empty before the first."""
    stage: Literal["start", "prepare", "measure", "left out", "done"]
    share: float
    """Estimated part of the run that is done, 0 to 1."""
    samples: int = 0
    median_seconds: float | None = None
    reason: str = ""
    """Why a case was left out."""


@dataclass(frozen=True)
class _Timed:
    """A case that is prepared, and its samples."""

    case: Case
    prepared: Prepared
    sampler: Sampler


class Session:
    """A run of ``workload`` for ``request``, as one of ``ranks``."""

    def __init__(
        self,
        workload: Workload,
        request: Request,
        ranks: Ranks,
        on_progress: Callable[[Progress], None],
        sink: Callable[[Record], None],
        on_group: Callable[[str, Sequence[str]], None],
    ) -> None:
        self._workload, self._request, self._ranks = workload, request, ranks
        self._on_progress, self._sink, self._on_group = on_progress, sink, on_group
        self._limits = _limits(workload, request)
        self._cases: Sequence[Case] = ()
        self._seen: list[str] = []
        """Labels of the cases whose timing has ended, in whatever way."""
        self._running: Sequence[Sampler] = ()
        self._wrong: list[WrongNumbers] = []
        self._reported_at = 0.0

    def run(self) -> None:
        """Measure all groups of cases, one after the other; each record goes to the sink when it exists.

        Raises:
            WrongNumbers: at the end, if a case failed a check of its numerics; all others have been measured.
            MlhpcError: at once, if the sink fails.
            KeyboardInterrupt: with sentences on what is missing.
        """
        self._report("start", "")
        self._cases = self._workload.cases(self._request)
        _use_threads(self._request, self._cases)
        groups: dict[str, list[Case]] = {}
        for case in self._cases:
            groups.setdefault(case.group, []).append(case)
        try:
            for cases in groups.values():
                self._measure(cases)
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(self._missing(str(interrupt))) from None
        if self._wrong:
            raise WrongNumbers(" ".join(str(fault) for fault in self._wrong))
        self._report("done", "")

    def _measure(self, cases: Sequence[Case]) -> None:
        with ExitStack() as stack:
            timed = [one for case in cases if (one := self._prepare(case, stack)) is not None]
            if not timed:
                return
            for one in timed:
                self._ceiling(one)
            contention, interrupted = self._time(timed)
            # Half a second at most, in which a second Ctrl-C must not cost what the first one left.
            with shielded():
                left_out = self._finish(timed, contention)
        if interrupted:
            raise KeyboardInterrupt(left_out)

    def _prepare(self, case: Case, stack: ExitStack) -> _Timed | None:
        """Build a case, or tell why this machine cannot show what it is about and return None."""
        self._report("prepare", case.label)
        self._ranks.agree(0.0)  # all ranks stop here together, if one of them was asked to
        try:
            prepared = case.prepare()
        except CaseUnavailable as reason:
            self._leave_out(case, str(reason))
            return None
        stack.callback(prepared.close)
        try:
            require(case.label, prepared.gates)
        except WrongNumbers as fault:
            self._note_wrong(fault)
            self._leave_out(case, str(fault))
            return None
        synchronise = synchroniser(self._request.device)
        return _Timed(case, prepared, Sampler(case.label, prepared.step, synchronise, prepared.before_step))

    def _note_wrong(self, fault: WrongNumbers) -> None:
        """Keep the fault for the end of the run; one of several ranks cannot go on without the others."""
        if self._ranks.size > 1:
            raise fault
        self._wrong.append(fault)

    def _leave_out(self, case: Case, reason: str) -> None:
        """Count a case as seen and tell the reason; the other cases go on."""
        self._seen.append(case.label)
        self._report("left out", case.label, reason=reason)

    def _time(self, timed: Sequence[_Timed]) -> tuple[Contention, bool]:
        """Take the samples; return who else used the machine, and whether it ended by an interruption."""
        from mlhpc.machine import watch_contention

        interrupted = False
        self._running = [one.sampler for one in timed]
        with watch_contention() as watch:
            try:
                measure_group(
                    self._running,
                    self._limits,
                    seed=self._request.seed,
                    agree=self._ranks.agree,
                    on_turn=self._report_turn,
                )
            except KeyboardInterrupt:
                interrupted = True
        return watch.result(), interrupted

    def _finish(self, timed: Sequence[_Timed], contention: Contention) -> str:
        """Make the records of a group; return a sentence on the cases with too few samples for one."""
        from mlhpc.machine import inspect

        machine = inspect()
        too_few: list[str] = []
        made: list[str] = []
        for one in timed:
            if one.sampler.unavailable is not None:
                self._leave_out(one.case, one.sampler.unavailable)
                continue
            self._seen.append(one.case.label)
            if len(one.sampler.samples) < FEWEST_SAMPLES:
                too_few.append(f"{one.case.label} ({len(one.sampler.samples)})")
                continue
            try:
                made += self._record(one, contention, machine)
            except WrongNumbers as fault:
                self._note_wrong(fault)
        self._running = ()
        self._on_group(timed[0].case.group, made)
        return f"Fewer than {FEWEST_SAMPLES} samples, left out: {', '.join(too_few)}." if too_few else ""

    def _record(self, one: _Timed, contention: Contention, machine: Machine) -> list[str]:
        """Pass the record of a case to the sink and return its id; ranks other than the first make none."""
        from mlhpc.records.build import make_record

        case, prepared, sampler = one.case, one.prepared, one.sampler
        gates = (*prepared.gates, *prepared.final_gates())
        require(case.label, gates)
        if not self._ranks.first:
            return []
        record = make_record(
            workload=self._workload.name,
            tier=self._request.tier,
            metric=case.metric,
            unit="s",
            parameters=case.parameters,
            samples=sampler.samples,
            warmup=sampler.warmup,
            stopped=sampler.stopped or "interrupted",
            fixed_seconds=prepared.fixed_seconds,
            quantities=self._quantities(one, machine),
            gates=gates,
            machine=machine,
            contention=contention,
            packages=case.packages,
            command=repeat_command(self._workload.name, case, self._request),
        )
        self._sink(record)
        return [record.id]

    def _ceiling(self, one: _Timed) -> "Ceiling | None":
        """Return the measured peak to hold a case against, measured at the first call; all ranks at once."""
        if not one.prepared.flop_per_step:
            return None
        from mlhpc.bench.ceiling import measured_ceiling

        return measured_ceiling(self._request.device, _precision(one.case), self._request.tier)

    def _quantities(self, one: _Timed, machine: Machine) -> dict[str, Quantity]:
        from mlhpc.bench.ceiling import datasheet_flops
        from mlhpc.records.summary import summarise

        found = performance(
            one.prepared,
            summarise(one.sampler.samples),
            ceiling=self._ceiling(one),
            datasheet_flops=datasheet_flops(machine, self._request.device, _precision(one.case)),
            processes=self._request.processes,
        )
        return {**found, **one.prepared.final_quantities()}

    def _missing(self, left_out: str) -> str:
        """Return a sentence or two on what an interrupted run did not measure."""
        rest = [case.label for case in self._cases if case.label not in self._seen]
        sentences = [*([left_out] if left_out else []), *(str(fault) for fault in self._wrong)]
        if rest:
            sentences.append(f"Not measured: {', '.join(rest)}.")
        return " ".join(sentences)

    def _report_turn(self, sampler: Sampler) -> None:
        if time.monotonic() - self._reported_at >= _SECONDS_BETWEEN_REPORTS:
            self._report("measure", sampler.label, sampler)

    def _report(
        self,
        stage: Literal["start", "prepare", "measure", "left out", "done"],
        label: str,
        sampler: Sampler | None = None,
        reason: str = "",
    ) -> None:
        self._reported_at = time.monotonic()
        samples = sampler.samples if sampler is not None else []
        done = len(self._seen) + sum(_share_done(sampler, self._limits) for sampler in self._running)
        share = 1.0 if stage == "done" else done / max(1, len(self._cases))
        middle = median(samples) if samples else None
        self._on_progress(Progress(self._workload.name, label, stage, share, len(samples), middle, reason))


def _limits(workload: Workload, request: Request) -> Limits:
    limits = limits_for(request.tier, request.device)
    if not isinstance(workload, Capped):
        return limits
    return replace(
        limits, maximum_seconds=min(limits.maximum_seconds, workload.maximum_seconds(request.tier))
    )


def _share_done(sampler: Sampler, limits: Limits) -> float:
    """Return how much of a case's time is used up, 0 to 1; a case that has converged is done."""
    return 1.0 if sampler.stopped else min(1.0, sampler.elapsed / limits.maximum_seconds)


def _precision(case: Case) -> str:
    return str(case.parameters.get("precision", "fp32"))


def repeat_command(name: str, case: Case, request: Request) -> list[str]:
    """Return the command line that measures one case again in the same way."""
    count = ["--gpus" if request.device == "cuda" else "--processes", str(request.processes)]
    return [
        *(
            "mlhpc",
            "bench",
            name,
            "--variant",
            case.variant,
            "--tier",
            request.tier,
            "--device",
            request.device,
        ),
        *(count if request.processes > 1 else ()),
        *("--threads", str(threads_per_process(request)), "--seed", str(request.seed)),
    ]


def _use_threads(request: Request, cases: Sequence[Case]) -> None:
    """Make torch use the process's share of the cores, where a case computes with torch."""
    if any("torch" in case.packages for case in cases):
        import torch

        torch.set_num_threads(threads_per_process(request))
