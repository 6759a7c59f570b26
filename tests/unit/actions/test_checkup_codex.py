"""What the doctor says of Codex's hooks."""

from __future__ import annotations

from pathlib import Path

from holdfast.actions.checkup_codex import codex_hooks
from holdfast.actions.install import install, plan_install
from holdfast.hosts import codex


def installed(home: Path) -> dict[str, str]:
    environ = {"HOME": str(home), "CODEX_HOME": str(home / ".codex"), "PATH": ""}
    (home / ".codex").mkdir(parents=True)
    store = str(home / "store")
    plan = plan_install(codex.settings_path(environ, None), "0.166.0", store, host=codex)
    install(plan, store)
    return environ


def test_untrusted_hooks_are_told_with_how_to_trust_them(tmp_path: Path) -> None:
    found = [*codex_hooks(installed(tmp_path), str(tmp_path / "elsewhere"))]
    (problem,) = (one for one in found if one.status == "fail")
    assert "not trusted yet" in problem.detail
    assert "/hooks" in str(problem.hint)


def test_who_works_in_his_home_is_told_once(tmp_path: Path) -> None:
    found = [*codex_hooks(installed(tmp_path), str(tmp_path))]
    assert len([one for one in found if one.status == "fail"]) == 1


def test_without_codex_nothing_is_said(tmp_path: Path) -> None:
    assert [*codex_hooks({"HOME": str(tmp_path), "PATH": ""}, str(tmp_path))] == []
