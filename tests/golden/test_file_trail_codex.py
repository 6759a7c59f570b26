"""The checker's file trail of Codex's session logs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.golden.file_trail import Trail, read_trail
from tests.unit import rollout_lines as codex


def replay_rollout(folder: Path, *lines: codex.Line) -> Trail:
    file = folder / "rollout.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return read_trail(str(file))


def test_patches_and_commands_are_in_the_trail(tmp_path: Path) -> None:
    trail = replay_rollout(
        tmp_path,
        codex.meta(),
        *codex.apply_patch("*** Add File: new.py", "+x", "*** Update File: old.py", "@@", "+y"),
        *codex.apply_patch("*** Update File: a.py", "*** Move to: b.py", "@@", "+y", call_id="2"),
        *codex.apply_patch("*** Delete File: /srv/app/gone.py", call_id="3"),
        *codex.apply_patch("*** Add File: failed.py", "+x", ok=False, call_id="4"),
        *codex.exec_command("echo x > lib.txt", workdir="/srv/app/lib", call_id="5"),
    )
    assert trail.created == {"new.py", "b.py", "lib/lib.txt"}
    assert trail.modified == {"old.py"}
    assert trail.deleted == {"gone.py", "a.py"}


def test_a_patch_inside_a_script_is_read_from_the_clients_event(tmp_path: Path) -> None:
    changes = {"/srv/app/a.py": {"type": "update"}, "/srv/app/b.py": {"type": "add"}}
    end = {"type": "patch_apply_end", "call_id": "exec-1", "success": True, "changes": changes}
    trail = replay_rollout(tmp_path, codex.meta(), codex.line("event_msg", end))
    assert (trail.created, trail.modified) == ({"b.py"}, {"a.py"})
