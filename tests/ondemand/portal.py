"""Stand-ins for Open OnDemand: its dashboard (portal.rb) and the wrapper that runs an app's scripts in a job.

Neither can be installed from a package registry. They do what the app can see of the originals: how files are
rendered and with what, and in which order and environment the scripts run (OSC/ondemand and OSC/ood_core,
lib/ood_core/batch_connect/template.rb).
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import yaml

DASHBOARD = Path(__file__).with_name("portal.rb")
PATIENCE = 120
"""Seconds; far below the ten minutes after which a session that hangs would end by itself."""

WRAPPER = r"""
cd {work}
export host
export port

create_yml () {{
  ( umask 077; echo -e "{parameters}" > connection.yml )
}}
clean_up () {{
  echo "Cleaning up..."
  [[ -e clean.sh ]] && source clean.sh
  [[ ${{SCRIPT_PID}} ]] && kill "${{SCRIPT_PID}}" 2>/dev/null
  exit ${{1:-0}}
}}
port_used () {{
  ( exec 3<>"/dev/tcp/${{1%:*}}/${{1#*:}}" ) 2>/dev/null
}}
find_port () {{
  [[ -n "{fixed_port}" ]] && echo "{fixed_port}" && return
  local port
  while port=$(shuf -i 20000-60000 -n 1); port_used "${{1:-localhost}}:$port"; do :; done
  echo "$port"
}}
wait_until_port_used () {{
  local i
  for ((i = 1; i <= ${{2:-30}} * 2; i++)); do
    port_used "$1" && return 0
    sleep 0.5
  done
  return 1
}}
create_passwd () {{
  tr -cd '[:alnum:]' < /dev/urandom 2>/dev/null | head -c"${{1:-32}}"
}}
export -f port_used find_port wait_until_port_used create_passwd

host=localhost
[[ -e before.sh ]] && source before.sh
echo "Script starting..."
./script.sh &
SCRIPT_PID=$!
[[ -e after.sh ]] && source after.sh
create_yml
wait ${{SCRIPT_PID}} || clean_up 1
clean_up
"""


def dashboard(*arguments: str, ok: bool = True) -> Any:
    """Run the stand-in for the dashboard; return what it printed, or its error if it must fail."""
    ruby = shutil.which("ruby")
    assert ruby, "no Ruby found: run setup/system.sh ruby"
    # The web server may run in any locale.
    done = subprocess.run(
        [ruby, str(DASHBOARD), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    assert (done.returncode == 0) == ok, done.stderr
    return json.loads(done.stdout) if ok else done.stderr


def form(app: Path, variant: str = "-") -> dict[str, Any]:
    """Return the form as the portal reads it."""
    found: dict[str, Any] = dashboard("form", str(app), variant)
    return found


def submit(app: Path, variant: str = "-", **values: object) -> dict[str, Any]:
    """Return what the portal hands to Slurm's adapter for what a learner typed."""
    typed = json.dumps({key: str(value) for key, value in values.items()})
    found: dict[str, Any] = dashboard("submit", str(app), variant, typed)["script"]
    return found


def refusal(app: Path, variant: str = "-", **values: object) -> str:
    """Return the sentence with which the app refuses what a learner typed."""
    typed = json.dumps({key: str(value) for key, value in values.items()})
    error: str = dashboard("submit", str(app), variant, typed, ok=False)
    return error.splitlines()[0]


def stage(app: Path, folder: Path, variant: str = "-") -> None:
    """Render the app's scripts into a session's folder."""
    folder.mkdir(parents=True)
    dashboard("stage", str(app), variant, "{}", str(folder))


@dataclass
class Session:
    """A running job of the app."""

    app: Path
    folder: Path
    process: subprocess.Popen[bytes]
    connection: dict[str, Any] = field(default_factory=dict)
    """What the portal would read from connection.yml; empty if the session ended first."""

    @classmethod
    def start(
        cls,
        app: Path,
        folder: Path,
        home: Path,
        *,
        fixed_port: int | None = None,
        user: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Render and start the scripts, and wait until the server is ready or the job has ended."""
        stage(app, folder)
        wrapper = WRAPPER.format(
            work=folder,
            parameters="\\n".join(f"{name}: ${name}" for name in ("lab_path", "host", "port", "password")),
            fixed_port=fixed_port or "",
        )
        (folder / "job.sh").write_text(wrapper)
        if user is not None:
            for path in (folder, *folder.iterdir()):
                os.chown(path, user, user)
        variables = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(folder.parent),
            "SLURM_CPUS_PER_TASK": "2",
            **(environment or {}),
        }
        with (folder / "output.log").open("wb") as log:
            process = subprocess.Popen(
                ["bash", str(folder / "job.sh")],
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=folder,
                env=variables,
                start_new_session=True,
                user=user,
            )
        session = cls(app, folder, process)
        session._wait_until_ready()
        return session

    def _wait_until_ready(self) -> None:
        ready = self.folder / "connection.yml"
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and not ready.exists():
            if time.monotonic() > end:
                self.end()
                raise AssertionError(f"neither ready nor ended: {self.log}")
            time.sleep(0.1)
        # The file is written in one go by the wrapper's echo; an empty one is not there yet.
        while self.process.poll() is None and not ready.read_text().strip():
            time.sleep(0.1)
        self.connection = yaml.safe_load(ready.read_text()) if ready.exists() else {}

    @property
    def log(self) -> str:
        """What the job wrote to output.log."""
        return (self.folder / "output.log").read_text(errors="replace")

    @property
    def reason(self) -> str:
        """Why the session could not start, as its card shows it."""
        card: str = dashboard("completed", str(self.app), str(self.folder))
        return card.strip()

    def end(self) -> None:
        """End the job as Slurm does: a signal to all of its processes, and later one that must work."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(timeout=10)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self._end_leftovers()

    def _end_leftovers(self) -> None:
        """Wait until no process of the job's session is left."""
        end = time.monotonic() + 20
        while _alive(self.process.pid):
            assert time.monotonic() < end, "processes of the session are left"
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            time.sleep(0.1)


def _alive(session: int) -> list[int]:
    """Return the running processes of a session (setsid), apart from those that only wait to be reaped."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[3]) == session and words[0] != "Z":
            found.append(int(path.parent.name))
    return found
