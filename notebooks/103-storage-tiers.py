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
# # Storage tiers: the notebook
#
# Where does my data live, and how fast is it? [The episode](../episodes/103-storage-tiers.md) tells which
# storage tiers a cluster has. This notebook finds those of the machine that it runs on, measures them, and
# loses a job's results twice: once to a signal, once to a folder that ended with its job. Both are mended.
#
# How large the measurements are is set by `MLHPC_TIER`: `smoke` takes seconds and shows that everything
# runs, `quick` is worth looking at, `full` is for a cluster node. (That is a tier of thoroughness; the tiers
# of this lesson are places for files.)

# %%
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import pandas

from mlhpc import plots
from mlhpc.bench.case import Request
from mlhpc.bench.registry import find_workload
from mlhpc.bench.runner import run
from mlhpc.formatting import format_value
from mlhpc.machine.storage import distinct, find_storage
from mlhpc.paths import published_records_folder
from mlhpc.records.frame import RecordTable, provenance, table
from mlhpc.records.query import parse_reference, select
from mlhpc.records.store import read_records

tier = os.environ.get("MLHPC_TIER", "smoke")
recorded = read_records(published_records_folder()).records
storage = find_workload("storage")

# %% [markdown]
# ## Which tiers are there?
#
# Each row is a place where this process can keep files. The kernel says which file system a place is on.
# Places with the same number lie on the same file system: one tier under several names, with one speed. On
# a laptop or a small server that is the rule. On a cluster node, look for what is `local` and what `network`.
# In the tables below, `temporary` is the folder that `$TMPDIR` names, or else the system's temporary folder.

# %%
tiers = find_storage()
RecordTable(
    pandas.DataFrame(
        {
            "place": place.name,
            "kind": place.kind,
            "file system": f"{place.file_system} ({place.number})",
            "free": format_value(place.free_bytes or 0, "B"),
            "free inodes": "not counted" if place.free_inodes is None else f"{place.free_inodes:,}",
            "may be written": place.writable,
        }
        for place in tiers
        if place.fault is None
    )
)

# %% [markdown]
# ## Free bytes are not enough
#
# A file system has room for a number of bytes and for a number of *inodes*: each file or folder takes one,
# however small it is. This cell makes a file system of 64 MB with 100 inodes, which only the cell's own
# processes can see, and writes one small file after the other into it.

# %%
write_until_refused = """
import errno, json, os, sys
written, refusal = 0, None
while refusal is None and written < 10_000:
    try:
        with open(os.path.join(sys.argv[1], f"{written}.txt"), "w") as stream:
            stream.write("one small sample")
        written += 1
    except OSError as error:
        refusal = errno.errorcode[error.errno] + ": " + os.strerror(error.errno)
left = os.statvfs(sys.argv[1])
free_share = left.f_bavail / left.f_blocks
print(json.dumps([written, refusal, free_share, left.f_favail]))
"""
mount_and_run = 'mount -t tmpfs -o size=64m,nr_inodes=100 tmpfs "$1" && exec "$2" -c "$3" "$1"'
as_root_of_its_own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
with tempfile.TemporaryDirectory() as folder:
    command = ["sh", "-c", mount_and_run, "sh", folder, sys.executable, write_until_refused]
    done = subprocess.run(
        ["unshare", "--mount", *as_root_of_its_own, *command], capture_output=True, text=True
    )
assert "Traceback" not in done.stderr, done.stderr
if done.returncode == 0:
    written, refusal, free_share, free_inodes = json.loads(done.stdout)
    print(f"after {written} files: {refusal}")
    print(f"{free_share:.0%} of the bytes are free, and {free_inodes} inodes")
    assert refusal.startswith("ENOSPC"), "the file system was to run out of inodes"
    assert free_share > 0.9, "the bytes were not to run out"
    assert free_inodes == 0, "no inode was to be left"
else:
    print("This machine does not let you mount a file system of your own, so nothing was tried here.")

# %% [markdown]
# "No space left on device", on a device that is nearly empty. A quota of files ends the same way, with the
# error `EDQUOT`. Ask for both numbers: `df -h` and `df -i` for the file system, and your site's command for
# your quota.
#
# ## Exercise 103-1: Predict what the cache hides
#
# The next cell reads small samples of 4 KB, each in a file of its own, from the first tier that is not
# memory. *Warm* means that the files were read a moment ago, *cold* that they were put out of the page cache,
# and that this was verified. How many times as long does a cold pass take as a warm one? Write down what you
# expect **before** you run the measurement.

# %% tags=["exercise-103-1", "solution"]
predicted_ratio = 5  # more than 1: warm files are read from memory, cold ones from the device

# %% [markdown]
# ## Measure it
#
# The same samples in three layouts: one file each, all in one tar file, all in one Parquet file. They are
# read warm and cold, and written until the file system says that it has taken over everything. Each file
# system is measured once. Every pass is checked against the bytes that were written before its time counts.

# %%
left_out = []
measured = run(
    storage, Request(tier), lambda seen: left_out.append(seen.reason) if seen.stage == "left out" else None
)
reading = [record for record in measured if record.parameters["operation"] == "read"]
on_disk = [record for record in reading if record.parameters["kind"] != "memory"] or reading
place = on_disk[0].parameters["place"]
in_one_place = [record for record in on_disk if record.parameters["place"] == place]
print("\n".join(dict.fromkeys(left_out)) or "Every layout was measured.")
table(reading, ["place", "filesystem", "layout", "cache", "throughput"])

# %% tags=["check-103-1"]
assert isinstance(predicted_ratio, int | float), "write a number into predicted_ratio"
assert predicted_ratio > 1, "a warm file is read from memory: reading it from the device takes longer"
by_cache = {
    record.parameters["cache"]: record.summary.median
    for record in in_one_place
    if record.parameters["layout"] == "files"
}
if "cold" in by_cache:
    print(f"measured here: {by_cache['cold'] / by_cache['warm']:.1f} times as long")

# %% [markdown]
# Look at the warm rows first. Where the disk is a local one, memory and disk are about equally fast: a warm
# file *is* in memory, on whichever tier it lies. A second pass over a small data set tells you nothing about
# your disk. (A network file system may ask its server at each opening of a file, warm or not.)
#
# Then compare the layouts. In the outputs that this notebook was published with, the tar file is slower than
# the single files as long as all is warm: Python's `tarfile` spends more time on a member than the kernel on
# opening a file. Cold, the order turns round: the single files are fetched one by one.

# %% mystnb={"image": {"alt": "Time to read all samples by layout, warm and cold."}}
print(f"place: {place}, file system: {on_disk[0].parameters['filesystem']}")
plots.plot_records(
    in_one_place,
    x="layout",
    y="median",
    series="cache",
    x_label="Layout",
    y_label="Time to read all samples",
)

# %% [markdown]
# A cold number needs a proof that the file was out of memory. Some file systems cannot give it: their data
# is in memory of their own. Then there is no cold number, and the reason in its place.

# %%
refused = []
nothing = run(
    storage,
    Request(tier, variants=("memory-files-cold",)),
    lambda seen: refused.append(seen.reason) if seen.stage == "left out" else None,
)
print(*refused)
assert nothing == [], "a file system in memory was to have no cold number"
assert refused, "the reason was to be told"

# %% [markdown]
# Writing counts as well: unpacking a data set of small files is writing them. At smoke tier the runs are
# short: look at them and do not quote them. This is what was recorded at quick tier.

# %%
chosen = select(recorded, parse_reference("storage?tier=quick&kind=local&operation=write").query)
print(provenance(chosen) if chosen else "The course has no record of this workload yet.")
table(chosen, ["place", "filesystem", "layout", "throughput"]) if chosen else None

# %% [markdown]
# ## Stage in, work, stage out
#
# The usual cure for small files on a shared tier: keep one large file there, unpack it on node-local storage
# when the job starts, work on that, and copy the results back before the job ends. `work.py` reads a folder
# of samples and writes one line for each. It knows nothing of tiers: the same code reads from whichever
# folder it is given. Its `sleep` plays a training step.

# %%
usable = distinct(tiers)
node_local = next((place for place in usable if place.kind == "local"), usable[0])
shared = next((place for place in usable if place.kind == "network"), None)
project_folder = tempfile.TemporaryDirectory(prefix="project-", dir=shared and shared.path)
project = Path(project_folder.name)
print(
    "The project folder is on", f"{shared.name}." if shared else "a local disk, which plays the shared tier."
)

WORK = """
import pathlib, sys, time, zlib
folder, results = map(pathlib.Path, sys.argv[1:])
with open(results, "w", buffering=1) as lines:
    for sample in sorted(folder.glob("*.bin")):
        time.sleep(0.01)
        lines.write(f"{sample.name} {zlib.crc32(sample.read_bytes()):08x}\\n")
"""
(project / "work.py").write_text(WORK)
(project / "files").mkdir()
for number in range(150):
    (project / "files" / f"{number:03d}.bin").write_bytes(bytes([number]) * 4096)
with tarfile.open(project / "samples.tar", "w") as archive:
    archive.add(project / "files", arcname="files")

PLAIN_JOB = """
set -euo pipefail
project=$1
tar -xf "$project/samples.tar" -C "$TMPDIR"                         # stage in
python3 "$project/work.py" "$TMPDIR/files" "$TMPDIR/results.txt"    # work
cp "$TMPDIR/results.txt" "$project/results.txt"                     # stage out
"""


# %%
def run_job(script: str, *, kill_after: int | None = None) -> int:
    """Run a bash script as a job with its own $TMPDIR, and return its exit status.

    This function plays the scheduler. When the script ends, it does what the epilogue of a cluster does: it
    kills what is left of the job and removes the job's folder. With ``kill_after`` it sends TERM to the
    script as soon as the results on node-local storage have so many lines.
    """
    scratch = Path(tempfile.mkdtemp(prefix="job-", dir=node_local.path))
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    log = scratch / "job.log"
    with log.open("wb") as messages:
        job = subprocess.Popen(
            ["bash", "-c", script, "job.sh", str(project)],
            env={**os.environ, "TMPDIR": str(scratch), "PATH": programs, "LC_ALL": "C"},
            stderr=messages,
            start_new_session=True,
        )
    deadline = time.monotonic() + 60
    try:
        while kill_after is not None and job.poll() is None and time.monotonic() < deadline:
            results = scratch / "results.txt"
            if results.exists() and len(results.read_text().splitlines()) >= kill_after:
                job.send_signal(signal.SIGTERM)
                break
            time.sleep(0.01)
        status = job.wait(timeout=60)
        print(log.read_text().replace(str(scratch), "$TMPDIR"), end="")
        return status
    finally:
        with contextlib.suppress(ProcessLookupError):  # nothing may be left of the job
            os.killpg(job.pid, signal.SIGKILL)
        shutil.rmtree(scratch)


def saved_lines() -> int | None:
    """Return how many lines of results reached the project folder; None for no file."""
    results = project / "results.txt"
    return len(results.read_text().splitlines()) if results.exists() else None


# %% [markdown]
# The job runs to its end: all results are in the project folder, and they are the same as from the samples in
# the project folder itself. The code is the same, only the folder differs.

# %% tags=["nbval-check-output"]
subprocess.run([sys.executable, project / "work.py", project / "files", project / "direct.txt"], check=True)
status = run_job(PLAIN_JOB)
same = (project / "results.txt").read_text() == (project / "direct.txt").read_text()
print(f"exit status {status}, {saved_lines()} lines saved, as from the project folder: {same}")
assert (status, saved_lines(), same) == (0, 150, True)

# %% [markdown]
# ## Break it: the time limit comes in the middle
#
# The same job is told to end after a part of its work, as a scheduler does at the time limit.

# %% tags=["nbval-check-output"]
(project / "results.txt").unlink()
status = run_job(PLAIN_JOB, kill_after=20)
print(f"exit status {status}, lines saved: {saved_lines()}")
assert status != 0
assert saved_lines() is None

# %% [markdown]
# Nothing was saved. (Status -15 is Python's way to say: ended by signal 15, TERM.) At least twenty lines
# existed, on node-local storage, and the epilogue removed them. The script never reached its last line.
#
# ## Exercise 103-2: Stage out whatever happens
#
# Write the lines of bash that save the results when the script ends **and** when it is sent TERM. Two things
# to know: `trap 'commands' EXIT` runs the commands whenever the script exits, and bash runs a trap only
# between commands. So the work runs in the background, and the script `wait`s for it: a signal ends `wait` at
# once. Your lines stand between stage in and work; `$worker` is the process id of the work, or empty. Write
# to a name of its own first and rename it, so that nobody takes half a file for the whole.

# %% tags=["exercise-103-2", "solution"]
STAGE_OUT = r"""
stage_out() {
    trap '' TERM            # being told twice must not stop the copying
    if [ -n "$worker" ]; then kill "$worker" 2>/dev/null || true; wait "$worker" || true; fi
    cp "$TMPDIR/results.txt" "$project/results.txt.part"
    mv "$project/results.txt.part" "$project/results.txt"
}
trap stage_out EXIT
trap 'exit 143' TERM        # 128 + 15, ended by TERM; to exit is what runs stage_out
"""

# %% [markdown]
# ## Mend it, and check it
#
# The check runs a job with your lines to its end, and another one that is told to end in the middle.

# %% tags=["check-103-2"]
assert isinstance(STAGE_OUT, str), "write your lines of bash as a text into STAGE_OUT"
MENDED_JOB = (
    'set -euo pipefail\nproject=$1\nworker=\ntar -xf "$project/samples.tar" -C "$TMPDIR"\n'
    + STAGE_OUT
    + '\npython3 "$project/work.py" "$TMPDIR/files" "$TMPDIR/results.txt" &\nworker=$!\nwait "$worker"\n'
)
status = run_job(MENDED_JOB)
assert status == 0, "a job that is left alone must end with exit status 0"
assert saved_lines() == 150, "a job that is left alone must save all of its results"
(project / "results.txt").unlink()
status = run_job(MENDED_JOB, kill_after=20)
lines = saved_lines()
assert lines is not None, "the job was sent TERM and saved nothing: does a trap for TERM end the script?"
assert 20 <= lines < 150, "the results of a job that was ended in the middle are a part of all"
assert status != 0, "a job that was ended in the middle must not look like one that is done"
assert list(project.glob("*.part")) == [], "a part file was left behind"
print("Ended in the middle: what was there is saved, and the exit status says that the job is not done.")

# %% [markdown]
# ## Break it: hand over through node-local scratch
#
# "Save to /scratch for fast access", says a document about preprocessing, and its own table of storage says
# "Deleted when the job ends". Job 1 does as it is told. Job 2 trains.

# %% tags=["nbval-check-output"]
PREPARE = 'tar -cf "$TMPDIR/prepared.tar" -C "$1" files'
TRAIN = 'tar -xf "$TMPDIR/prepared.tar" -C "$TMPDIR" && ls "$TMPDIR/files" > "$1/found.txt"'
first = run_job(PREPARE)
second = run_job(TRAIN)
print(f"job 1 (prepare) ended with status {first}, job 2 (train) {'worked' if second == 0 else 'failed'}")
assert first == 0
assert second != 0

# %% [markdown]
# Job 1 reports success, and so do the scheduler and its e-mail. What it made was gone a moment later. A
# dependency such as `afterok` does not help: job 1 *is* ok.
#
# ## Mend it: hand over through a tier that outlives the job
#
# Job 1 works on node-local storage and, as its last step, copies what it made to the project folder, under a
# name of its own first. Job 2 stages in from there.

# %% tags=["nbval-check-output"]
PREPARE = """
set -e
tar -cf "$TMPDIR/prepared.tar" -C "$1" files
cp "$TMPDIR/prepared.tar" "$1/prepared.tar.part"
mv "$1/prepared.tar.part" "$1/prepared.tar"
"""
TRAIN = """
set -e
tar -xf "$1/prepared.tar" -C "$TMPDIR"
ls "$TMPDIR/files" > "$1/found.txt"
"""
first, second = run_job(PREPARE), run_job(TRAIN)
found = (project / "found.txt").read_text().splitlines()
print(f"job 1 ended with status {first}, job 2 with {second}; samples that job 2 found: {len(found)}")
assert (first, second, len(found)) == (0, 0, 150)
project_folder.cleanup()

# %% [markdown]
# ## Exercise 103-3: Decide whether staging pays
#
# Staging costs time at the start of each job and saves time in each epoch. Write the function that says from
# how many epochs on it pays. Then put in the numbers of a job of your own: samples, the time to stage them,
# and the time to read one sample from either tier.


# %% tags=["exercise-103-3"]
def epochs_until_staging_pays(samples: int, staging: float, shared: float, local: float) -> float:
    """Return the number of epochs at which staging has cost as much time as it saved.

    ``staging`` is in seconds for all samples, ``shared`` and ``local`` are seconds per sample. If local
    storage is not faster, the answer is infinity: ``float("inf")``.
    """
    # solution
    saved_per_epoch = samples * (shared - local)
    return staging / saved_per_epoch if saved_per_epoch > 0 else float("inf")
    # end of solution


# %% tags=["check-103-3"]
answer = epochs_until_staging_pays(100_000, 60.0, 4e-4, 1e-4)
assert isinstance(answer, float), "return a number of epochs"
assert abs(answer - 2.0) < 1e-9, "100,000 samples at 0.3 ms saved on each: 30 s an epoch, 60 s are paid in 2"
assert epochs_until_staging_pays(100_000, 60.0, 1e-4, 1e-4) == float("inf"), (
    "nothing saved, nothing paid back"
)
assert epochs_until_staging_pays(100_000, 0.0, 4e-4, 1e-4) == 0.0, "staging that is free pays at once"
print("In this example, staging has paid for itself after two epochs.")
