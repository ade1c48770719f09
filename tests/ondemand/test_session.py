"""Sessions: the rendered scripts with the real Jupyter server, seen from the portal and from a browser."""

import json
import os
import pwd
import shutil
import socket
import stat
import sys
import tempfile
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import websocket

from mlhpc.ondemand.build import app_files
from mlhpc.ondemand.folder import write_folder
from tests.ondemand.conftest import PROFILE, make_course, notebook, small_request
from tests.ondemand.portal import Session, dashboard

NOBODY = 65534
PORTAL = "https://portal.small.example"
"""Origin of the portal's pages; the server itself is reached by another name."""

Start = Callable[..., Session]


class Learner:
    """A browser that came through the portal's Connect button."""

    def __init__(self, session: Session) -> None:
        host, port = session.connection["host"], session.connection["port"]
        self.path = f"/node/{host}/{port}"
        self.base = f"http://{host}:{port}{self.path}"
        self.cookies = CookieJar()
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(self.cookies), urllib.request.ProxyHandler({})
        )

    def get(self, path: str) -> Any:
        """Return the answer of Jupyter's interface."""
        return json.loads(self._ask(path, None))

    def post(self, path: str, body: object = None) -> Any:
        """Send ``body`` to Jupyter's interface and return the answer, if there is one."""
        answer = self._ask(path, json.dumps(body or {}).encode())
        return json.loads(answer) if answer else None

    def _ask(self, path: str, data: bytes | None) -> bytes:
        request = urllib.request.Request(f"{self.base}/{path}", data=data, headers={"Origin": PORTAL})
        with self.opener.open(request, timeout=60) as answer:
            return bytes(answer.read())

    def log_in(self, password: str, next_page: str = "lab") -> str:
        """Send the form of the session's card; return the address that it leads to."""
        query = urlencode({"next": f"{self.path}/{next_page}"})
        body = urlencode({"password": password}).encode()
        request = urllib.request.Request(f"{self.base}/login?{query}", data=body, headers={"Origin": PORTAL})
        with self.opener.open(request, timeout=60) as answer:
            return str(answer.url)

    def run(self, code: str) -> str:
        """Run a cell in a new kernel, over the websocket; return what it printed, or its error."""
        kernel = self.post("api/kernels")["id"]
        header = {"Cookie": "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.cookies)}
        address = f"{self.base.replace('http:', 'ws:')}/api/kernels/{kernel}/channels"
        channel = websocket.create_connection(address, header=header, origin=PORTAL, timeout=60)
        identity = uuid.uuid4().hex
        channel.send(json.dumps(_execute_request(identity, code)))
        printed = ""
        while True:
            message = json.loads(channel.recv())
            if message["parent_header"].get("msg_id") != identity:
                continue
            kind, content = message["header"]["msg_type"], message["content"]
            printed += content.get("text", "") if kind == "stream" else ""
            printed += f"{content['ename']}: {content['evalue']}" if kind == "error" else ""
            if kind == "status" and content["execution_state"] == "idle":
                break
        channel.close()
        return printed


def _execute_request(identity: str, code: str) -> dict[str, Any]:
    header = {"msg_id": identity, "username": "", "session": identity, "msg_type": "execute_request"}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
    content |= {"allow_stdin": False, "stop_on_error": True}
    return {
        "header": {**header, "version": "5.3", "date": ""},
        "parent_header": {},
        "metadata": {},
        "content": content,
        "channel": "shell",
        "buffers": [],
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the session that the tests of a healthy one share."""
    return tmp_path_factory.mktemp("healthy")


@pytest.fixture(scope="module")
def healthy(place: Path) -> Iterator[Session]:
    """Return a running session."""
    course = make_course(place / "course")
    write_folder(place / "app", app_files(small_request(course)))
    (place / "home" / "ml-on-hpc").mkdir(parents=True)
    # A learner's file with the name of a standard module must not stop the server.
    (place / "home" / "ml-on-hpc" / "random.py").write_text("raise SystemExit('shadowed')\n")
    (place / "job").mkdir()
    session = Session.start(
        place / "app",
        place / "job" / "output",
        place / "home",
        environment={"PYTHONPATH": "/nowhere", "JUPYTER_TOKEN": "left over"},
    )
    yield session
    session.end()


@pytest.fixture(scope="module")
def learner(healthy: Session) -> Learner:
    """Return somebody who is logged in."""
    assert healthy.connection, healthy.log
    found = Learner(healthy)
    found.log_in(healthy.connection["password"])
    return found


def test_the_connect_button_leads_to_the_first_notebook(healthy: Session, place: Path) -> None:
    page = dashboard("view", str(place / "app"), str(healthy.folder / "connection.yml"))
    connection = healthy.connection
    base = f"/node/{connection['host']}/{connection['port']}"
    assert f'action="{base}/login?next=' in page
    assert f'value="{connection["password"]}"' in page
    assert connection["lab_path"] == "lab/tree/101-first.ipynb"
    landed = Learner(healthy).log_in(connection["password"], connection["lab_path"])
    assert landed.endswith(f"{base}/lab/tree/101-first.ipynb")


def test_nobody_gets_in_without_the_password(healthy: Session) -> None:
    stranger = Learner(healthy)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        stranger.get("api/contents")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        stranger.log_in("wrong")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        stranger.get("api/contents?token=left%20over")


def test_the_password_is_only_in_the_portals_file(healthy: Session, place: Path) -> None:
    password = healthy.connection["password"]
    assert len(password) == 32
    holders = [
        path.relative_to(place).as_posix()
        for path in place.rglob("*")
        if path.is_file() and password.encode() in path.read_bytes()
    ]
    assert holders == ["job/output/connection.yml"]
    configuration = next(place.glob("job/ml-on-hpc.*/jupyter_config.py"))
    assert stat.S_IMODE(configuration.stat().st_mode) == 0o600
    assert "sha256:" in configuration.read_text()


def test_the_cookie_is_not_for_other_sites(learner: Learner) -> None:
    cookies = [cookie for cookie in learner.cookies if cookie.name.startswith("username")]
    assert [cookie.get_nonstandard_attr("SameSite") for cookie in cookies] == ["Lax"]


def test_the_courses_kernel_is_the_only_one(learner: Learner) -> None:
    found = learner.get("api/kernelspecs")
    assert found["default"] == "python3"
    assert list(found["kernelspecs"]) == ["python3"]
    spec = found["kernelspecs"]["python3"]["spec"]
    assert spec["display_name"] == "ML on HPC"
    assert spec["argv"][0] == str(Path(sys.prefix) / "bin" / "python")


def test_the_learners_files_are_there(learner: Learner) -> None:
    names = {entry["name"] for entry in learner.get("api/contents")["content"]}
    assert names == {"101-first.ipynb", "102-second.ipynb", "random.py"}


def test_a_cell_runs_in_the_courses_environment(learner: Learner, place: Path) -> None:
    names = ("MLHPC_SITE", "MLHPC_RECORDS", "OMP_NUM_THREADS", "SRUN_CPUS_PER_TASK", "PYTHONNOUSERSITE")
    code = (
        f"import os, sys, json, mlhpc.paths\nnames = {names}\n"
        "print(json.dumps([sys.prefix, os.getcwd(), str(mlhpc.paths.course_root()), "
        "*[os.environ[name] for name in names], 'PYTHONPATH' in os.environ]))"
    )
    folder = place / "home" / "ml-on-hpc"
    assert json.loads(learner.run(code)) == [
        sys.prefix,
        str(folder),
        str(place / "course"),
        "small",
        str(folder / "records"),
        "2",
        "2",
        "1",
        False,
    ]


def test_the_home_folder_holds_the_course_and_nothing_else(learner: Learner, place: Path) -> None:
    code = "import matplotlib.pyplot as plt; plt.plot([1]); print('drawn')"
    assert learner.run(code) == "drawn\n"
    assert [path.name for path in (place / "home").iterdir()] == ["ml-on-hpc"]
    hidden = [path.name for path in (place / "home" / "ml-on-hpc").iterdir() if path.name.startswith(".")]
    assert hidden == [".mlhpc"]
    # Reading a notebook looks its signature up, which is a database in a file unless told otherwise.
    assert learner.get("api/contents/101-first.ipynb")["type"] == "notebook"
    databases = [path for path in place.rglob("*") if path.suffix in (".db", ".sqlite")]
    assert {path.name for path in databases} == {"history.sqlite"}
    assert {path.relative_to(place).parts[0] for path in databases} == {"job"}


@pytest.mark.slow
def test_a_second_session_keeps_an_edit_and_brings_a_fix_and_both_leave_nothing(
    app: Path, course: Path, session: Start, tmp_path: Path
) -> None:
    mine = tmp_path / "home" / "ml-on-hpc"
    first = session(app)
    assert list((tmp_path / "session-0").glob("ml-on-hpc.*"))
    server = Learner(first)
    server.log_in(first.connection["password"])
    server.post("api/shutdown")
    assert first.process.wait(timeout=60) == 0
    assert first.reason == ""
    (mine / "101-first.ipynb").write_text(notebook("my work"))
    (course / "learner" / "101-first.ipynb").write_text(notebook("mended"))
    (course / "learner" / "102-second.ipynb").write_text(notebook("mended, too"))
    second = session(app)
    assert second.connection["lab_path"] == "lab/tree/101-first.ipynb"
    assert "my work" in (mine / "101-first.ipynb").read_text()
    assert "mended" in (mine / "101-first.new.ipynb").read_text()
    assert "mended, too" in (mine / "102-second.ipynb").read_text()
    assert "the course's new text is beside it: 101-first.new.ipynb" in second.log
    # The first ended by itself, the second is ended as the portal's Delete button does it.
    second.end()
    assert not list(tmp_path.glob("session-*/ml-on-hpc.*"))


def broken_app(tmp_path: Path, course: Path, environment: Path) -> Path:
    """Return an app with an environment that does not work."""
    write_folder(tmp_path / "broken", app_files(small_request(course, environment)))
    return tmp_path / "broken"


def _nothing(environment: Path) -> None:
    """The environment was never made."""


def _without_python(environment: Path) -> None:
    (environment / "bin").mkdir(parents=True)


def _dangling(environment: Path) -> None:
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to("/home-of-somebody/python3.11")


def _program(environment: Path, text: str) -> None:
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").write_text(text)
    (environment / "bin" / "python").chmod(0o755)


def _without_packages(environment: Path) -> None:
    _program(
        environment, "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'jupyterlab'\" >&2\nexit 1\n"
    )


def _crashing(environment: Path) -> None:
    _program(environment, "#!/bin/sh\nkill -SEGV $$\n")


@pytest.mark.parametrize(
    ("breakage", "reason"),
    [
        (_nothing, "is not there on localhost"),
        (_without_python, "There is no"),
        (_dangling, "leads to /home-of-somebody/python3.11, which is not there on localhost"),
        (_without_packages, "does not work: ModuleNotFoundError: No module named &#39;jupyterlab&#39;."),
        (_crashing, "did not answer, or ended without a word"),
    ],
)
def test_a_broken_environment_ends_the_session_with_the_reason(
    tmp_path: Path, course: Path, session: Start, breakage: Callable[[Path], None], reason: str
) -> None:
    breakage(tmp_path / "environment")
    ended = session(broken_app(tmp_path, course, tmp_path / "environment"))
    assert ended.connection == {}
    assert ended.process.wait() == 1
    assert reason in ended.reason
    assert "Tell help@small.example." in ended.reason
    assert "Tell help@small.example." in ended.log
    assert list((tmp_path / "home").iterdir()) == []


def test_an_environment_that_learners_may_not_read_is_named_as_such() -> None:
    """What umask 077 does; as another user, since nothing is closed to root."""
    place = Path(tempfile.mkdtemp())
    try:
        place.chmod(0o755)
        course = make_course(place / "course")
        _program(place / "environment", "#!/bin/sh\nexit 0\n")
        (place / "environment").chmod(0o700 if os.geteuid() == 0 else 0)
        app = broken_app(place, course, place / "environment")
        (place / "home").mkdir()
        (place / "job").mkdir()
        user = NOBODY if os.geteuid() == 0 else None
        ended = Session.start(app, place / "job" / "output", place / "home", user=user)
        ended.end()
        assert "you may not read it (was it made with umask 077?)" in ended.reason
    finally:
        (place / "environment").chmod(0o700)
        shutil.rmtree(place)


def test_a_course_that_is_not_there_is_named(tmp_path: Path, app: Path, course: Path, session: Start) -> None:
    shutil.rmtree(course)
    assert f"The course folder {course} is not there on localhost" in session(app).reason


def test_learners_copies_that_were_never_made_are_named(app: Path, course: Path, session: Start) -> None:
    shutil.rmtree(course / "learner")
    reason = session(app).reason
    assert "could not be copied" in reason
    assert f"{course / 'learner'} are not there" in reason


def test_a_port_that_somebody_else_took_is_not_taken_for_ours(app: Path, session: Start) -> None:
    with socket.socket() as other:
        other.bind(("0.0.0.0", 0))
        other.listen()
        ended = session(app, fixed_port=other.getsockname()[1])
        assert ended.connection == {}
        assert "Jupyter ended before it was ready" in ended.reason
        assert "already in use" in ended.log


def test_a_session_starts_in_spite_of_a_module_and_a_temporary_folder_that_are_gone(
    tmp_path: Path, course: Path, session: Start
) -> None:
    software = 'software: {module_setup: /gone/modules.sh, python: {how: "Modules.", modules: python/3.99}}'
    text = PROFILE[: PROFILE.index("software:")] + software
    elsewhere = f"{tmp_path}/scratch/{{user}}/course"
    request = small_request(course, text=text, learner_folder=elsewhere)
    write_folder(tmp_path / "modules", app_files(request))
    running = session(tmp_path / "modules", environment={"TMPDIR": str(tmp_path / "gone")})
    assert running.connection, running.log
    mine = Path(elsewhere.format(user=pwd.getpwuid(os.geteuid()).pw_name))
    assert (mine / "101-first.ipynb").exists()
    assert "Could not read the set-up of the modules." in running.log
    assert "Could not load the module python/3.99" in running.log


def test_no_text_of_a_profile_runs_as_a_command(tmp_path: Path, session: Start) -> None:
    evil = "$(touch pwned) `touch pwned` '; touch pwned; \" <%= raise %> %> \\n <script>"
    text = PROFILE.replace("help@small.example", json.dumps(evil))
    course = tmp_path / "no such course"
    write_folder(tmp_path / "evil", app_files(small_request(course, text=text)))
    ended = session(tmp_path / "evil")
    assert f"Tell {evil}." in ended.log
    assert "<script>" not in ended.reason
    assert not list(tmp_path.rglob("pwned"))
