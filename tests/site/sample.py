"""A small course with one lesson and made-up records, to try every role and directive.

The numbers in the records are invented for these tests: they are never published, and live in a temporary
folder only.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from mlhpc.machine.model import Contention, Cpu, Gpu, Machine, Memory
from mlhpc.plots import plot_records
from mlhpc.records.build import make_record
from mlhpc.records.schema import Quantity, Record, Scalar, Tier
from mlhpc.records.store import append_record

COURSE = Path(__file__).resolve().parents[2]
STEM = "101-sample"

QUIET = Contention(
    load_average_before=0.1,
    load_average_after=0.9,
    throttled_seconds=0.0,
    stolen_share=0.0,
    omp_wait_policy="PASSIVE",
    omp_num_threads=None,
)


def machine(*, gpu: str | None = None, cores: int = 2) -> Machine:
    """Return a machine for made-up records."""
    card = {"memory_bytes": 80 * 10**9, "compute_capability": "8.0", "driver": "1.0", "multi_instance": False}
    gpus = () if gpu is None else (Gpu.model_validate({"index": 0, "name": gpu, **card}),)
    cpu = Cpu(
        model="Example CPU 9000",
        architecture="x86_64",
        cores_present=8,
        cores_in_affinity=cores,
        cores_in_quota=None,
        cores_usable=cores,
        instruction_sets=("avx2", "avx512_bf16"),
    )
    memory = Memory(total_bytes=16 * 10**9, limit_bytes=None, usable_bytes=16 * 10**9)
    return Machine(
        cpu=cpu,
        memory=memory,
        gpus=gpus,
        scheduler=None,
        session="laptop",
        operating_system="Linux 6.1, Example",
        warnings=(),
    )


def record(
    workload: str,
    seconds: float,
    items: float,
    item: str,
    where: Machine,
    *,
    tier: Tier = "quick",
    **parameters: Scalar,
) -> Record:
    """Return a made-up record whose samples lie around ``seconds``, with the throughput that follows."""
    samples = [seconds * (1 + 0.01 * step) for step in (-2, -1, 0, 0, 1, 2, 0, 1)]
    device = "cuda" if where.gpus else "cpu"
    return make_record(
        workload=workload,
        tier=tier,
        metric="step_time",
        unit="s",
        parameters={
            "device": device,
            "processes": 1,
            "threads": where.cpu.cores_usable,
            "seed": 0,
            **parameters,
        },
        samples=samples,
        warmup=[seconds * 2],
        stopped="converged",
        fixed_seconds={},
        quantities={
            "throughput": Quantity(
                value=items / seconds,
                unit=f"{item}/s",
                low=items / (seconds * 1.02),
                high=items / (seconds * 0.98),
            )
        },
        gates=(),
        machine=where,
        contention=QUIET,
        packages=("numpy",),
        command=("mlhpc", "bench", workload),
    )


def published() -> list[Record]:
    """Return the made-up records that the sample course publishes."""
    laptop, node = machine(), machine(gpu="Example GPU 80GB", cores=16)
    return [
        record("resnet50", 0.80, 8, "images", laptop, precision="fp32", layout="nchw", batch=8),
        record("resnet50", 0.40, 8, "images", laptop, precision="bf16", layout="channels_last", batch=8),
        record(
            "resnet50",
            0.05,
            64,
            "images",
            node,
            precision="bf16",
            layout="channels_last",
            batch=64,
            compile=False,
        ),
        *(
            record("dense", 1e-4 + 2.5e-6 * batch, batch, "samples", laptop, batch=batch)
            for batch in (64, 1024, 16384, 65536)
        ),
        record("loading", 0.5, 256, "images", laptop, method="pil"),
        record("loading", 0.5, 256, "images", laptop, tier="full", method="pil"),
        *(
            record("dense", 4e-4 + 2e-8 * batch, batch, "samples", node, batch=batch)
            for batch in (64, 1024, 16384)
        ),
    ]


def local() -> list[Record]:
    """Return made-up records of "this machine"."""
    own = machine(cores=4)
    return [
        record("dense", 0.1, 8, "samples", own, tier="full", depth=3),
        record("resnet50", 0.90, 8, "images", own, tier="smoke", precision="fp32", layout="nchw", batch=8),
        record("resnet50", 0.55, 8, "images", own, precision="fp32", layout="nchw", batch=8),
        *(
            record("dense", 3e-4 + 2e-6 * batch, batch, "samples", own, batch=batch)
            for batch in (64, 1024, 16384)
        ),
    ]


FRONT_MATTER = """---
title: A sample lesson
teaching: 20
exercises: 25
questions:
  - Does every directive work?
  - Does a page say where its numbers come from?
objectives:
  - Measure a thing.
  - Explain where a number comes from.
prerequisites:
  - Nothing
keypoints:
  - A claim in a key point says {claim}`sample-speedup`.
  - A number names its source.
notebook: 101-sample.ipynb
sites: []
exercise_list:
  - {id: "101-1", title: Predict the throughput, minutes: 10, kind: predict}
  - {id: "101-2", title: Carry it over, minutes: 15, kind: transfer}
---
"""

EPISODE = """# A sample lesson

```{lesson-overview}
```

The source says {claim}`sample-speedup`, measured was {measured}`sample-speedup`. One record says
{record}`resnet50?device=cpu&precision=bf16#throughput`, and a file takes {illustration}`about 3 GB`.
Time is $t = a + b n$:

$$t(n) = t_0 + \\\\frac{n}{r}$$

```{record-table} resnet50
:columns: precision, layout, compile, batch, throughput, step_time as Time of a step, machine
:caption: ResNet-50 by precision
```

```{record-plot} dense
:x: batch
:y: throughput
:x-label: Batch size (samples)
:alt: Throughput grows with the batch size on both machines.
:caption: Throughput of the dense network by batch size.
```

```{record-plot} resnet50?device=cpu
:x: precision
:y: step_time
:alt: A step in bf16 takes half the time of one in fp32.
```

```{claim-table} sample-speedup sample-cited
```

```{claim-plot} sample-speedup sample-range sample-bound
:alt: The measured speed-up lies within the claimed range, the other two claims have no measurement.
:labels: bf16 against fp32 | a wide range | a bound
```

:::{exercise} Predict the throughput
:label: 101-1
What do you expect?
:::

:::{solution} 101-1
:class: dropdown
Twice as much.
:::

:::{exercise} Carry it over
:label: 101-2
What about your own job?
:::

:::{admonition} Instructor notes
:class: instructor dropdown
Ask before you show.
:::
"""


def drawing() -> str:
    """Return a figure as a notebook holds it."""
    return plot_records(
        [one for one in published() if one.workload == "dense"], x="batch", y="throughput"
    ).svg()


def notebook() -> str:
    """Return an executed notebook with text and a figure, as the execution of a lesson leaves it."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# The sample notebook"},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {},
            "execution_count": 1,
            "source": "print('a line of output that is long enough to scroll on a telephone' * 2)",
            "outputs": [{"output_type": "stream", "name": "stdout", "text": "a line of output " * 20}],
        },
    ]
    image = {"alt": "Throughput against batch size, as the notebook drew it."}
    cells.append(
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {"mystnb": {"image": image}},
            "execution_count": 2,
            "source": "plot_records(dense, x='batch', y='throughput')",
            "outputs": [
                {
                    "output_type": "execute_result",
                    "execution_count": 2,
                    "metadata": {},
                    "data": {"text/plain": "<NotebookFigure>", "image/svg+xml": drawing()},
                }
            ],
        }
    )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content)


def write_course(root: Path) -> Path:
    """Write the sample course into ``root``: the real frame with a made-up lesson, records and claims."""
    shutil.copy(COURSE / "_config.yml", root / "_config.yml")
    for folder in ("ext", "static", "templates", "root"):
        shutil.copytree(
            COURSE / "book" / folder, root / "book" / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("build.py", "site_pages.py"):
        shutil.copy(COURSE / "book" / name, root / "book" / name)
    (root / "data" / "sites").mkdir(parents=True)
    for name in ("generic", "osc", "sagehen"):
        shutil.copy(COURSE / "data" / "sites" / f"{name}.yml", root / "data" / "sites")
    for name in ("episodes", "notebooks", "data/records"):
        (root / name).mkdir(parents=True)
    (root / "episodes" / f"{STEM}.md").write_text(
        FRONT_MATTER + EPISODE.replace("\\\\", "\\"), encoding="utf-8"
    )
    (root / "notebooks" / f"{STEM}.ipynb").write_text(notebook(), encoding="utf-8")
    (root / "notebooks" / f"{STEM}.py").write_text(
        "# %% [markdown]\n# # The sample notebook\n", encoding="utf-8"
    )
    (root / "data" / "claims.yml").write_text(CLAIMS, encoding="utf-8")
    for entry in published():
        append_record(root / "data" / "records", entry)
    pages = {
        "index": "# Sample\n\n{ref}`The ledger <claim-sample-speedup>` holds it.\n",
        "lists": "# Lists\n\n## Schedule\n\n```{schedule}\n```\n\n## Exercises\n\n```{exercise-list}\n```\n",
        "key-points": "# Key points\n\n```{key-points}\n```\n",
        "claims": "# Claims\n\n```{ledger}\n```\n",
        "your-cluster": SITE_TEXT,
        "more-clusters": f"# Elsewhere\n\n{TABS}\n",
        "references": "# References\n\n```{sources}\n```\n",
        "measured-on": "# Measured on\n\n```{machines}\n```\n\n## Notebooks\n\n```{notebooks}\n```\n",
    }
    for name, text in pages.items():
        (root / "book" / f"{name}.md").write_text(text, encoding="utf-8")
    chapters = [f"book/{name}" for name in pages if name != "index"] + [
        f"episodes/{STEM}",
        f"notebooks/{STEM}",
    ]
    chapters.append("book/sites/*")
    toc = "format: jb-book\nroot: book/index\nchapters:\n" + "".join(
        f"  - {'glob' if '*' in page else 'file'}: {page}\n" for page in chapters
    )
    (root / "book" / "_toc.yml").write_text(toc, encoding="utf-8")
    return root


TABS = """
:::{on-your-cluster}
:schedulers: slurm

Data lives in {{ project.path }}; scratch goes after {{ scratch.purge.after }}. This is {{ cluster.name }}.

```bash
df -h {{ scratch.path }}
```
:::
"""

SITE_TEXT = f"""# Your cluster

```{{site-list}}
```

The purge is {{site}}`osc storage.scratch.purge.after`.

{TABS}

```{{job-script}}
:gpu: any
:time: 2 h
python train.py
```

```{{site-table}} storage
```
"""


CLAIMS = """
version: 1
sources:
  sample-document: {title: A sample document, where: made up for a test, kind: own work}
claims:
  - id: sample-speedup
    statement: bf16 with channels_last is this much faster than fp32 in the default layout.
    source: sample-document
    where: the table
    value: {low: 1.5, high: 2.5}
    unit: x
    confirm:
      kind: ratio
      numerator: resnet50?device=cpu&precision=bf16#throughput
      denominator: resnet50?device=cpu&precision=fp32#throughput
  - id: sample-cited
    statement: A number that nobody measured here.
    source: sample-document
    where: the last line
    value: {value: 2470}
    unit: images/s
    confirm: null
  - id: sample-range
    statement: A wide range.
    source: sample-document
    where: nowhere
    value: {low: 0.5, high: 8}
    unit: x
  - id: sample-bound
    statement: A bound.
    source: sample-document
    where: nowhere
    value: {low: 1.2}
    unit: x
"""
