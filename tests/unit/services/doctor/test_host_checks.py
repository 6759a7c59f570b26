"""Findings of the doctor about the hooks of Codex."""

from __future__ import annotations

from pathlib import Path

from holdfast.hosts import codex
from holdfast.services.doctor.host_checks import check_codex_hooks
from holdfast.services.install.registration import install, plan_install


def install_codex_hooks(home: Path) -> dict[str, str]:
    environ = {"HOME": str(home), "CODEX_HOME": str(home / ".codex"), "PATH": ""}
    (home / ".codex").mkdir(parents=True)
    store = str(home / "store")
    plan = plan_install(codex.settings_path(environ, None), "0.166.0", store, host=codex)
    install(plan, store)
    return environ


def test_untrusted_hooks_are_reported_with_a_hint(tmp_path: Path) -> None:
    findings = [*check_codex_hooks(install_codex_hooks(tmp_path), str(tmp_path / "elsewhere"))]
    (problem,) = (finding for finding in findings if finding.status == "fail")
    assert "not trusted yet" in problem.detail
    assert "/hooks" in str(problem.hint)


def test_the_home_folder_is_reported_once(tmp_path: Path) -> None:
    findings = [*check_codex_hooks(install_codex_hooks(tmp_path), str(tmp_path))]
    assert len([finding for finding in findings if finding.status == "fail"]) == 1


def test_without_codex_there_are_no_findings(tmp_path: Path) -> None:
    assert [*check_codex_hooks({"HOME": str(tmp_path), "PATH": ""}, str(tmp_path))] == []
