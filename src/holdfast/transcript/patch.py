"""What a patch in the form of `apply_patch` does to files."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BEGIN, END = "*** Begin Patch", "*** End Patch"
HEADS = {
    "*** Add File: ": "add",
    "*** Update File: ": "update",
    "*** Delete File: ": "delete",
}
MOVE = "*** Move to: "
# What a host itself says of a patch that it has applied.
TOLD = ("add", "update", "delete")
MOST = 100


def changes(patch: str) -> list[dict[str, str]]:
    """Each file that a patch names: `kind`, `path`, and `to` where it gets another name.

    Lines of a file's text begin with a sign of their own, so a heading cannot be one of them.
    """
    found: list[dict[str, str]] = []
    for line in patch.partition(BEGIN)[2].partition(f"\n{END}")[0].splitlines():
        if not line.startswith("*** "):
            continue
        if line.startswith(MOVE) and found:
            found[-1]["to"] = line[len(MOVE) :].strip()
        for head, kind in HEADS.items():
            if line.startswith(head):
                found.append({"kind": kind, "path": line[len(head) :].strip()})
    return [change for change in found if change["path"]][:MOST]


def told(listed: Any) -> list[dict[str, str]]:
    """The same as the host tells it: paths, and under each what was done."""
    found: list[dict[str, str]] = []
    for path, what in listed.items() if isinstance(listed, dict) else ():
        kind = what.get("type") if isinstance(what, dict) else None
        if not path or kind not in TOLD:
            continue
        found.append({"kind": kind, "path": path})
        if isinstance(to := what.get("move_path"), str) and to:
            found[-1]["to"] = to
    return found[:MOST]
