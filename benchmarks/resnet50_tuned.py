"""Tuned ResNet-50 training on a CPU against the plain one, and against torchvision's own training step.

    python benchmarks/resnet50_tuned.py [--pixels 224] [--batch 8] [--seconds 30]

All contestants take turns in shuffled rounds on the same images: mlhpc's step in float32 and the default
layout (plain), in float32 with channels last, in bfloat16 with channels last, and the step of torchvision's
training reference (references/classification/train.py, train_one_epoch) written out by hand, plain as well.
Prints medians and how many times as fast as plain each is, with 95 % bootstrap intervals.
"""

import argparse
from collections.abc import Callable

from mlhpc.bench.case import Request
from mlhpc.bench.numerics import require
from mlhpc.bench.protocol import Limits, Sampler, measure_group
from mlhpc.bench.resnet50_task import make_model, make_task
from mlhpc.bench.training import Setting, prepare_training, reference_gradient
from mlhpc.machine import watch_contention
from mlhpc.records.compare import ratio_interval
from mlhpc.records.summary import summarise


def torchvision_step(pixels: int, batch: int) -> Callable[[], None]:
    """Return one iteration of train_one_epoch with its default options (no autocast, no exponential average).

    The reference's loader yields normalised float images, so they are made once, outside the step.
    """
    import torch
    from torch import nn

    model = make_model(0).train()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, weight_decay=1e-4)
    task = make_task(pixels, 0)
    images, target = task.batch(batch, 0)
    image = task.ready(images, torch.float32)

    def step() -> None:
        output = model(image)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # What its metric logger reads after each step: the loss and the top-1 and top-5 accuracy.
        with torch.inference_mode():
            _, predicted = output.topk(5, 1, True, True)
            correct = predicted.t().eq(target[None])
            top1, top5 = (correct[:k].flatten().sum(dtype=torch.float32) * (100.0 / batch) for k in (1, 5))
        loss.item(), top1.item(), top5.item()

    return step


def contestants(pixels: int, batch: int) -> dict[str, Callable[[], None]]:
    """Return the steps by name, the baseline first; each of ours has passed its check against float64."""
    request = Request("quick")
    task = make_task(pixels, request.seed)
    reference = reference_gradient(task, batch, request)
    steps: dict[str, Callable[[], None]] = {}
    for precision, channels_last in (("fp32", False), ("fp32", True), ("bf16", True)):
        name = f"{precision} {'channels_last' if channels_last else 'nchw'}"
        setting = Setting(precision, batch, batch, channels_last)
        prepared = prepare_training(task, setting, request, flop_per_item=1.0, reference=lambda: reference)
        require(name, prepared.gates)
        steps[name] = prepared.step
    return {**steps, "torchvision's own step": torchvision_step(pixels, batch)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pixels", type=int, default=224)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30.0, help="at most, for each contestant")
    arguments = parser.parse_args()

    steps = contestants(arguments.pixels, arguments.batch)
    samplers = [Sampler(name, step, synchronise=lambda: None) for name, step in steps.items()]
    with watch_contention() as watch:
        measure_group(samplers, Limits(3, 10.0, 12, 12, 2000, arguments.seconds))
    plain = samplers[0].samples
    for sampler in samplers:
        summary = summarise(sampler.samples)
        low, high = ratio_interval(plain, sampler.samples)
        ratio = summarise(plain).median / summary.median
        noisy = ", too noisy for a verdict" if summary.noisy else ""
        print(
            f"{sampler.label:24} {summary.median * 1e3:7.1f} ms, "
            f"{arguments.batch / summary.median:6.2f} images/s, "
            f"{ratio:.2f} times as fast as plain [{low:.2f}, {high:.2f}], {summary.count} samples{noisy}"
        )
    load = watch.result()
    print(f"load average {load.load_average_before:.1f} before, {load.load_average_after:.1f} after")


if __name__ == "__main__":
    main()
