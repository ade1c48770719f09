"""What the measuring loop costs: mlhpc's loop against a bare loop on the same model.

    python benchmarks/harness_overhead.py [--model dense|resnet50] [--rounds 60]

Both loops run the same steps of the same prepared model in turns, in shuffled order; the ratio of a round's
two times is one sample. Prints the median ratio with its 95 % bootstrap interval; the target is at most 1.01.
The dense network at batch 64 has the shortest step of all workloads: it shows the overhead at its largest.
On a machine that others use, the ratio of processor times is the steadier of the two that are printed.
"""

import argparse
import random
import time
from collections.abc import Callable

import numpy as np

from mlhpc.bench.case import Request
from mlhpc.bench.protocol import Limits, Sampler, measure_group
from mlhpc.bench.registry import find_workload
from mlhpc.records.summary import bootstrap_medians

VARIANTS = {"dense": "batch-64", "resnet50": "fp32-nchw"}
TARGET = 1.01

Loop = Callable[[Callable[[], None], int], None]


def bare_loop(step: Callable[[], None], steps: int) -> None:
    """Run the steps and nothing else."""
    for _ in range(steps):
        step()


def measuring_loop(step: Callable[[], None], steps: int) -> None:
    """Run as many steps as the protocol does it: turns, samples, looks at the interval that never suffice."""
    limits = Limits(1, 60.0, 12, 1, maximum_samples=steps - 1, maximum_seconds=600.0, half_width=0.0)
    measure_group([Sampler("measured", step, synchronise=lambda: None)], limits)


def seconds(loop: Loop, step: Callable[[], None], steps: int) -> tuple[float, float]:
    """Return the elapsed time and the processor time (all threads) that ``loop`` takes."""
    start, processor = time.perf_counter(), time.process_time()
    loop(step, steps)
    return time.perf_counter() - start, time.process_time() - processor


def paired_ratios(step: Callable[[], None], steps: int, rounds: int) -> tuple[list[float], list[float]]:
    """Return measuring loop over bare loop for each round, of elapsed and of processor time."""
    order = random.Random(0)
    loops: list[Loop] = [bare_loop, measuring_loop]
    elapsed, processor = [], []
    for _ in range(rounds):
        order.shuffle(loops)
        taken = {loop: seconds(loop, step, steps) for loop in loops}
        measured, bare = taken[measuring_loop], taken[bare_loop]
        elapsed.append(measured[0] / bare[0])
        processor.append(measured[1] / bare[1])
    return elapsed, processor


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=VARIANTS, default="dense")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=0.15, help="of one loop in one round")
    arguments = parser.parse_args()

    request = Request("smoke", variants=(VARIANTS[arguments.model],))
    step = find_workload(arguments.model).cases(request)[0].prepare().step
    bare_loop(step, 10)
    steps = max(14, round(arguments.seconds / (seconds(bare_loop, step, 14)[0] / 14)))
    print(f"{arguments.model}: {steps} steps a loop, {arguments.rounds} rounds in turns")
    for name, ratios in zip(
        ("elapsed", "processor"), paired_ratios(step, steps, arguments.rounds), strict=True
    ):
        low, high = np.quantile(bootstrap_medians(ratios), (0.025, 0.975))
        print(
            f"measuring loop / bare loop, {name} time: "
            f"{np.median(ratios):.4f} [{low:.4f}, {high:.4f}], target {TARGET}"
        )


if __name__ == "__main__":
    main()
