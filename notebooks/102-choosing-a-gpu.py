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
# # Choosing a GPU: the notebook
#
# Which GPU do I ask for? [The episode](../episodes/102-choosing-a-gpu.md) gives the order of the questions:
# does it fit, can it compute in the format I need, and which of its two ceilings limits me? This notebook
# counts the memory of a training step, holds the count against a real process, and draws the ceilings of
# five GPUs and of your own machine. It needs no GPU.

# %%
import os
import subprocess
import sys

import pandas as pd
import torch
from torchvision.models import resnet50

from mlhpc import plots
from mlhpc.bench import measure
from mlhpc.bench.flops import training_flop
from mlhpc.estimate.memory import count_memory
from mlhpc.estimate.roofline import Roofline
from mlhpc.machine import inspect
from mlhpc.machine.hardware import load_hardware
from mlhpc.notebook_figure import NotebookFigure
from mlhpc.records.frame import RecordTable
from mlhpc.sites.load import load_sites

tier = os.environ.get("MLHPC_TIER", "smoke")
cores = inspect().cpu.cores_usable
torch.set_num_threads(cores)
plots.apply_style()
GIB = 2**30
print(f"{cores} cores, tier {tier}")

# %% [markdown]
# ## Exercise 102-1: Predict the memory
#
# A document says: "ResNet-50 is ~100MB, fits easily". It means the weights: 25.6 million numbers of 4 bytes.
# How many GB does a *training step* take, on 256 images of 224 by 224 pixels in fp32? Write down what you
# expect **before** you count.

# %% tags=["exercise-102-1", "solution"]
predicted_gb = 20  # far more than the weights: every layer keeps its output for each image until the way back

# %% [markdown]
# ## What a training step keeps
#
# Four parts: the weights, a gradient for each of them, what the optimiser remembers of each, and what the
# forward pass keeps so that the backward pass can use it. PyTorch tells us the last one: a hook sees every
# tensor that autograd saves. Two forward passes on two batch sizes separate what grows with the batch.

# %%
model = resnet50(weights=None).train()
images = torch.rand(4, 3, 224, 224)
full = count_memory(model, images)
half = count_memory(model, images, autocast=True)
rows = {
    "weights": (full.weights, half.weights),
    "gradients": (full.gradients, half.gradients),
    "SGD's momentum (Adam: twice that)": (full.optimizer, half.optimizer),
    "kept whatever the batch": (full.per_step, half.per_step),
    "kept for each image": (full.per_sample, half.per_sample),
    "a step on 256 images": (full.total(256), half.total(256)),
}
parts = [(name, f"{one / 1e6:.1f}", f"{other / 1e6:.1f}") for name, (one, other) in rows.items()]
RecordTable(pd.DataFrame(parts, columns=["what", "fp32, MB", "bf16 autocast, MB"]))

# %% [markdown]
# For one image, what is kept is about as large as the weights. For 256 images it is almost everything, and it
# alone grows with the batch. Under autocast it halves, while weights, gradients and momentum stay in fp32;
# the copies of the weights in 16 bits are what is kept whatever the batch.

# %% tags=["check-102-1"]
assert isinstance(predicted_gb, int | float), "write a number into predicted_gb"
assert predicted_gb > 1, "the weights alone are 0.1 GB; what is kept for 256 images comes on top"
print(f"counted: {full.total(256) / 1e9:.1f} GB in fp32, {half.total(256) / 1e9:.1f} GB under autocast")

# %% [markdown]
# ## Is the count right? Ask the operating system
#
# Two fresh processes train on batches of different size; the operating system knows the most memory that
# each had at a time (`VmHWM` in `/proc`). Their difference, for each image, is what the count should explain.
# Images of 128 by 128 pixels keep it short.

# %%
PROGRAM = """
import sys, torch
from torchvision.models import resnet50
batch = int(sys.argv[1])
model = resnet50(weights=None)
optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
images, labels = torch.rand(batch, 3, 128, 128), torch.randint(0, 1000, (batch,))
for _ in range(2):
    optimiser.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    optimiser.step()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""


def peak_bytes(batch: int) -> int:
    """Return the most main memory that a process had that trained on ``batch`` images."""
    command = [sys.executable, "-c", PROGRAM, str(batch)]
    return 1024 * int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


measured = (peak_bytes(20) - peak_bytes(8)) / 12
counted = count_memory(model, torch.rand(4, 3, 128, 128)).per_sample
overhead = measured / counted
print(f"each image: measured {measured / 1e6:.1f} MB, counted {counted / 1e6:.1f} MB: {overhead:.2f} times")
assert 0.9 < overhead < 2, "the count does not explain what this machine did"

# %% [markdown]
# A real step takes more than the count: on the way back the gradients of the activations need room as well,
# and kernels have buffers. The count is a floor. Leave room above it, by the factor that you just measured.
#
# ## Exercise 102-2: How large a batch fits?
#
# Write the function that says how many images fit into a GPU's memory, given what is fixed, what each image
# takes, and the factor by which a real step takes more.


# %% tags=["exercise-102-2"]
def largest_batch(memory: float, fixed: float, per_image: float, factor: float) -> int:
    """Return how many images fit into ``memory`` bytes if a real step takes ``factor`` times the count."""
    # solution
    return max(0, int((memory / factor - fixed) // per_image))
    # end of solution


# %% tags=["check-102-2"]
assert largest_batch(1000, 100, 9, 1.0) == 100, (
    "what is fixed comes off first, the rest is shared by the images"
)
assert largest_batch(1000, 100, 9, 2.0) == 44, (
    "with a factor of 2, only half of the memory is there for the count"
)
assert largest_batch(50, 100, 9, 1.0) == 0, "where the weights do not fit, no image does"
for gib in (16, 48, 80):
    fits = [largest_batch(gib * GIB, one.fixed, one.per_sample, overhead) for one in (full, half)]
    print(f"{gib} GB: {fits[0]} images in fp32, {fits[1]} under autocast")

# %% [markdown]
# ## Does it fit? One picture
#
# The rising lines are the step's memory, counted, against the batch. The horizontal ones are GPUs. Where
# they cross, the batch ends.

# %% mystnb={"image": {"alt": "Memory of a step against the batch, fp32 and autocast, with GPUs as levels."}}
batches = [1, 64, 128, 256, 512, 1024]
figure = NotebookFigure(figsize=(6.4, 4.2), layout="constrained")
axes = figure.add_subplot()
for label, one in (("fp32", full), ("bf16 autocast", half)):
    axes.plot(batches, [one.total(batch) / GIB for batch in batches], label=label)
for gib, name in ((16, "V100"), (48, "L40S"), (80, "A100, H100"), (96, "RTX PRO 6000")):
    axes.axhline(gib, color="#5C5C5C", linestyle=":", linewidth=1)
    axes.text(1024, gib + 1, f"{name}, {gib} GB", ha="right", fontsize=9)
axes.set_xlabel("Batch size (images)")
axes.set_ylabel("Memory of a step, counted (GiB)")
axes.legend()
figure

# %% [markdown]
# ## Can it compute in that format?
#
# Memory that fits is of no use if the GPU lacks the format. These are the data sheets' peaks, dense. A dash
# means that the GPU cannot do it: a V100 has neither TF32 nor bf16.

# %%
chosen = ("v100-sxm2-16gb", "l40s", "a100-sxm4-80gb", "rtx-pro-6000-workstation", "h100-sxm5-80gb")
gpus = {gpu.id: gpu for gpu in load_hardware().gpus if gpu.id in chosen}
formats = ("fp32", "tf32", "fp16", "bf16")
peaks = {
    gpus[name].name: {"capability": gpus[name].compute_capability}
    | {one: f"{gpus[name].peak(one) / 1e12:.0f}" if gpus[name].peak(one) else "-" for one in formats}
    | {"GB/s": f"{gpus[name].memory_bytes_per_second / 1e9:.0f}"}
    for name in chosen
}
print("TFLOP/s at most, and bandwidth of the memory:")
RecordTable(pd.DataFrame(peaks).T.rename_axis("GPU").reset_index())

# %% [markdown]
# ## Which ceiling limits it?
#
# A GPU has two ceilings: how fast it computes, and how fast its memory delivers. How much a program computes
# for each byte it moves, its *intensity*, decides which one it meets. `least_traffic` counts the bytes that a
# step moves at least; so the real intensity is lower than this one.

# %%
flop = training_flop(lambda: resnet50(weights=None), (1, 3, 224, 224), lambda out: out.sum())
intensity = 256 * flop / half.least_traffic(256)
lines = {
    gpus[name].name.removeprefix("NVIDIA "): Roofline(
        name, gpus[name].peak("bf16") or gpus[name].peak("fp16"), gpus[name].memory_bytes_per_second
    )
    for name in chosen
}
own = {
    record.parameters["operation"]: record
    for record in measure("peak", tier=tier, variants=["matrix-product-fp32", "memory-copy"])
}
lines["this machine, fp32, measured"] = Roofline(
    "this machine",
    own["matrix-product"].quantities["achieved_flops"].value,
    own["memory-copy"].quantities["achieved_bandwidth"].value,
)
print(f"ResNet-50, 256 images: {256 * flop / 1e12:.1f} TFLOP, at most {intensity:.0f} FLOP for each byte")
for name, line in lines.items():
    limit = "computing" if intensity > line.ridge else "memory"
    print(f"{name:36} ridge {line.ridge:5.0f} FLOP/byte: limited by {limit}")

# %% mystnb={"image": {"alt": "Rooflines of five GPUs and of this machine, with ResNet-50's intensity."}}
figure = NotebookFigure(figsize=(6.4, 4.6), layout="constrained")
axes = figure.add_subplot()
xs = [2 ** (n / 4) for n in range(-4, 49)]
for name, line in lines.items():
    axes.plot(xs, [line.attainable(x) for x in xs], label=name, markevery=12)
axes.axvline(intensity, color="#5C5C5C", linestyle=":")
axes.text(intensity * 1.08, axes.get_ylim()[0], "ResNet-50", rotation=90, va="bottom", fontsize=9)
axes.set_xscale("log", base=2)
axes.set_yscale("log")
axes.set_xlabel("Intensity (FLOP for each byte moved)")
axes.set_ylabel("Attainable (FLOP/s)")
axes.legend(fontsize=8)
figure

# %% [markdown]
# The L40S has the highest ridge: plenty of computing, little bandwidth. ResNet-50 is to the left of it, so on
# an L40S the memory is the limit, and its large peak does not help. The A100 computes less and delivers more.
# All lines are bounds: no program reaches them, and what you get is measured, not read off.

# %%
bounds = {name: 256 / line.shortest_time(256 * flop, half.least_traffic(256)) for name, line in lines.items()}
for name in list(bounds)[:-1]:
    print(
        f"{name:36} at most {bounds[name]:6.0f} images/s, {bounds[name] / bounds['L40S']:.2f} times an L40S"
    )

# %% [markdown]
# ## On the clusters of this course
#
# For each kind of GPU in the site profiles: does the step fit with its 256 images, and what is the largest
# batch? A memory that a profile does not know stays unknown.

# %%
found = []
for site in load_sites():
    for cluster in site.clusters if site.id != "practice" else ():
        for gpu in cluster.gpus:
            room = gpu.memory.bytes if gpu.memory else None
            need = overhead * full.total(256)
            best = half if gpu.bf16 else full
            found.append(
                {
                    "cluster": cluster.name,
                    "GPU": gpu.id,
                    "memory": str(gpu.memory or "not known"),
                    "256 images in fp32": "not known"
                    if room is None
                    else "fits"
                    if need < room
                    else "does not fit",
                    "format": "bf16" if gpu.bf16 else "fp32",
                    "largest batch": largest_batch(room, best.fixed, best.per_sample, overhead)
                    if room
                    else "-",
                }
            )
table = pd.DataFrame(found)
assert set(table["256 images in fp32"]) <= {"fits", "does not fit", "not known"}
RecordTable(table)

# %% [markdown]
# ## Exercise 102-3: Choose for your own job
#
# Put in a model of your own (or take this one), count it, and write the function that returns the smallest
# memory, in GB, of the GPUs on which your batch fits. Ask for that one first.


# %% tags=["exercise-102-3"]
def smallest_that_fits(need: float, memories: list[int]) -> int | None:
    """Return the smallest of ``memories`` (a data sheet's GB, 2**30 bytes each) that holds ``need`` bytes."""
    # solution
    fitting = [gib for gib in memories if gib * GIB >= need]
    return min(fitting, default=None)
    # end of solution


# %% tags=["check-102-3"]
memories = [16, 40, 48, 80, 96]
assert smallest_that_fits(10 * GIB, memories) == 16, "10 GB fit into the smallest"
assert smallest_that_fits(41 * GIB, memories) == 48, "a GPU that is a little too small does not hold it"
assert smallest_that_fits(200 * GIB, memories) is None, (
    "what fits nowhere has no answer: make the batch smaller"
)
my_model, my_samples, my_batch = model, images, 256
mine = count_memory(my_model, my_samples, autocast=True)
print(f"my step: {overhead * mine.total(my_batch) / GIB:.1f} GiB with room for what is not counted;", end=" ")
print(f"ask for a GPU with {smallest_that_fits(overhead * mine.total(my_batch), memories)} GB")
