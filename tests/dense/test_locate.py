"""A model that is not on the machine, where there is no network."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from autoindex_pyserini.dense import ModelNotFoundError
from autoindex_pyserini.dense.locate import locate
from autoindex_pyserini.errors import InputError

LOCATE = """
from autoindex_pyserini.dense.locate import locate
locate("someone/embedding-model")
"""


@pytest.mark.parametrize("network", [{"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:9"}])
def test_offline_the_message_says_where_it_looked_and_what_to_do(
    network: dict[str, str], tmp_path: Path
) -> None:
    environment = {"HF_HOME": str(tmp_path / "hub"), "PATH": "", **network}
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", LOCATE], env=environment, capture_output=True, text=True, check=False
    )
    assert time.monotonic() - started < 60
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("autoindex_pyserini.dense.locate.ModelNotFoundError: ")
    for part in ("'someone/embedding-model'", str(tmp_path / "hub"), "hf download", "give its path"):
        assert part in last


def test_paths_never_reach_the_network(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="is not a folder"):
        locate(str(tmp_path / "absent"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelNotFoundError, match="holds no weights"):
        locate(str(tmp_path / "empty"))
    (tmp_path / "empty" / "model.safetensors").write_bytes(b"x")
    with pytest.raises(InputError, match="a revision is given"):
        locate(str(tmp_path / "empty"), "main")


def test_a_name_that_no_hub_has_is_refused() -> None:
    with pytest.raises(ModelNotFoundError, match="neither a folder nor a name"):
        locate("not a name/at all")
