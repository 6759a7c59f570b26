"""Whether Codex would run a hook, according to its configuration files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts.codex_trust import HookTrust, hook_checksum, hook_trust, hooks_are_disabled

PATH = "/home/dev/.codex/hooks.json"
COMMAND = "python3 -c 'from holdfast.surfaces.hook import main; main()'"


def hook_file(event: str = "PreCompact", **fields: Any) -> dict[str, Any]:
    """The content of a hook file with one hook."""
    hook = {"type": "command", "command": COMMAND, "timeout": 15, **fields}
    return {"hooks": {event: [{"hooks": [hook]}]}}


def config_with(name: str, **state: Any) -> dict[str, Any]:
    """The configuration in which Codex records the state of a hook."""
    return {"hooks": {"state": {name: state}}}


def current_checksum(event: str = "PreCompact") -> str:
    (entry,) = hook_file(event)["hooks"][event]
    return hook_checksum(event, entry, entry["hooks"][0])


def single_hook(settings: dict[str, Any], config: dict[str, Any], path: str = PATH) -> HookTrust:
    (hook,) = hook_trust(path, settings, config)
    return hook


KEY = f"{PATH}:pre_compact:0:0"
CASES: list[tuple[dict[str, Any], str]] = [
    ({}, "untrusted"),
    ({"hooks": 7}, "untrusted"),
    ({"hooks": {"state": {KEY: 7}}}, "untrusted"),
    (config_with(f"{PATH}:pre_compact:1:0", trusted_hash=current_checksum()), "untrusted"),
    (config_with(KEY, trusted_hash="sha256:old"), "modified"),
    (config_with(KEY, trusted_hash=current_checksum()), "trusted"),
    (config_with(KEY, trusted_hash=current_checksum(), enabled=True), "trusted"),
    (config_with(KEY, trusted_hash=current_checksum(), enabled=False), "disabled"),
]


def test_a_hook_is_trusted_only_with_the_recorded_checksum() -> None:
    for config, status in CASES:
        assert single_hook(hook_file(), config) == ("PreCompact", status), config


# Checksums that Codex 0.166.0 returns in its list of hooks.
CODEX_CHECKSUMS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("PreCompact", {}, {"timeout": 15},
     "sha256:791c77ac672498eac01e0a49362e2263e06953f0c4944927385d5675bcd5e3c4"),
    ("PostCompact", {"matcher": "auto"}, {"timeout": 15},
     "sha256:c0a34f1f3288a73584b206a72774b52384c9870037954a0525675a7e1c3b9de8"),
    ("SessionEnd", {}, {"timeout": 15},
     "sha256:d493bda312cad0002d99daef8140e564adcde8433f929b10522fefd6fb145d5a"),
    ("Stop", {}, {}, "sha256:5ecfe4f3ca133e2b992ddcfffbde5e9316488a2ebb5255282c1d0e43edd80002"),
]  # fmt: skip


@pytest.mark.parametrize(("event", "group", "hook", "expected"), CODEX_CHECKSUMS)
def test_the_checksum_is_the_one_that_codex_computes(
    event: str, group: dict[str, Any], hook: dict[str, Any], expected: str
) -> None:
    assert hook_checksum(event, group, {"type": "command", "command": COMMAND, **hook}) == expected


def test_hooks_of_other_programs_are_ignored() -> None:
    assert [*hook_trust(PATH, hook_file(command="make"), {})] == []


def test_a_hook_is_found_by_its_position_in_the_file() -> None:
    settings = hook_file()
    settings["hooks"]["PreCompact"].insert(0, {"hooks": [{"type": "command", "command": "make"}]})
    assert (
        single_hook(settings, config_with(KEY, trusted_hash=current_checksum())).status
        == "untrusted"
    )
    moved = config_with(f"{PATH}:pre_compact:1:0", trusted_hash=current_checksum())
    assert single_hook(settings, moved).status == "trusted"


def test_a_symlinked_codex_home_is_found_by_its_resolved_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    config = config_with(
        f"{tmp_path}/real/hooks.json:pre_compact:0:0", trusted_hash=current_checksum()
    )
    assert single_hook(hook_file(), config, f"{tmp_path}/link/hooks.json").status == "trusted"


def test_the_timeout_of_session_end_hooks_counts_as_three_seconds_at_most() -> None:
    (entry,) = hook_file("SessionEnd")["hooks"]["SessionEnd"]
    short_hook = {**entry["hooks"][0], "timeout": 3}
    assert hook_checksum("SessionEnd", entry, short_hook) == hook_checksum(
        "SessionEnd", entry, entry["hooks"][0]
    )


def test_all_hooks_can_be_disabled_in_the_configuration() -> None:
    assert hooks_are_disabled({"features": {"hooks": False}})
    assert hooks_are_disabled({"features": {"codex_hooks": False}})
    assert not hooks_are_disabled({"features": {"hooks": True}})
    assert not hooks_are_disabled({})
