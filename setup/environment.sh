#!/usr/bin/env bash
# Makes .venv from requirements.lock, or does nothing when it is up to date.
# PYTHON=... chooses the interpreter. Safe to run again, to interrupt, and to start twice at once.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "setup: $*" >&2; exit 1; }

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] ||
    fail "requirements.lock is for Linux on x86_64, this is $(uname -s) on $(uname -m): make an environment from environment.yml and install with 'pip install --no-deps -e .'."

python=${PYTHON:-}
if [ -z "$python" ]; then
    for candidate in python3.11 python3 python3.12 python3.13; do
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            python=$candidate
            break
        fi
    done
fi
[ -n "$python" ] || fail "no Python 3.11 to 3.13 found: install one (Debian 12: apt-get install python3 python3-venv) or name it with PYTHON=/path/to/python3.11."
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null ||
    fail "'$python' is not a Python 3.11 to 3.13 that runs: name another with PYTHON=..."

for file in requirements.lock pyproject.toml; do
    if [ ! -f "$file" ] || [ ! -r "$file" ]; then
        fail "$PWD/$file cannot be read: get the course again, or this file with 'git checkout $file'."
    fi
done

stamp=.venv/ready
wanted=$("$python" - <<'EOF'
import hashlib, pathlib, sys
files = ("requirements.lock", "pyproject.toml")
content = b"".join(pathlib.Path(name).read_bytes() for name in files) + str((sys.version_info[:2], pathlib.Path.cwd())).encode()
print(hashlib.sha256(content).hexdigest())
EOF
)
ready() {
    [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && .venv/bin/python -c 'import mlhpc' 2>/dev/null
}
# Before anything is written: a checkout that many people share is read-only to most of them.
if ready; then exit 0; fi

# Two set-ups at once (make course in one terminal, make test in another) would fill one folder: the second waits.
{ exec 9>.venv.lock; } 2>/dev/null || fail "$PWD cannot be written: copy the course to a folder of yours, or have its owner run make setup."
flock 9
if ready; then exit 0; fi

"$python" -c 'import ensurepip, venv' 2>/dev/null || bash setup/system.sh venv

echo "setup: making .venv (about 6.5 GB with the libraries of PyTorch; some minutes without a word)"
rm -f "$stamp"
# A folder that was moved or made by another Python has an interpreter that no longer runs: start afresh.
if [ -e .venv ] && ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    rm -rf .venv
fi
"$python" -m venv .venv || fail "$PWD/.venv could not be made; the lines above say why."
.venv/bin/python -m pip install --disable-pip-version-check --quiet --progress-bar off -r requirements.lock ||
    fail "the packages of requirements.lock did not install; the lines above say why."
.venv/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e . ||
    fail "the package mlhpc did not install; the lines above say why."
.venv/bin/python -m pip check >/dev/null || fail "the installed packages do not fit together: remove .venv and run again."
echo "$wanted" >"$stamp"
echo "setup: .venv is ready"
