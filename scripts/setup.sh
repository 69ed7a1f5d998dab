#!/bin/sh
# Make .venv: find a Python, install what requirements/dev.txt locks, then this project in editable form.
#
#   sh scripts/setup.sh          make or update .venv
#   sh scripts/setup.sh --find   only print the Python that would be used
#
# PYTHON=/path/to/python names the interpreter. Nothing outside .venv and the package caches is touched, and no
# Java and (where every package has a wheel) no compiler is needed.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd -P)

# Large wheels over slow lines; and pip's news about itself is not ours to pass on.
export UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-300}" PIP_DISABLE_PIP_VERSION_CHECK=1

venv=.venv
mark=$venv/.made-by-setup # this script made the folder, and may remake it
ready=$venv/.ready        # holds the path of the checkout; written last, so an interrupted set-up is seen
wanted="3.12, 3.13 or 3.14"
disk_gb=7                 # Linux: torch brings the CUDA libraries along
case $(uname -s) in Darwin) disk_gb=3 ;; esac

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "set-up: $*"
    exit 1
}

# ---- Which Python ---------------------------------------------------------------------------------------------
# Runs on any Python. Prints "VERSION VERDICT PATH", the path being the real interpreter's and not a shim's.
# shellcheck disable=SC2016
probe='
import os, platform, sys
v = sys.version_info
try:
    import sysconfig
    free_threaded = sysconfig.get_config_var("Py_GIL_DISABLED")
except Exception:
    free_threaded = None
if v[:2] < (3, 12):
    verdict = "old"
elif v[:2] > (3, 14):
    verdict = "new"
elif platform.python_implementation() != "CPython" or free_threaded:
    verdict = "variant"
else:
    verdict = "ok"
    try:
        import ensurepip, venv
    except ImportError:
        verdict = "bare"
path = getattr(sys, "_base_executable", None) or sys.executable
sys.stdout.write("%d.%d.%d %s %s\n" % (v[0], v[1], v[2], verdict, os.path.realpath(path)))
'

# Where a Python may be although the PATH does not say so. The tests set this, to see a machine without any.
system_folders=${SETUP_SYSTEM_FOLDERS-/usr/local/bin /usr/bin /opt/homebrew/bin}
seen=""  # one line for each interpreter looked at, for the message when none will do
any=""   # some Python, however old, with pip: it can still run uv
bare=""  # a fitting Python without venv and pip, as Debian ships it: usable where there is a uv
python=""

# consider FILE: true, and $python set, if FILE is an interpreter that will do.
consider() {
    [ -x "$1" ] && [ ! -d "$1" ] || return 1
    # Really run it: a pyenv shim exists, and fails, for every version that some other folder uses.
    answer=$("$1" -c "$probe" 2>/dev/null </dev/null) || {
        seen="$seen
  $1: does not run"
        return 1
    }
    # The shell's own splitting: the path, which may hold spaces, comes last.
    version=${answer%% *}
    rest=${answer#* }
    verdict=${rest%% *}
    real=${rest#* }
    case $seen in *"$real:"*) return 1 ;; esac
    case $verdict in
    ok)
        python=$real
        return 0
        ;;
    old) why="too old" ;;
    new) why="newer than the locked packages have wheels for" ;;
    variant) why="not a plain CPython" ;;
    bare)
        why="has no venv and ensurepip modules (on Debian and Ubuntu: apt install python${version%.*}-venv)"
        [ -n "$bare" ] || bare=$real
        ;;
    *) return 1 ;;
    esac
    seen="$seen
  $real: $version, $why"
    # pip's resolver of hashes, and uv's wheels, want 3.8.
    case $version in
    [012].* | 3.[0-7].*) ;;
    *) [ -n "$any" ] || any=$real ;;
    esac
    return 1
}

on_path() {
    for name in python3.12 python3.13 python3.14 python3 python; do
        old_ifs=$IFS
        IFS=:
        # Every one on the PATH, not only the first: a shim may stand before the real one.
        for folder in $PATH; do
            IFS=$old_ifs
            consider "${folder:-.}/$name" && return 0
        done
        IFS=$old_ifs
    done
    return 1
}

pyenv_roots() { # one a line; its shims may be on the PATH where itself is not
    printf '%s\n' "${PYENV_ROOT:-}" "$HOME/.pyenv"
    pyenv root 2>/dev/null || true
    printf '%s\n' "$PATH" | tr : '\n' | sed -n 's|/shims/*$||p'
}

in_usual_places() {
    # pyenv's versions, even where its default is older; then what uv, asdf, mise and installers leave.
    roots=$(pyenv_roots)
    for minor in 12 13 14; do
        old_ifs=$IFS
        IFS='
'
        for root in $roots; do
            IFS=$old_ifs
            for file in "$root/versions/3.$minor."*/bin/python; do
                consider "$file" && return 0
            done
        done
        IFS=$old_ifs
        for file in \
            "${UV_PYTHON_INSTALL_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/uv/python}/cpython-3.$minor."*/bin/python3 \
            "$HOME/.asdf/installs/python/3.$minor."*/bin/python \
            "$HOME/.local/share/mise/installs/python/3.$minor."*/bin/python \
            "$HOME/.local/bin/python3.$minor" \
            "/Library/Frameworks/Python.framework/Versions/3.$minor/bin/python3"; do
            consider "$file" && return 0
        done
        for folder in $system_folders; do
            consider "$folder/python3.$minor" && return 0
        done
    done
    return 1
}

working_uv() { # the first uv that runs; a shim may not
    folders=$PATH:$HOME/.local/bin:$HOME/.cargo/bin
    old_ifs=$IFS
    IFS=:
    for folder in $folders; do
        IFS=$old_ifs
        if [ -x "$folder/uv" ] && "$folder/uv" --version >/dev/null 2>&1 </dev/null; then
            printf '%s\n' "$folder/uv"
            return 0
        fi
    done
    IFS=$old_ifs
    return 1
}

known_to_uv() {
    [ -n "$uv" ] || return 1
    file=$("$uv" python find --no-project --no-python-downloads --system '>=3.12,<3.15' 2>/dev/null) || return 1
    consider "$file"
}

# Sets $python, or $download=yes where only uv can still help, or stops.
find_python() {
    uv=$(working_uv || true)
    download=no
    if [ -n "${PYTHON:-}" ]; then
        file=$(command -v "$PYTHON" || true)
        [ -n "$file" ] || fail "PYTHON=$PYTHON is not a program; give the path of a Python $wanted."
        consider "$file" && return 0
        if [ -n "$bare" ] && [ -n "$uv" ]; then python=$bare && return 0; fi
        fail "PYTHON=$PYTHON will not do:$seen
A plain CPython $wanted with its venv module is needed."
    fi
    on_path && return 0
    in_usual_places && return 0
    known_to_uv && return 0
    if [ -n "$bare" ] && [ -n "$uv" ]; then python=$bare && return 0; fi
    # uv brings a Python of its own, and any Python with pip brings uv.
    if [ -n "$uv" ] || [ -n "$any" ]; then download=yes && return 0; fi
    no_python "Nothing here can fetch one either: that takes uv, or any Python from 3.8 with pip."
}

no_python() {
    fail "no usable Python. This project needs CPython $wanted.
Found:${seen:- none}
$1
To get one: your system's package (Debian, Ubuntu: apt install python3.12 python3.12-venv; Fedora: dnf install
python3.12; macOS: brew install python@3.12), or 'pyenv install 3.12', or 'uv python install 3.12'. One that is not
on the PATH: make PYTHON=/path/to/python3.12 ..."
}

# ---- The environment ------------------------------------------------------------------------------------------
check_disk() {
    free_kb=$(df -Pk . 2>/dev/null | awk 'NR == 2 { print $4 }') || free_kb=""
    case $free_kb in '' | *[!0-9]*) return 0 ;; esac
    [ "$free_kb" -ge $((disk_gb * 1024 * 1024)) ] && return 0
    say "set-up: warning: $((free_kb / 1024)) MB free in $here; a first installation takes about $disk_gb GB" \
        "(less if the packages are in uv's cache already). If it fails, make room and run the same command again."
}

# uv trusts the certificates it was built with. Where a proxy or mirror is signed by the machine's own, it needs to be
# told; a machine without any certificates is why that is not the first thing tried.
with_uv() { # with_uv UV ARGUMENT...
    "$@" >&2 || {
        say "set-up: uv failed (its message is above); trying once more, with this machine's certificates."
        export UV_SYSTEM_CERTS=1 UV_NATIVE_TLS=1 # one is the older name
        "$@" >&2
    }
}

need_pip() { # need_pip FOLDER: pip in that environment
    "$1/bin/python" -m pip --version >/dev/null 2>&1 || "$1/bin/python" -m ensurepip >/dev/null 2>&1
}

# The locked pip options: the lock is the only constraint, whatever this machine's pip configuration says.
locked_pip() {
    folder=$1
    shift
    PIP_CONSTRAINT=/dev/null "$folder/bin/python" -m pip install --quiet \
        --require-hashes --no-deps "$@"
}

download_python() {
    say "set-up: no Python $wanted found here; asking uv for one."
    if [ -z "$uv" ]; then
        # Throwaway, inside .venv so that whatever happens it goes with it.
        if ! { "$any" -m venv "$venv/uv-only" >&2 && need_pip "$venv/uv-only" &&
            locked_pip "$venv/uv-only" -r requirements/uv.txt >&2; }; then
            no_python "uv, which could fetch one, could not be installed with $any."
        fi
        uv=$here/$venv/uv-only/bin/uv
    fi
    with_uv "$uv" python install 3.12 || no_python "uv could not fetch one (its message is above)."
    python=$("$uv" python find --no-project --no-python-downloads --managed-python 3.12) ||
        no_python "uv fetched one and cannot find it."
    rm -rf "$venv/uv-only"
}

make_venv() {
    if [ -e "$venv" ] && [ ! -e "$mark" ] && [ ! -e "$ready" ]; then
        fail "$here/$venv exists, and this script did not make it. Move or remove it, and run this again."
    fi
    rm -rf "$venv"
    mkdir "$venv"
    : >"$mark"
    [ "$download" = no ] || download_python
    say "set-up: making $venv with $python ($("$python" -c 'import platform; print(platform.python_version())'))"
    # Without pip, which takes longer to unpack than everything else here, where a uv can do its work.
    if [ -n "$uv" ] && "$uv" venv --quiet --allow-existing --no-project --python "$python" "$venv" >&2 &&
        with_uv "$uv" pip install --quiet --python "$venv/bin/python" --require-hashes --no-deps \
            -r requirements/build.txt; then
        return 0
    fi
    "$python" -m venv "$venv" >&2 || fail "'$python -m venv $venv' failed (its message is above)."
    locked_pip "$venv" -r requirements/build.txt >&2 ||
        fail "the build tools of requirements/build.txt could not be installed (pip's message is above)."
}

install_locked() {
    say "set-up: installing the packages of requirements/dev.txt (a first time downloads up to 3 GB)"
    quiet=--quiet
    [ ! -t 2 ] || quiet=""
    # The build tools are in place already, pinned by hash, so nothing unlocked is fetched to build Pyserini.
    # shellcheck disable=SC2086
    if with_uv "$venv/bin/uv" pip sync $quiet --python "$venv/bin/python" --require-hashes --no-build-isolation \
        requirements/dev.txt && with_uv "$venv/bin/uv" pip install --quiet --offline --python "$venv/bin/python" \
        --no-deps --no-build-isolation --editable .; then
        return 0
    fi
    say "set-up: uv failed (its messages are above); trying pip, which takes longer."
    if need_pip "$venv" && locked_pip "$venv" --no-build-isolation -r requirements/dev.txt >&2 &&
        "$venv/bin/python" -m pip install --quiet --no-deps --no-build-isolation --editable . >&2
    then
        return 0
    fi
    check_disk
    fail "installing failed (the messages are above). Without a network, nothing can be installed."
}

case ${1:-} in
--find)
    find_python
    [ "$download" = no ] || no_python "uv could be asked to fetch one, by running this without --find."
    printf '%s\n' "$python"
    exit 0
    ;;
'') ;;
*) fail "unknown argument '$1'; the only one is --find." ;;
esac

start=$(date +%s)
if [ "$(cat "$ready" 2>/dev/null)" = "$here" ] && "$venv/bin/python" -c pass 2>/dev/null &&
    [ -x "$venv/bin/uv" ]; then
    say "set-up: bringing $venv up to date"
else
    find_python
    check_disk
    make_venv
fi
rm -f "$ready"
install_locked
printf '%s\n' "$here" >"$ready"
say "set-up: done in $(($(date +%s) - start)) s"
