from __future__ import annotations

from pathlib import Path

import pytest

from foldline.core.config import Config
from foldline.errors import BudgetError, InputError
from foldline.settings import load, load_config


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "deep" / "down"
    folder.mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"FOLDLINE_HOME": str(tmp_path / "home"), "PATH": "/bin"}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.requirement("C22")
def test_precedence_is_argument_environment_project_user(
    project: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    text = "[clearing]\nkeep = {}\ngain_tokens = {}\n[tail]\nfraction = 0.3\n"
    user = write(tmp_path / "home" / "foldline.toml", text.format(1, 1) + "[pace]\nrequests = 1\n")
    mine = write(project / "foldline.toml", text.format(2, 2))
    environ |= {"FOLDLINE_CLEARING__KEEP": "3", "FOLDLINE_CLEARING__ONLY": "read, grep"}
    found = load({"clearing.keep": 4}, start=project / "deep" / "down", environ=environ)
    assert found.config == Config().replace(
        clearing={"keep": 4, "gain_tokens": 2, "only": ["read", "grep"]},
        tail={"fraction": 0.3},
        pace={"requests": 1},
    )
    origins = dict(found.origins)
    assert origins["clearing.keep"] == "argument"
    assert origins["clearing.only"] == "FOLDLINE_CLEARING__ONLY"
    assert origins["clearing.gain_tokens"] == origins["tail.fraction"] == str(mine)
    assert origins["pace.requests"] == str(user)
    assert origins["policy"] == "default"
    assert ("clearing.keep", 4, "argument") in list(found.rows())


def test_pyproject_is_read_unless_there_is_a_foldline_file(
    project: Path, environ: dict[str, str]
) -> None:
    table = "[project]\nname = 'x'\n[tool.foldline]\npolicy = 'salient'\n"
    write(project / "pyproject.toml", table)
    write(project / "deep" / "pyproject.toml", "[project]\nname = 'nothing of ours'\n")
    assert load(start=project / "deep", environ=environ).config.policy == "salient"
    write(project / "foldline.toml", "policy = 'clear'\n")
    assert load(start=project / "deep", environ=environ).config.policy == "clear"


@pytest.mark.requirement("K40")
def test_a_scenario_has_the_lowest_precedence(project: Path, environ: dict[str, str]) -> None:
    write(project / "foldline.toml", "scenario = 'support'\n[outputs]\nsoft = 3000\n")
    found = load(start=project, environ=environ)
    assert found.config == Config.scenario("support", outputs={"soft": 3_000})
    assert found.origins["clearing.keep"] == "scenario support"
    found = load({"scenario": "coding"}, start=project, environ=environ)
    assert found.config == Config.scenario("coding", outputs={"soft": 3_000})


@pytest.mark.requirement("C22")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "[thresholds]\nact = 0.7\n",
            r"'thresholds\.act', in .*foldline\.toml.*thresholds\.act_at",
        ),
        ("enabeld = true\n", "'enabeld', in .*Did you mean 'enabled'"),
        ("act_at = 0.5\n", "Did you mean"),
        ("thresholds = 3\n", "no setting 'thresholds'"),
        ("[enabled]\nx = 1\n", r"no setting 'enabled\.x'"),
        ("[a.b.c.d.e.f]\nx = 1\n", "no setting 'a.b.c.d.e"),
        ("[thresholds]\nact_at = 0.3\n", r"below act_at.*This is set in: .*foldline\.toml"),
        ("enabled = 'yes'\n", "enabled must be true or false.*foldline.toml"),
        ("scenario = 'suport'\n", "no scenario 'suport', in .*Did you mean 'support'"),
    ],
)
def test_an_error_names_problem_origin_and_similar_key(
    text: str, words: str, project: Path, environ: dict[str, str]
) -> None:
    write(project / "foldline.toml", text)
    with pytest.raises(BudgetError, match=words):
        load(start=project, environ=environ)


@pytest.mark.parametrize("data", [b"a = ", b"\xff\xfe", b"a = [" * 5_000, b"#" * (2 << 20)])
def test_a_file_that_cannot_be_read_is_named(
    data: bytes, project: Path, environ: dict[str, str]
) -> None:
    (project / "foldline.toml").write_bytes(data)
    with pytest.raises(InputError, match=r"foldline\.toml"):
        load(start=project, environ=environ)


def test_load_config_reads_the_working_directory(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project / "foldline.toml", "[limits]\nseconds = 25\n")
    monkeypatch.chdir(project)
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    assert load_config(limits={"attempts": 1}).limits.seconds == 25
    assert load_config(limits={"attempts": 1}).limits.attempts == 1
