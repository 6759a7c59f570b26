"""What a host writes down after a compaction."""

from __future__ import annotations

import json
import re
from itertools import chain, takewhile

from holdfast.demo import Line

from .scene import Scene

NAMED_SINCE = "2.1.325"
OLD_CLIENT = "2.1.100"


def attachment(scene: Scene, brief: str, event: str = "SessionStart") -> list[Line]:
    """What the host writes down when it has shown this text to the model."""
    return scene.demo.hook_attachment(brief, event=event)


def up_to_the_reply(lines: list[Line]) -> list[Line]:
    """The host has compacted and waits: nothing was asked of the model yet."""
    return list(takewhile(lambda line: line["type"] != "assistant", lines))


def after(scene: Scene, *attached: list[Line]) -> list[Line]:
    """Boundary, summary, what was attached, and the reply that goes on."""
    return scene.demo.after(list(chain(*attached)), str(scene.transcript))


def once_more(lines: list[Line]) -> list[Line]:
    """The same again as messages of their own: a host that repeats one keeps its identity."""
    return [{**line, "uuid": f"{line['uuid']}-2"} if "uuid" in line else line for line in lines]


def of_an_old_client(lines: list[Line], version: str = OLD_CLIENT) -> list[Line]:
    text = json.dumps(lines).replace(f'"version": "{NAMED_SINCE}"', f'"version": "{version}"')
    old: list[Line] = json.loads(text)
    return old


def unharmed(scene: Scene) -> str:
    """The brief of a session just like this one to which nothing happened."""
    other = Scene(root=scene.root, session="unharmed")
    saved_only(other)
    return body(other.fire("SessionStart", source="compact").brief)


def body(brief: str) -> str:
    """A brief without what differs from session to session: its name, its sub-agents' ids."""
    assert "Never touch anything under migrations/" in brief
    return re.sub(r"\ba[0-9a-f]{16}\b", "<agent>", brief.partition("\n")[2])


def saved_only(scene: Scene) -> None:
    """Saved before the compaction; then the host never called again."""
    scene.write(scene.demo.before)
    assert scene.compacts().code == 0


def cut(scene: Scene) -> None:
    lines = scene.transcript.read_bytes().splitlines(keepends=True)
    scene.transcript.write_bytes(b"".join(lines[:12]))
