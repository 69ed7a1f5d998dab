"""Where data and caches are."""

import pytest

from autoindex_pyserini import resources
from autoindex_pyserini.errors import EnvironmentProblemError


def test_a_clone_has_its_data():
    assert (resources.data_dir("collections") / "pydata-api" / "collection.toml").is_file()


def test_a_wheel_comes_first(tmp_path, monkeypatch):
    package = tmp_path / "autoindex_pyserini"
    monkeypatch.setattr(resources, "_PACKAGE", package)
    (tmp_path / "collections").mkdir()
    assert resources.data_dir("collections") == tmp_path / "collections"
    (package / "_data" / "collections").mkdir(parents=True)
    assert resources.data_dir("collections") == package / "_data" / "collections"


def test_missing_data_is_named():
    with pytest.raises(EnvironmentProblemError, match="'nothing' is missing"):
        resources.data_dir("nothing")


def test_the_cache_can_be_put_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOINDEX_CACHE", str(tmp_path))
    assert resources.cache_dir() == tmp_path
    monkeypatch.delenv("AUTOINDEX_CACHE")
    assert resources.cache_dir().name == "autoindex-pyserini"
