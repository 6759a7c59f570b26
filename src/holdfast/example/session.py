"""Which session it is: its ids, its times, and the fields every transcript line ends with."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Line = dict[str, Any]

CLIENT = "2.1.325"
MODEL = "claude-sonnet-4-5"
BRANCH = "fix/retry-storm"
PERMISSION_MODE = "acceptEdits"
HOOK_COMMAND = "holdfast hook"


@dataclass(frozen=True, slots=True)
class Session:
    """The arguments of `build`; everything else in the example follows from them."""

    project_dir: str
    session_id: str
    started: float

    def uuid(self, *names: object) -> str:
        """The same names always give the same uuid within one session."""
        path = "/".join(str(name) for name in (self.session_id, *names))
        return str(uuid.uuid5(uuid.NAMESPACE_URL, path))

    def token(self, prefix: str, *names: object) -> str:
        """An id in the style of the API: `msg_01…`, `toolu_01…`, `req_01…`."""
        return f"{prefix}_01{self.uuid(prefix, *names).replace('-', '')[:22]}"

    def prompt_id(self, turn: int) -> str:
        return self.uuid("prompt", turn)

    def stamp(self, seconds: float) -> str:
        """The moment that many seconds into the session, as the host writes it."""
        moment = datetime.fromtimestamp(self.started + seconds, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def path(self, name: str) -> str:
        return f"{self.project_dir}/{name}"

    def transcript_path(self, config_dir: str) -> str:
        """Where the host keeps this session's transcript."""
        slug = re.sub(r"[^A-Za-z0-9]", "-", self.project_dir)
        return f"{config_dir}/projects/{slug}/{self.session_id}.jsonl"

    def tail(self, slug: str = "") -> Line:
        """The fields at the end of every line that has a uuid; `slug` from the first compaction."""
        fields = {
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self.project_dir,
            "sessionId": self.session_id,
            "version": CLIENT,
            "gitBranch": BRANCH,
        }
        return {**fields, "slug": slug} if slug else fields
