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
# # Scratch forgets: the notebook
#
# [The episode](../episodes/215-scratch-purge.md) tells of an installation that a purge took within a day.
# Here it happens to you, on real files in a folder of its own: a `find` takes what was unpacked a moment ago,
# and an environment that was used this morning. Then both are mended. Nothing outside that folder is touched.

# %%
import functools
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from pathlib import Path

from mlhpc.sites.load import load_site
from mlhpc.storage.picture import plot_taken

BASES = ("mtime", "atime", "ctime")  # last change of the content, last read, last change of the status
DAYS = 60
work_folder = tempfile.TemporaryDirectory(prefix="purge-")
work = Path(work_folder.name)


def find(folder: Path, basis: str, *actions: str, days: int = DAYS) -> list[str]:
    """Return the files that a purge takes, relative to the folder: the command is the one that sites use."""
    command = ["find", ".", "-type", "f", f"-{basis}", f"+{days}", "-print", *actions]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return sorted(line.removeprefix("./") for line in found.stdout.splitlines())


def purge(folder: Path, basis: str) -> list[str]:
    """Remove what is older than DAYS, and return what was removed."""
    return find(folder, basis, "-delete")


def made_days_ago(path: Path, days: float) -> Path:
    """Set the times of the last change and the last read of a file: so much time has passed since."""
    then = time.time() - days * 86_400
    os.utime(path, (then, then))
    return path


# %% [markdown]
# ## Exercise 215-1: Predict what the purge takes
#
# A data set was made 100 days ago. You bring it to scratch *now*. Tonight a purge takes all files that were
# last modified more than 60 days ago. For each of the commands `tar -x`, `cp`, `cp -p`, `git clone` and
# `wget`: does the purge take the new files? Write a dictionary with True or False for each, for instance
# `{"cp": True, ...}`, **before** you run on.

# %% tags=["exercise-215-1", "solution"]
predicted = {
    "tar -x": True,
    "cp": False,
    "cp -p": True,
    "git clone": False,
    "wget": True,
}

# %% [markdown]
# ## Break it: unpacked a moment ago, gone tonight
#
# A tar file with samples that were made 100 days ago is unpacked. Then the purge comes.

# %% tags=["nbval-check-output"]
samples = work / "samples"
samples.mkdir()
for number in range(100):
    (samples / f"{number:03d}.bin").write_bytes(bytes([number]) * 4096)
    made_days_ago(samples / f"{number:03d}.bin", 100)
subprocess.run(["tar", "-cf", work / "samples.tar", "-C", work, "samples"], check=True)

scratch = work / "scratch"
scratch.mkdir()
subprocess.run(["tar", "-xf", work / "samples.tar", "-C", scratch], check=True)
unpacked = len(list(scratch.rglob("*.bin")))
taken = purge(scratch, "mtime")
print(f"unpacked: {unpacked} files; taken by the purge: {len(taken)}")
print("what is left:", [path.name for path in scratch.rglob("*")])
assert (unpacked, len(taken)) == (100, 100)

# %% [markdown]
# All gone, a moment after they came. The folder is still there, so that a check for "does the folder
# exist?" passes.
#
# ## See it: a file has three ages
#
# `ls -l` shows one time. `stat` shows three. The same archive, unpacked by `tar` and by Python's `tarfile`:

# %% tags=["nbval-check-output"]
(work / "by-python").mkdir()
subprocess.run(["tar", "-xf", work / "samples.tar", "-C", scratch], check=True)
with tarfile.open(work / "samples.tar") as archive:
    archive.extractall(work / "by-python", filter="data")


def ages(path: Path) -> dict[str, int]:
    """Return for each basis how many days ago that time is."""
    status = path.stat()
    times = {"mtime": status.st_mtime, "atime": status.st_atime, "ctime": status.st_ctime}
    return {basis: round((time.time() - times[basis]) / 86_400) for basis in BASES}


by_tar, by_python = ages(scratch / "samples/000.bin"), ages(work / "by-python/samples/000.bin")
print(f"days since     {'   '.join(BASES)}")
print(f"tar -x         {by_tar['mtime']:5} {by_tar['atime']:7} {by_tar['ctime']:7}")
print(f"Python tarfile {by_python['mtime']:5} {by_python['atime']:7} {by_python['ctime']:7}")
assert by_tar == {"mtime": 100, "atime": 0, "ctime": 0}
assert by_python == {"mtime": 100, "atime": 100, "ctime": 0}

# %% [markdown]
# Both give the file its old time of modification back. Python sets the access time too. No program can set
# the third, the time of the last status change: to the kernel the file came here now.
#
# ## Understand it: how a file arrives decides
#
# An old file can come in many ways: from an archive, by copying, from a repository, from a web server, as
# part of a package. This cell makes one of each. The web server and the repository are on this machine.

# %%
old_files = work / "old"
old_files.mkdir()
old = old_files / "file.txt"


def refresh() -> None:
    """Write the old file anew, and make it 100 days old: reading it may have moved its access time."""
    old.write_text("old and precious\n")
    made_days_ago(old, 100)


def make_wheel() -> Path:
    """Return a Python package, ready to be installed, whose files are from 2020."""
    wheel = work / "toy-1.0-py3-none-any.whl"
    files = {
        "toy/file.txt": "x",
        "toy-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n",
        "toy-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "toy-1.0.dist-info/RECORD": "toy/file.txt,,\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text)
    return wheel


class QuietServer(http.server.SimpleHTTPRequestHandler):
    """A web server on this machine only, which says when its files were last changed."""

    def log_message(self, *_: object) -> None:
        """Write no log."""


refresh()
shutil.make_archive(str(work / "old-tar"), "tar", work, "old")
refresh()
shutil.make_archive(str(work / "old-zip"), "zip", work, "old")
repository = work / "repository"
subprocess.run(["git", "init", "-q", repository], check=True)
(repository / "file.txt").write_text("old and precious\n")
author = ["-c", "user.name=Learner", "-c", "user.email=learner@example.org"]
subprocess.run(["git", "-C", repository, "add", "file.txt"], check=True)
subprocess.run(["git", "-C", repository, *author, "commit", "-q", "-m", "Add a file"], check=True)
for path in repository.rglob("*"):
    made_days_ago(path, 100)
server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", 0), functools.partial(QuietServer, directory=old_files)
)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/file.txt"


# %% [markdown]
# Now the same old file is brought to scratch in each way, a moment ago. Which purge takes it? What this
# machine does not have is left out.

# %% mystnb={"image": {"alt": "How a file arrived against what the purge goes by: taken or kept."}}
pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", "."]
commands = {
    "tar -x": ["tar", "-xf", work / "old-tar.tar"],
    "tar -x -m": ["tar", "-x", "-m", "-f", work / "old-tar.tar"],
    "unzip": ["unzip", "-q", work / "old-zip.zip"],
    "unzip -DD": ["unzip", "-q", "-DD", work / "old-zip.zip"],
    "cp": ["cp", old, "."],
    "cp -p": ["cp", "-p", old, "."],
    "cp -a": ["cp", "-a", old, "."],
    "mv": ["mv", old, "."],
    "rsync -a": ["rsync", "-a", old, "."],
    "rsync -r": ["rsync", "-r", old, "."],
    "git clone": ["git", "clone", "-q", repository, "clone"],
    "wget": ["wget", "-q", url],
    "curl -O": ["curl", "-s", "-O", url],
    "pip install": [*pip, make_wheel()] if importlib.util.find_spec("pip") else ["pip"],
}
in_python = {
    "unpack_archive, tar": lambda here: shutil.unpack_archive(work / "old-tar.tar", here, filter="data"),
    "unpack_archive, zip": lambda here: shutil.unpack_archive(work / "old-zip.zip", here),
    "shutil.copy": lambda here: shutil.copy(old, here),
    "shutil.copytree": lambda here: shutil.copytree(old_files, here / "copy"),
}
quietly = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "no_proxy": "127.0.0.1"}
arrivals = {}
for name in (*commands, *in_python):
    command = commands.get(name)
    if command and shutil.which(command[0]) is None:
        print(f"not on this machine: {name}")
        continue
    here = work / "arrivals" / name.replace(" ", "_")
    here.mkdir(parents=True)
    refresh()
    if command:
        subprocess.run(command, cwd=here, check=True, env=quietly)
    else:
        in_python[name](here)
    arrived = next(here.rglob("file.txt"))
    arrivals[name] = {basis: find(arrived.parent, basis).count("file.txt") == 1 for basis in BASES}
server.shutdown()
plot_taken(arrivals)

# %% [markdown]
# Three columns, three answers. By modification time, everything that "preserves" is taken, and so is what
# `wget` fetched. By access time, `tar` and `rsync` are safe, but `cp -p`, `unzip` and Python's own unpacking
# of a tar file are not. A purge by status-change time is fooled by none of them. So ask which time your
# site's purge goes by, and not only after how many days.

# %% tags=["check-215-1"]
named = {"tar -x", "cp", "cp -p", "git clone", "wget"}
assert isinstance(predicted, dict), "write a dictionary into predicted: True or False for each command"
assert predicted.keys() == named, "name the five commands as the exercise does"
for name, expected in predicted.items():
    assert expected in (True, False), f"write True or False for {name}"
    if name in arrivals:
        assert expected == arrivals[name]["mtime"], f"{name}: look at its row in the figure"

# %% [markdown]
# ## What reading does: it depends on how scratch is mounted
#
# A purge by access time spares what was read lately, if reads are recorded. That is a mount option. With
# `relatime`, the kernel's default, a read moves the access time if it is older than a day, or not newer than
# the last change. With `noatime`, a read never moves it. This cell mounts a small file system of its own,
# twice, and reads an old file.

# %%
read_an_old_file = """
mount -t tmpfs -o "$2" tmpfs "$1" || exit 99
echo data > "$1/file"; touch -d '100 days ago' "$1/file"
cat "$1/file" > "$1/copy"
find "$1" -type f -name file -atime +60 | wc -l
"""
as_root_of_its_own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
outcomes = {}
for option in ("relatime", "noatime"):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["unshare", "--mount", *as_root_of_its_own, "sh", "-c", read_an_old_file, "sh", folder, option],
            capture_output=True,
            text=True,
        )
    if done.returncode == 0:
        outcomes[option] = "taken" if done.stdout.strip() == "1" else "kept"
        print(f"{option:8}: an old file that was read a moment ago is {outcomes[option]}")
    else:
        print(f"{option:8}: this machine does not let you mount a file system, so nothing was tried")
assert outcomes.get("relatime", "kept") == "kept"
assert outcomes.get("noatime", "taken") == "taken"
reads_recorded = not os.statvfs(work).f_flag & getattr(os, "ST_NOATIME", 0)
print("The folder of this notebook records reads:", reads_recorded)

# %% [markdown]
# ## Exercise 215-2: Unpack so that the files are new
#
# Write the function that unpacks a tar file so that **neither** a purge by modification time **nor** one by
# access time takes the files tonight. Use `tar` with the right option, or Python's `tarfile` with a filter.


# %% tags=["exercise-215-2"]
def unpack(archive: Path, folder: Path) -> None:
    """Unpack a tar file into an existing folder; the files are as old as their arrival."""
    # solution
    subprocess.run(["tar", "-x", "-m", "-f", archive, "-C", folder], check=True)
    # end of solution


# %% [markdown]
# ## Mend it, and check it
#
# The check unpacks with your function, compares every byte, and lets both purges loose.

# %% tags=["check-215-2"]
mended = work / "mended"
mended.mkdir()
unpack(work / "samples.tar", mended)
contents = {path.name: path.read_bytes() for path in mended.rglob("*.bin")}
assert len(contents) == 100, "unpack all files of the archive into the folder"
assert all(contents[f"{number:03d}.bin"] == bytes([number]) * 4096 for number in range(100)), (
    "the content of the files must not change"
)
shutil.rmtree(mended)
mended.mkdir()
unpack(work / "samples.tar", mended)  # once more, since the comparison read the files
assert purge(mended, "mtime") == [], "taken by modification time: which option of tar leaves the times new?"
assert purge(mended, "atime") == [], "taken by access time: both times have to be new"
print("100 files unpacked, none taken by either purge")

# %% [markdown]
# ## Break it: the environment that you used this morning
#
# A small package plays your environment. It was installed 61 days ago, and each day's job imports it. The
# purge goes by access time. What is in daily use is safe, is it not?

# %% tags=["nbval-check-output"]
environment = work / "environment"
(environment / "toymodel").mkdir(parents=True)
SOURCES = {
    "__init__.py": "from toymodel.train import train\n",
    "train.py": "def train():\n    return 'trained'\n",
    "checkpoint.py": "def save():\n    return 'saved'\n",
}
for name, text in SOURCES.items():
    (environment / "toymodel" / name).write_text(text)

in_job = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def todays_job(code: str) -> str:
    """Run Python with the environment, and return what it prints, or the last line of its error."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**in_job, "PYTHONPATH": str(environment)},
        capture_output=True,
        text=True,
    )
    return (done.stdout or done.stderr).strip().splitlines()[-1]


JOB = "import toymodel; print(toymodel.train())"
print("on the first day:", todays_job(JOB))
# 61 days pass, in which nothing was changed: the access times are set back, and then this morning's job runs.
for path in environment.rglob("*.py*"):
    status = path.stat()
    os.utime(path, (status.st_atime - 61 * 86_400, status.st_mtime))
print("this morning:    ", todays_job(JOB))
taken = [Path(path).name for path in purge(environment, "atime")]
print("taken tonight:   ", *(name for name in taken if name.endswith(".py")))
assert set(SOURCES) <= set(taken)

# %% [markdown]
# ## See it: it fails in a strange way
#
# `train.py` was in daily use, and is gone. Look at what tomorrow's job says.

# %% tags=["nbval-check-output"]
imported, used = todays_job("import toymodel; print('no error')"), todays_job(JOB)
print("import:", imported)
print("use:   ", used)
assert imported == "no error"
assert "AttributeError" in used

# %% [markdown]
# The import *works*, and then the package is empty. Two things come together. Python reads the compiled copy
# in `__pycache__` and asks of `train.py` only its size and date: that is no read, and moves no access time.
# And a folder without `__init__.py` is still importable, as a *namespace package*. So the error names neither
# a file nor a purge.
#
# ## Mend it: keep the recipe, not the environment
#
# On scratch an environment is a copy that can be made again, from a recipe that lives elsewhere. The recipe
# here is `SOURCES`, which plays your lock file. Checking that each file is there takes a moment; a folder
# that exists says nothing.

# %% tags=["nbval-check-output"]
missing = [name for name in SOURCES if not (environment / "toymodel" / name).exists()]
print("missing:", *missing)
shutil.rmtree(environment)
(environment / "toymodel").mkdir(parents=True)
for name, text in SOURCES.items():
    (environment / "toymodel" / name).write_text(text)
print("made again:", todays_job(JOB))
assert todays_job(JOB) == "trained"
assert find(environment, "atime") == []

# %% [markdown]
# ## Sites disagree, and so do sources about one site
#
# The profile of one site has two values for the age, from two sources. A file that was last read 70 days ago
# shows what hangs on it.

# %%
osc = load_site("osc")
conflict = next(one for one in osc.conflicts if one.fact == "storage.scratch.purge.after")
(work / "disputed").mkdir()
(work / "disputed" / "last-checkpoint.pt").write_bytes(b"weights")
made_days_ago(work / "disputed" / "last-checkpoint.pt", 70)
fates = set()
for value in conflict.values:
    days = int(str(value.value).split()[0])
    fate = "gone" if find(work / "disputed", "atime", days=days) else "still there"
    fates.add(fate)
    print(f"{value.value} ({osc.sources[value.source].title}): the file is {fate}")
assert fates == {"gone", "still there"}, "the two values were to decide differently"
print("To find out:", conflict.ask)

# %% [markdown]
# ## Take it home: what does the next purge take?
#
# `mlhpc storage at-risk` lists the files that are due, soonest first, and how much that is. It changes
# nothing, and it moves no access time. With `--site`, the rule comes from a profile; where sources disagree,
# the shorter time counts. It is held against `find` here.

# %%
my_scratch = work / "my-scratch"
for name, age in (("data/old.tar", 100), ("data/older.tar", 300), ("run/last.pt", 57), ("run/new.pt", 1)):
    (my_scratch / name).parent.mkdir(parents=True, exist_ok=True)
    (my_scratch / name).write_bytes(b"x" * 250_000)
    made_days_ago(my_scratch / name, age)
at_risk = [sys.executable, "-m", "mlhpc", "storage", "at-risk", "my-scratch"]
print(
    subprocess.run([*at_risk, "--site", "osc"], cwd=work, capture_output=True, text=True, check=True).stdout
)

answer = subprocess.run(
    [*at_risk, "--basis", "mtime", "--days", str(DAYS), "--within", "0", "--json"],
    cwd=work,
    capture_output=True,
    text=True,
    check=True,
)
plan = json.loads(answer.stdout)
assert sorted(file["path"] for file in plan["soonest"]) == find(my_scratch, "mtime")
assert plan["now"] == {"files": 2, "bytes": 500_000}

# %% [markdown]
# ## Exercise 215-3: Will you be done before the purge?
#
# To save files takes time: bytes at the rate of the copy, and a while for each file, however small (lesson
# 103). Write the function that says how many days it takes to copy what is at risk (`now` and `soon` of the
# plan). Then take a plan of your own (`mlhpc storage at-risk DIR --site SITE --json`), time the copying of a
# small part of it, and put your numbers in.


# %% tags=["exercise-215-3"]
def days_to_save(plan: dict, bytes_per_second: float, seconds_per_file: float) -> float:
    """Return how many days it takes to copy all that is at risk now or soon."""
    # solution
    size = plan["now"]["bytes"] + plan["soon"]["bytes"]
    files = plan["now"]["files"] + plan["soon"]["files"]
    return (size / bytes_per_second + files * seconds_per_file) / 86_400
    # end of solution


# %% tags=["check-215-3"]
few = {"now": {"files": 1, "bytes": 864 * 10**9}, "soon": {"files": 1, "bytes": 864 * 10**9}}
many = {"now": {"files": 10**7, "bytes": 864 * 10**9}, "soon": {"files": 0, "bytes": 0}}
answer = days_to_save(few, 10**8, 0.01)
assert isinstance(answer, float), "return a number of days"
assert abs(answer - 0.2) < 0.001, "count what is due now and what is due soon, in days and not in seconds"
assert days_to_save(many, 10**8, 0.01) > 1, "each file takes a while of its own, whatever its size"
print(f"two large files: {answer:.2f} days; half as many bytes in ten million files:", end=" ")
print(f"{days_to_save(many, 10**8, 0.01):.2f} days")
work_folder.cleanup()
