"""The life of a session, hook by hook, as the host fires them."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.demo import Line
from holdfast.services.install.registration import hook_command
from holdfast.store import codec
from tests.process.aftermath import after, attachment, body, cut, once_more, saved_only, unharmed

from .scene import Fired, Scene

# The whole way


def test_a_session_is_followed_saved_and_restored(scene: Scene) -> None:
    made = scene.demo
    assert scene.fire("SessionStart", source="startup").is_silent
    start = 0
    for turn, end in enumerate(made.turn_ends, 1):
        scene.write(made.before[start : end + 1])
        start = end + 1
        assert scene.fire("Stop", turn=turn).is_silent
        assert scene.row()["state"] == scene.folded(), f"after turn {turn}"
    scene.write(made.before[start:])

    guidance = scene.fire("PreCompact", trigger="auto")
    assert guidance.code == 0
    assert "Never touch anything under migrations/" in guidance.out
    assert not guidance.out.startswith("{"), "plain text goes into the summariser's prompt"
    saved = scene.folded()

    assert scene.fire("SubagentStop", text=made.summary).is_silent
    brief = scene.fire("SessionStart", source="compact").brief
    known_again = brief + made.summary
    assert [fact.name for fact in made.facts if fact.text not in known_again] == []
    assert scene.fire("PostCompact", text=made.summary).is_silent

    scene.write(after(scene, attachment(scene, brief)))
    assert scene.fire("Stop").is_silent
    (row,) = scene.compactions()
    assert (row["ordinal"], row["trigger_name"], row["receipt"]) == (1, "auto", "whole")
    assert (row["summary"], row["brief"]) == (made.summary, brief)
    assert row["delivered_by"] == "SessionStart"
    with scene.store() as store:
        (snapshot,) = store.snapshots("s1")
    assert (snapshot["id"], snapshot["state"]) == (row["snapshot"], saved)
    assert scene.row()["state"] == scene.folded()
    assert scene.log() == []


def test_a_session_first_met_at_its_compaction_is_restored_like_any_other(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.fire("PreCompact")
    brief = scene.fire("SessionStart", source="compact").brief
    followed = Scene(root=scene.root, session="followed")
    followed.write(followed.demo.before[:100])
    followed.fire("Stop")
    followed.write(followed.demo.before[100:])
    followed.fire("PreCompact")
    assert body(brief) == body(followed.fire("SessionStart", source="compact").brief)


def test_the_brief_does_not_repeat_the_summary(scene: Scene) -> None:
    saved_only(scene)
    whole = scene.fire("SessionStart", source="compact").brief
    other = Scene(root=scene.root, session="s2")
    short = other.compacted().brief
    kept = [fact.text for fact in scene.demo.facts if fact.fate == "kept"]
    lost = [fact.text for fact in scene.demo.facts if fact.fate == "lost"]
    assert [text for text in lost if text not in short] == []
    assert [text for text in kept if text in whole and text not in short] != []


def compacted_twice(scene: Scene) -> tuple[str, str]:
    """Two compactions that went well, and their briefs."""
    first = scene.compacted().brief
    scene.write(after(scene, attachment(scene, first)))
    scene.fire("Stop")
    scene.fire("PreCompact", trigger="manual")
    scene.fire("SubagentStop", text="The second summary.")
    second = scene.fire("SessionStart", source="compact").brief
    scene.write(once_more(after(scene, attachment(scene, second))))
    scene.fire("Stop")
    return first, second


def test_every_compaction_has_its_own_snapshot_brief_and_receipt(scene: Scene) -> None:
    first, second = compacted_twice(scene)
    one, two = scene.compactions()
    assert (one["ordinal"], one["receipt"], one["brief"]) == (1, "whole", first)
    assert (two["ordinal"], two["receipt"], two["brief"]) == (2, "whole", second)
    assert (two["trigger_name"], two["summary"]) == ("manual", "The second summary.")
    assert one["snapshot"] != two["snapshot"]


def test_a_receipt_stays_when_its_brief_is_kept_in_short(scene: Scene) -> None:
    scene.home.mkdir(parents=True)
    (scene.home / "settings.json").write_text('{"keep_compactions": 1}')
    compacted_twice(scene)
    one, two = scene.compactions()
    assert (one["brief"], one["receipt"], two["receipt"]) == (None, "whole", "whole")


def test_a_compaction_that_failed_and_is_tried_again_is_one_compaction(scene: Scene) -> None:
    saved_only(scene)
    scene.fire("PreCompact")
    brief = scene.fire("SessionStart", source="compact").brief
    scene.write(after(scene, attachment(scene, brief)))
    scene.fire("Stop")
    assert scene.receipts() == ["whole"]
    with scene.store() as store:
        assert len(store.snapshots("s1")) == 2


@pytest.mark.parametrize("summary", ["the first summary", None])
def test_a_summary_is_never_stored_with_an_earlier_compaction(
    scene: Scene, summary: str | None
) -> None:
    """The second PreCompact is lost; the first compaction keeps what was its own, or nothing."""
    saved_only(scene)
    if summary:
        scene.fire("SubagentStop", text=summary)
    brief = scene.fire("SessionStart", source="compact").brief
    scene.write(after(scene, attachment(scene, brief)))
    scene.fire("Stop")
    scene.fire("SubagentStop", text="the second summary")
    scene.fire("PostCompact", text="the second summary")
    assert scene.compactions()[0]["summary"] == summary


def test_the_summary_of_an_ordinary_sub_agent_is_not_the_compaction_s(scene: Scene) -> None:
    saved_only(scene)
    scene.fire("SubagentStop", text="I searched.", agent_type="Explore", agent_id="a1")
    assert scene.compactions()[0]["summary"] is None


def test_guidance_that_is_turned_off_does_not_turn_off_saving(scene: Scene) -> None:
    scene.write(scene.demo.before)
    told = json.dumps(scene.payload("PreCompact")).encode()
    assert scene.send(told, environ={"HOLDFAST_GUIDANCE": "off"}).is_silent
    with scene.store() as store:
        assert len(store.snapshots("s1")) == 1


def test_the_brief_names_a_command_that_the_agent_can_really_run(scene: Scene) -> None:
    """A folder that happens to be called holdfast is not on the path as a command."""
    saved_only(scene)
    told = json.dumps(scene.payload("SessionStart", source="compact")).encode()
    (scene.root / "bin" / "holdfast").mkdir(parents=True)
    brief = scene.send(told, environ={"PATH": str(scene.root / "bin")}).brief
    assert f"`{sys.executable} -m holdfast recall" in brief
    (scene.root / "bin" / "holdfast").rmdir()
    (scene.root / "bin" / "holdfast").touch(mode=0o755)
    brief = scene.send(told, environ={"PATH": str(scene.root / "bin")}).brief
    assert "`holdfast recall" in brief


# Sub-agents


def test_a_sub_agent_s_compaction_is_not_the_session_s(scene: Scene) -> None:
    scene.write(scene.demo.before)
    of_agent: dict[str, Any] = {"agent_id": "a5cd1f0b2", "agent_type": "Explore"}
    assert scene.fire("PreCompact", **of_agent).is_silent
    assert scene.fire("SessionStart", source="compact", **of_agent).is_silent
    assert scene.fire("PostCompact", text="The agent's summary.", **of_agent).is_silent
    assert scene.compactions() == []
    with scene.store() as store:
        assert store.snapshots("s1") == []


@pytest.mark.parametrize("last", ["assistant", "tool_use", "tool_result"])
def test_a_compaction_that_names_no_agent_gets_a_brief_however_the_log_ends(
    scene: Scene, last: str
) -> None:
    """Clients before 2.1.325 never name one, and may compact after anything at all."""
    lines = [{**line, "version": "2.1.197"} for line in scene.demo.before]
    while last not in kinds_of(lines[-1]):
        lines.pop()
    scene.write(lines)
    scene.fire("PreCompact", trigger="auto")
    brief = scene.fire("SessionStart", source="compact").brief
    assert "Never touch anything under migrations/" in brief
    assert [row["brief"] for row in scene.compactions()] == [brief]


def kinds_of(line: Line) -> set[str]:
    """What a line of the log is: its speaker, and the kinds of its blocks."""
    content = line.get("message", {}).get("content", ())
    blocks = content if isinstance(content, list) else [{"type": line["type"]}]
    kinds = {block["type"] for block in blocks}
    return {"assistant"} if line["type"] == "assistant" and kinds == {"text"} else kinds


def test_a_sub_agent_s_compaction_inside_the_session_s_changes_nothing(scene: Scene) -> None:
    scene.compacted()
    before = scene.compactions()
    of_agent: dict[str, Any] = {"agent_id": "a5cd1f0b2", "agent_type": "Explore"}
    scene.fire("PreCompact", **of_agent)
    scene.fire("SessionStart", source="compact", **of_agent)
    scene.fire("PostCompact", text="The agent's summary.", **of_agent)
    assert scene.compactions() == before


# A transcript that does not stay


def vanish(scene: Scene) -> None:
    scene.transcript.unlink()


def empty(scene: Scene) -> None:
    scene.transcript.write_bytes(b"")


def become_a_folder(scene: Scene) -> None:
    scene.transcript.unlink()
    scene.transcript.mkdir()


@pytest.mark.parametrize("happens", [vanish, empty, cut, become_a_folder])
def test_the_brief_survives_any_damage_to_the_transcript_after_saving(
    scene: Scene, happens: Any
) -> None:
    saved_only(scene)
    happens(scene)
    assert body(scene.fire("SessionStart", source="compact").brief) == unharmed(scene)


def test_a_thin_later_snapshot_does_not_hide_the_rich_one(scene: Scene) -> None:
    saved_only(scene)
    cut(scene)
    scene.fire("PreCompact")
    assert body(scene.fire("SessionStart", source="compact").brief) == unharmed(scene)


def test_a_state_of_an_older_fold_is_folded_again(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.fire("Stop")
    with closing(sqlite3.connect(scene.database)) as store, store:
        store.execute("UPDATE sessions SET state = ?", ['{"version":0,"lines":3}'])
    assert scene.fire("Stop").is_silent
    assert scene.row()["state"] == scene.folded()
    assert scene.log() == []


def test_a_state_that_no_longer_reads_is_folded_again(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.fire("Stop")
    with closing(sqlite3.connect(scene.database)) as store, store:
        store.execute("UPDATE sessions SET state = substr(state, 1, 500)")
    assert scene.fire("Stop").is_silent
    assert scene.row()["state"] == scene.folded()


def test_a_snapshot_of_an_older_fold_still_makes_a_brief(scene: Scene) -> None:
    """An upgrade and a vanished transcript on one day: what was saved is all there is."""
    saved_only(scene)
    with scene.store() as store:
        (snapshot,) = store.snapshots("s1")
    old: dict[str, Any] = {**snapshot["state"], "version": 0}
    del old["pull_requests"], old["agents"]
    blob = codec.compress(json.dumps(old))
    with closing(sqlite3.connect(scene.database)) as raw, raw:
        raw.execute("UPDATE snapshots SET state = ?", [blob])
        raw.execute("UPDATE sessions SET state = ?", [json.dumps(old)])
    vanish(scene)
    brief = scene.fire("SessionStart", source="compact").brief
    assert "Never touch anything under migrations/" in brief


# Beginnings and ends


@pytest.mark.parametrize("source", ["startup", "clear", "resume"])
def test_a_session_that_starts_or_continues_gets_no_brief(scene: Scene, source: str) -> None:
    assert scene.fire("SessionStart", source=source).is_silent, "unknown so far"
    scene.write(scene.demo.before)
    assert scene.fire("SessionStart", source=source).is_silent, "well known"
    brief = scene.compacted().brief
    scene.write(after(scene, attachment(scene, brief)))
    assert scene.fire("SessionStart", source=source).is_silent, "compacted"
    assert scene.log() == []


def test_a_session_ends_when_the_host_says_so_and_goes_on_when_resumed(scene: Scene) -> None:
    scene.fire("SessionStart", source="startup")
    scene.write(scene.demo.before)
    assert scene.row()["ended_at"] is None
    assert scene.fire("SessionEnd", reason="logout").is_silent
    ended = scene.row()
    assert ended["ended_at"] is not None
    assert ended["state"] == scene.folded(), "the last fold is in time"
    scene.fire("SessionStart", source="resume")
    assert scene.row()["ended_at"] is None


def test_every_hook_leaves_a_mark_for_the_doctor(scene: Scene) -> None:
    brief = scene.compacted().brief
    scene.write(after(scene, attachment(scene, brief)))
    scene.fire("PostCompact")
    scene.fire("UserPromptSubmit", text="go on")
    scene.fire("SessionEnd")
    with scene.store() as store:
        seen = {row["event"]: row["times"] for row in store.hook_runs()}
    assert seen == {
        "SessionStart": 2,
        "Stop": 1,
        "PreCompact": 1,
        "SubagentStop": 1,
        "PostCompact": 1,
        "UserPromptSubmit": 1,
        "SessionEnd": 1,
    }


# As a plugin


def plugin_hook(scene: Scene, event: str, **fields: Any) -> Fired:
    command = hook_command(arguments='"plugin"')
    raw = json.dumps(scene.payload(event, **fields)).encode()
    return scene.send(raw, command=command, environ={"HOME": str(scene.root)})


def test_a_plugins_hook_does_the_same_work(scene: Scene) -> None:
    scene.write(scene.demo.before)
    assert plugin_hook(scene, "PreCompact").out
    assert "Never touch anything" in plugin_hook(scene, "SessionStart", source="compact").brief


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize("whose", ["user", "project"])
def test_where_the_settings_have_the_hooks_those_of_a_plugin_stay_silent(
    scene: Scene, whose: str, name: str
) -> None:
    folder = scene.root if whose == "user" else Path(scene.demo.project_dir)
    (folder / ".claude").mkdir(parents=True, exist_ok=True)
    (folder / ".claude" / name).write_text(json.dumps({"hooks": {"Stop": hook_command()}}))
    scene.write(scene.demo.before)
    counts = whose == "user" and name == "settings.local.json"  # no client reads that one
    assert plugin_hook(scene, "PreCompact").is_silent != counts
    assert plugin_hook(scene, "SessionStart", source="compact").is_silent != counts
