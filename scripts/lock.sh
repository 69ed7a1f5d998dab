#!/bin/sh
# Write the locks in requirements/: names, versions and hashes, for every platform, and no address of any index.
# UPGRADE=1 takes the newest versions; otherwise only what no longer satisfies pyproject.toml changes.
# UV names the uv to use (default: the environment's own).
set -eu
cd "$(dirname "$0")/.."

# What this shell's pip or uv is told about where packages come from is this machine's business.
unset PIP_FIND_LINKS PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CONSTRAINT UV_FIND_LINKS UV_CONSTRAINT || true

uv=${UV:-.venv/bin/uv}
upgrade=${UPGRADE:+--upgrade}

compile() {
    # shellcheck disable=SC2086
    "$uv" pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate \
        --custom-compile-command "make lock" $upgrade "$@"
}

# The development lock comes first, and the others agree with it.
compile --python-version 3.12 pyproject.toml --group dev --constraint requirements/pins.in \
    --output-file requirements/dev.txt
compile --python-version 3.12 pyproject.toml --constraint requirements/dev.txt --output-file requirements/runtime.txt
compile --python-version 3.12 --group build --constraint requirements/dev.txt --output-file requirements/build.txt
# uv alone, for whatever Python there is, so that it can bring a newer one.
echo uv | compile --python-version 3.8 - --constraint requirements/dev.txt --output-file requirements/uv.txt
