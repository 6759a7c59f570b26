"""Find out which files a patch in the `apply_patch` format changes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BEGIN_PATCH, END_PATCH = "*** Begin Patch", "*** End Patch"
KIND_BY_HEADING = {
    "*** Add File: ": "add",
    "*** Update File: ": "update",
    "*** Delete File: ": "delete",
}
MOVE_HEADING = "*** Move to: "
CHANGE_KINDS = ("add", "update", "delete")
MAX_CHANGES = 100


def parse_patch(patch: str) -> list[dict[str, str]]:
    """Return the changed files: `kind`, `path`, and `to` if the file is renamed.

    Content lines begin with `+`, `-` or a space, so none can look like a heading.
    """
    changes: list[dict[str, str]] = []
    for line in patch.partition(BEGIN_PATCH)[2].partition(f"\n{END_PATCH}")[0].splitlines():
        if not line.startswith("*** "):
            continue
        if line.startswith(MOVE_HEADING) and changes:
            changes[-1]["to"] = line[len(MOVE_HEADING) :].strip()
        for heading, kind in KIND_BY_HEADING.items():
            if line.startswith(heading):
                changes.append({"kind": kind, "path": line[len(heading) :].strip()})
    return [change for change in changes if change["path"]][:MAX_CHANGES]


def parse_reported_changes(report: Any) -> list[dict[str, str]]:
    """Return the changed files from the host's report of an applied patch, an object by path."""
    changes: list[dict[str, str]] = []
    for path, change in report.items() if isinstance(report, dict) else ():
        kind = change.get("type") if isinstance(change, dict) else None
        if not path or kind not in CHANGE_KINDS:
            continue
        changes.append({"kind": kind, "path": path})
        if isinstance(target := change.get("move_path"), str) and target:
            changes[-1]["to"] = target
    return changes[:MAX_CHANGES]
