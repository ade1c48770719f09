# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # CPU or GPU? The notebook
#
# Which workloads gain from a GPU? [The episode](../episodes/101-cpu-or-gpu.md) checks a table of speed-ups;
# this notebook measures what the table leaves out: the batch, the baseline, the rows and the loader. It
# needs no GPU. With one, the same cells use it.
#
# How large the measurements are is set by `MLHPC_TIER`: `smoke` takes seconds and shows that everything
# runs, `quick` takes minutes and is worth looking at, `full` is for a GPU node.

# %%
import os
import time

import torch
from torch import nn

from mlhpc import plots
from mlhpc.bench import measure
from mlhpc.bench.fit import fit_records
from mlhpc.claims import check, load_claims
from mlhpc.machine import inspect
from mlhpc.paths import published_records_folder
from mlhpc.records.compare import compare
from mlhpc.records.frame import provenance, table
from mlhpc.records.query import parse_reference, select
from mlhpc.records.store import read_records

tier = os.environ.get("MLHPC_TIER", "smoke")
machine = inspect()
torch.set_num_threads(machine.cpu.cores_usable)
recorded = read_records(published_records_folder()).records
plots.apply_style()
print(f"{machine.cpu.cores_usable} cores of {machine.cpu.model}; {len(machine.gpus)} GPUs; tier {tier}")

# %% [markdown]
# ## Exercise 101-1: Predict the step time
#
# The dense network below takes a certain time for a training step on 64 samples. How many times as long
# does a step on 1024 samples take? Write down what you expect **before** you run the measurement: about 1,
# a few, 16, or more?

# %% tags=["exercise-101-1", "solution"]
predicted_ratio = (
    6  # more than 1, since each sample costs something; less than 16, since the fixed cost is paid once
)

# %% [markdown]
# This is the whole training step, as you would write it. It runs on all cores that this process may use.


# %%
def make_step(batch: int):
    """Return a function that trains a small dense network by one step on ``batch`` samples."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(28, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    features = torch.randn(batch, 28)
    labels = (features[:, 0] * features[:, 1] > 0).float()

    def step() -> None:
        loss = nn.functional.binary_cross_entropy_with_logits(model(features).squeeze(1), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return step


def median_seconds(step, repeats: int = 31) -> float:
    """Return the median time of a step, after a warm-up that is thrown away."""
    for _ in range(5):
        step()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return sorted(times)[repeats // 2]


small, large = median_seconds(make_step(64)), median_seconds(make_step(1024))
print(
    f"64 samples: {small * 1e3:.2f} ms, 1024 samples: {large * 1e3:.2f} ms, {large / small:.1f} times as long"
)

# %% [markdown]
# Sixteen times the samples did not take sixteen times as long: a part of the step is paid once, whatever
# the batch.

# %% tags=["check-101-1"]
assert isinstance(predicted_ratio, int | float), "write a number into predicted_ratio"
assert predicted_ratio > 1, "more samples are more work: the step cannot take the same time or less"
assert predicted_ratio < 16, (
    "sixteen assumes that a step costs nothing before the first sample: see the measurement"
)

# %% [markdown]
# ## A step costs a fixed part and a part per sample
#
# `measure` is the measuring loop of this course: warm-up dropped, batches timed in turns, medians with an
# interval. Four batch sizes give a straight line, and its two numbers say where a faster device could help.

# %% mystnb={"image": {"alt": "Step time against batch size, with the fitted line and its floor."}}
dense = measure("dense", tier=tier)
fit = fit_records(dense)
print(f"fixed cost {fit.per_step.value * 1e6:.0f} µs, per sample {fit.per_sample.value * 1e6:.2f} µs")
print(f"equal at a batch of {fit.break_even_batch:.0f}; the line is off by at most {fit.worst_error:.0%}")
plots.plot_fit(
    [record.parameters["batch"] for record in dense],
    [record.summary.median for record in dense],
    fixed=fit.per_step.value,
    per_item=fit.per_sample.value,
    item="batch size (samples)",
)

# %% [markdown]
# Left of the bend the fixed cost is most of the step. A GPU does not remove it, it launches the same few
# operations one after the other. Right of the bend the samples are most of it, and there a GPU gains.
#
# ## Exercise 101-2: Fit the two costs yourself
#
# Two batch sizes are enough for a line. Write the function that finds its two numbers.


# %% tags=["exercise-101-2"]
def two_costs(batch_a: int, seconds_a: float, batch_b: int, seconds_b: float) -> tuple[float, float]:
    """Return the fixed cost and the cost per sample (seconds) of the line through two step times."""
    # solution
    per_sample = (seconds_b - seconds_a) / (batch_b - batch_a)
    return seconds_a - batch_a * per_sample, per_sample
    # end of solution


# %% tags=["check-101-2"]
answer = two_costs(64, 3e-4, 1024, 27e-4)
assert isinstance(answer, tuple), "return two numbers: the fixed cost and the cost per sample"
fixed, per_sample = answer
assert abs(per_sample - 2.5e-6) < 1e-9, (
    "the cost per sample is the difference in time over the difference in samples"
)
assert abs(fixed - 1.4e-4) < 1e-9, "the fixed cost is what is left of the smaller step without its samples"
by_batch = {record.parameters["batch"]: record.summary.median for record in dense}
fixed, per_sample = two_costs(64, by_batch[64], 65536, by_batch[65536])
print(
    f"from two batches alone, a step on 16,384: predicted {(fixed + 16384 * per_sample) * 1e3:.1f} ms,",
    end=" ",
)
print(f"measured {by_batch[16384] * 1e3:.1f} ms")

# %% [markdown]
# ## Break it: speed-ups without a baseline, and no GPU anywhere
#
# ResNet-50 on the same cores and the same images. Only the number format and the order of the pixels in
# memory differ. Whoever quotes a GPU over one of these rows quotes their differences along with it.

# %%
resnet50 = measure("resnet50", tier=tier, variants=["fp32-nchw", "fp32-channels_last", "bf16-channels_last"])
columns = ["precision", "layout", "image_size", "batch", "throughput"]
table(resnet50, columns)

# %% [markdown]
# ## Mend it: name both sides
#
# A comparison that says what was compared, with an interval, and that says "cannot tell" where the machine
# was too busy or the run too short.

# %%
baseline, *others = resnet50
for record in others:
    found = compare(baseline, record)
    names = [f"{one.parameters['precision']} {one.parameters['layout']}" for one in (record, baseline)]
    interval = f"{found.ratio:.2f} [{found.low:.2f}, {found.high:.2f}]"
    print(f"{names[0]} against {names[1]}: {interval}, {found.verdict}")

# %% [markdown]
# At smoke tier the images are small and the run is short: look at it and do not quote it. This is what was
# recorded at quick tier, on full-size images. Is the fastest row the same on your machine? On some processors
# bf16 is the fastest, on others the slowest.

# %%
chosen = select(recorded, parse_reference("resnet50?device=cpu&processes=1&tier=quick").query)
print(provenance(chosen))
table(chosen, columns)

# %% [markdown]
# ## XGBoost: the rows decide
#
# The same two costs, now by rows. `construct` turns the table into a matrix of bins, `train` grows the
# trees. A benchmark that times only the second leaves out the first.

# %%
xgboost = measure("xgboost", tier=tier)
table(xgboost, ["phase", "rows", "trees", "median", "throughput"])

# %% [markdown]
# ## The loader: the ceiling
#
# How many images a second does one core deliver? No device trains on more. All four ways give the network
# the same pixels; that is checked before their time counts.

# %%
loading = measure("loading", tier=tier, variants=["pil", "torchvision", "tar", "prebatched"])
table(loading, ["method", "workers", "cache", "throughput"])

# %% [markdown]
# ## The same on a GPU
#
# One word changes: `device="cuda"`. Where there is no GPU, this cell says so and shows what is recorded.

# %%
if machine.gpus:
    on_gpu = measure("dense", tier=tier, device="cuda")
    print(f"{machine.gpus[0].name}, measured now")
else:
    on_gpu = select(recorded, parse_reference("dense?device=cuda&processes=1").query)
    print("This process sees no GPU, so nothing was measured on one.")
    print(provenance(on_gpu) if on_gpu else "The course has no record of this workload on a GPU yet.")
table(on_gpu, ["batch", "median", "throughput"]) if on_gpu else None

# %% [markdown]
# ## Check it: the document's table, row by row
#
# Each cell of the table in "ML Workflow Overview" is a claim with a query on records. `cited only` means
# that no record of the course can tell; `contradicted` without a measurement comes from arithmetic between
# two cells.

# %% tags=["nbval-check-output"]
ledger = load_claims()
cells = [
    verdict
    for verdict in check(ledger, recorded)
    if verdict.claim.where.startswith('Table "Performance Scaling"')
]
for verdict in cells:
    value = verdict.claim.value
    print(f"{verdict.claim.id:30} {value.stated[0]:4g} to {value.stated[1]:<4g} {verdict.verdict}")
impossible = ledger.claim("derived-xgboost-four-gpu-efficiency").value
print(
    "four GPUs over one, XGBoost: each would do "
    f"{impossible.low:g} to {impossible.high:g} % of the work of one"
)
assert impossible.low >= 100, "the table's own numbers leave no room for four GPUs that are less than perfect"

# %% [markdown]
# ## Exercise 101-3: Decide for your own job
#
# In the case that opens the episode, mixed precision nearly tripled what the GPUs could compute, and the
# run took as long as before. Write the function that would have told so: what a job gains, given what the
# loader delivers and what the two devices compute (all in samples per second). Then put in the numbers of a
# job of your own.


# %% tags=["exercise-101-3"]
def gain(loader: float, compute_before: float, compute_after: float) -> float:
    """Return how many times as fast the whole job becomes when only its computing becomes faster."""
    # solution
    return min(loader, compute_after) / min(loader, compute_before)
    # end of solution


# %% tags=["check-101-3"]
before = ledger.claim("loader-hidden-fp32-rate").value.value
after = ledger.claim("loader-hidden-amp-rate").value.value
minutes = ledger.claim("loader-hidden-amp-minutes").value.value
images = 90 * 1_281_167  # epochs times the images of ImageNet
by_the_clock = images / (minutes * 60)
answer = gain(by_the_clock, before, after)
assert isinstance(answer, float), "return a number: the rate of the job afterwards over its rate before"
assert answer == 1.0, "the loader delivers less than either device computes: the job gains nothing"
assert gain(10_000, before, after) == after / before, (
    "with a fast loader the job gains what the computing gains"
)
assert gain(2_000, before, after) == 2_000 / before, "in between, the loader becomes the limit on the way"
print(
    f"by the clock {by_the_clock:.0f} images/s; "
    f"the reported rate grew {after / before:.1f} times, the job got no faster"
)
