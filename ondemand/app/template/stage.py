#!/usr/bin/env python3
"""Bring a course's files into a learner's folder, without ever losing the learner's work.

    stage.py SOURCE FOLDER

For each file of SOURCE, a folder that everybody can read:

- a new file is copied;
- one that the learner never changed is replaced when the course changes it: this is how fixes arrive;
- one that the learner changed is kept, and the course's new text is put beside it as ``NAME.new.ipynb``;
- one that the learner deleted stays deleted.

Nothing is ever removed. What was delivered is remembered in ``FOLDER/.mlhpc/staged.json``. Each file appears
whole or not at all, so that an interruption or two sessions at once leave a valid folder. Files get today's
time, so that a purge by age does not take them at once.

Symbolic links are not followed: a link that stays inside SOURCE is copied as it is, any other one leads to
the place that it led to, so that large data can be shared without a copy.

Exit status: 0, all is there; 3, some files could not be staged and the rest are there; 1, it could not be
done; 2, wrong arguments. Reasons are on standard error, one sentence each.

This file needs nothing but the standard library, and runs with Python 3.6 and later.
"""

import contextlib
import errno
import fcntl
import hashlib
import io
import json
import os
import signal
import stat
import sys
import tempfile
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

MARKS = ".mlhpc"
"""Folder inside the learner's folder for what this program remembers."""
SKIPPED = {MARKS, ".git", ".ipynb_checkpoints", "__pycache__", ".DS_Store"}
FULL = (errno.ENOSPC, errno.EDQUOT)
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
LOCK_SECONDS = 60
PART = ".part"
INCOMPLETE = 3

Memory = Dict[str, Dict[str, str]]
"""For each relative path: the content that was ``delivered``, and the one that was put ``beside``."""


class Refused(Exception):
    """Staging as a whole cannot go on; the message is one sentence for the learner."""


class Seen(NamedTuple):
    """What stood at a path when it was looked at."""

    content: Optional[str]
    """Hash of a file, target of a link, or another word for what it is; None where nothing is."""
    signature: Optional[Tuple[int, int, int]]
    """Inode, size and time of change, to notice that somebody wrote since."""


class Report(NamedTuple):
    """What was done, as paths relative to the learner's folder, and sentences on what could not be done."""

    copied: List[str]
    refreshed: List[str]
    beside: List[str]
    troubles: List[str]


def stage(source: str, folder: str) -> Report:
    """Bring the files of ``source`` into ``folder``.

    Raises:
        Refused: if the source cannot be read, or the folder cannot be written at all.
    """
    source, folder = os.path.realpath(source), os.path.realpath(folder)
    if not os.path.isdir(source) or not os.access(source, os.R_OK | os.X_OK):
        raise Refused(f"The course's files in {source} are not there, or you may not read them.")
    if _inside(folder, source) or _inside(source, folder):
        raise Refused(f"{source} and {folder} lie in each other: choose another folder.")
    report = Report([], [], [], [])
    marks = os.path.join(folder, MARKS)
    memory_file = os.path.join(marks, "staged.json")
    with _refusing(folder):
        os.makedirs(marks, exist_ok=True)
        with _lock(os.path.join(marks, "lock"), report):
            memory = _read(memory_file, report)
            before = json.dumps(memory, sort_keys=True)
            try:
                for name in _names(source, "", report):
                    _stage_one(source, folder, name, memory, report)
            finally:
                if json.dumps(memory, sort_keys=True) != before:
                    _write_memory(memory_file, memory)
    return report


def _inside(path: str, folder: str) -> bool:
    return (path + os.sep).startswith(folder + os.sep)


@contextlib.contextmanager
def _refusing(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise Refused(
                f"There is no room left for the course's files in {folder} ({error.strerror}): delete what "
                "you no longer need there, then start again."
            ) from error
        raise Refused(f"Cannot write {error.filename or folder}: {error.strerror}.") from error


@contextlib.contextmanager
def _lock(path: str, report: Report) -> Iterator[None]:
    """Keep a second session out for a while, where the file system can lock at all.

    Without a lock the folder stays valid too, as each file is replaced as a whole; a new text could then be
    put beside a file that another session has just refreshed.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + LOCK_SECONDS
        while not _locked(descriptor):
            if time.monotonic() > end:
                report.troubles.append(f"Another session has been staging for {LOCK_SECONDS} s.")
                break
            time.sleep(0.1)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            return False
        if error.errno not in NO_LOCKS:
            raise
    return True


def _read(path: str, report: Report) -> Memory:
    """Return what was delivered before; nothing if it was never written or is damaged."""
    try:
        with open(path, encoding="utf-8") as stream:
            files = json.load(stream)["files"]
        return {
            name: {key: row[key] for key in ("delivered", "beside") if isinstance(row.get(key), str)}
            for name, row in files.items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        report.troubles.append(f"{path} was damaged: it is written anew, and your files are kept.")
        return {}


def _write_memory(path: str, memory: Memory) -> None:
    text = json.dumps({"version": 1, "files": memory}, indent=1, sort_keys=True) + "\n"
    with _new_file(path, 0o600) as stream:
        stream.write(text.encode("ascii"))


def _names(source: str, below: str, report: Report) -> Iterator[str]:
    """Yield the relative paths of all files and links, in order, without following links."""
    try:
        entries = sorted(os.scandir(os.path.join(source, below)), key=lambda entry: entry.name)
    except OSError as error:
        report.troubles.append(f"Cannot read {below or '.'} of the course: {error.strerror}.")
        return
    for entry in entries:
        name = os.path.join(below, entry.name)
        if entry.name in SKIPPED or entry.name.endswith(PART):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _names(source, name, report)
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            yield name
        else:
            report.troubles.append(f"{name} of the course is neither a file nor a folder.")


def _stage_one(source: str, folder: str, name: str, memory: Memory, report: Report) -> None:
    """Bring one file or link up to date, or leave the learner's as it is."""
    try:
        new = _course_content(source, name)
    except OSError as error:
        report.troubles.append(f"Cannot read {name} of the course: {error.strerror}.")
        return
    target = os.path.join(folder, name)
    if _inside(os.path.realpath(os.path.dirname(target)), source):
        report.troubles.append(f"{name} was left out: its folder is a link into the course's own files.")
        return
    try:
        row = _decide(source, name, target, new, memory.get(name, {}), report)
    except OSError as error:
        if error.errno in FULL:
            raise
        report.troubles.append(f"{name} was left as it is: {error.strerror}.")
        return
    if row:
        memory[name] = row


def _decide(
    source: str, name: str, target: str, new: str, row: Dict[str, str], report: Report
) -> Dict[str, str]:
    """Do what the four rules say, and return what is to be remembered of this file."""
    mine = _look(target)
    before = row.get("delivered")
    if mine.content == new:
        return dict(row, delivered=new)
    if mine.content == before:  # never changed by the learner, or not there and never delivered
        put = _put(source, name, target, mine)
        (report.refreshed if before else report.copied).append(name)
        return dict(row, delivered=put)
    if mine.content is None or new in (before, row.get("beside")):
        return row  # deleted; or changed, while the course has nothing that the learner does not have
    return dict(row, beside=_put_beside(source, name, target, row.get("beside"), report))


def _put_beside(source: str, name: str, target: str, before: Optional[str], report: Report) -> str:
    """Put the course's text beside the learner's file, at the first place that holds no work of theirs."""
    stem, suffix = os.path.splitext(target)
    number = 1
    while True:
        place = f"{stem}.new{'' if number == 1 else f'-{number}'}{suffix}"
        there = _look(place)
        if there.content in (None, before):
            content = _put(source, name, place, there)
            report.beside.append(os.path.join(os.path.dirname(name), os.path.basename(place)))
            return content
        number += 1


def _course_content(source: str, name: str) -> str:
    path = os.path.join(source, name)
    return _link_content(source, name) if os.path.islink(path) else _hash(path)


def _link_content(source: str, name: str) -> str:
    """Return where the learner's link shall lead: inside their own copy, or to the shared place."""
    path = os.path.join(source, name)
    text, real = os.readlink(path), os.path.realpath(path)
    return "link:" + (text if _inside(real, source) and not os.path.isabs(text) else real)


def _look(path: str) -> Seen:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return Seen(None, None)
    signature = (status.st_ino, status.st_size, status.st_mtime_ns)
    if stat.S_ISLNK(status.st_mode):
        return Seen("link:" + os.readlink(path), signature)
    if stat.S_ISREG(status.st_mode):
        return Seen(_hash(path), signature)
    return Seen("neither a file nor a link", signature)


def _hash(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return "sha256:" + digest.hexdigest()


def _put(source: str, name: str, target: str, seen: Seen) -> str:
    """Put the course's file at ``target``, where ``seen`` stood a moment ago; return what was put.

    Raises:
        FileExistsError: if somebody wrote there since.
    """
    os.makedirs(os.path.dirname(target), exist_ok=True)
    path = os.path.join(source, name)
    if os.path.islink(path):
        return _put_link(_link_content(source, name), target, seen)
    digest = hashlib.sha256()
    # Read-only in the course's folder must not mean read-only for the learner.
    mode = 0o777 if os.stat(path).st_mode & stat.S_IXUSR else 0o666
    with open(path, "rb") as original, _new_file(target, mode & ~_umask(), seen) as copy:
        for block in iter(lambda: original.read(1 << 20), b""):
            digest.update(block)
            copy.write(block)
    return "sha256:" + digest.hexdigest()


def _put_link(content: str, target: str, seen: Seen) -> str:
    temporary = tempfile.mktemp(PART, ".link.", os.path.dirname(target))
    os.symlink(content[len("link:") :], temporary)
    with _removed_on_failure(temporary):
        _rename(temporary, target, seen)
    return content


@contextlib.contextmanager
def _new_file(target: str, mode: int, seen: Optional[Seen] = None) -> Iterator[io.BufferedWriter]:
    """Yield a file that takes the place of ``target`` once it is written, or leaves no trace."""
    descriptor, temporary = tempfile.mkstemp(PART, ".new.", os.path.dirname(target))
    with _removed_on_failure(temporary):
        with open(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        _rename(temporary, target, seen)


@contextlib.contextmanager
def _removed_on_failure(temporary: str) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _rename(temporary: str, target: str, seen: Optional[Seen]) -> None:
    if seen is not None and _look(target) != seen:
        raise FileExistsError(errno.EEXIST, "it was written to meanwhile", target)
    os.replace(temporary, target)


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


def _say(stream: Any, sentence: str) -> None:
    """Print a sentence; a name that is no text in this locale must not stop the session."""
    stream.buffer.write(sentence.encode("utf-8", "backslashreplace") + b"\n")
    stream.flush()


def main(arguments: List[str]) -> int:
    """Run from the command line."""
    if len(arguments) != 2:
        _say(sys.stderr, "usage: stage.py SOURCE FOLDER")
        return 2
    # The end of the job arrives as SIGTERM: leave through the clean-up, so that no part of a file stays.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        report = stage(*arguments)
    except Refused as error:
        _say(sys.stderr, str(error))
        return 1
    for word, names in (("copied", report.copied), ("refreshed", report.refreshed)):
        for name in names:
            _say(sys.stdout, f"{word}: {name}")
    for name in report.beside:
        _say(sys.stdout, f"you changed your copy, so the course's new text is beside it: {name}")
    for sentence in report.troubles:
        _say(sys.stderr, sentence)
    return INCOMPLETE if report.troubles else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
