#!/usr/bin/env bash
# Installs what the machine lacks, when run as root on Debian or Ubuntu; otherwise names it and the command to run.
#   setup/system.sh venv       Python's venv module
#   setup/system.sh browser    Chromium, for the tests of the site
#   setup/system.sh ruby       Ruby, for the tests of the Open OnDemand app
#   setup/system.sh shellcheck shellcheck, for the tests of generated scripts
set -euo pipefail

find_browser() {
    if [ -n "${CHROMIUM:-}" ]; then
        command -v "$CHROMIUM"
        return
    fi
    command -v chromium || command -v chromium-browser || command -v google-chrome
}

need() {
    local what=$1 why=$2
    shift 2
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing $what ($why)"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    elif command -v apt-get >/dev/null; then
        echo "setup: $what is missing ($why). Run: sudo apt-get install $*" >&2
        exit 1
    else
        echo "setup: $what is missing ($why). Install it with this system's package manager and run again." >&2
        exit 1
    fi
}

case "${1:-}" in
venv)
    need "Python's venv module" "for .venv" python3-venv
    ;;
browser)
    find_browser >/dev/null ||
        need "Chromium" "the tests open the site in a browser; CHROMIUM=/path/to/chrome names another" chromium fonts-dejavu-core
    ;;
ruby)
    command -v ruby >/dev/null || need "Ruby" "the tests render the Open OnDemand app as a portal does" ruby
    ;;
shellcheck)
    command -v shellcheck >/dev/null || need "shellcheck" "the tests check the scripts that are generated" shellcheck
    ;;
*)
    echo "setup: usage: setup/system.sh venv|browser|ruby|shellcheck" >&2
    exit 2
    ;;
esac
