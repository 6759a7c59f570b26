"""The real Codex: installed once into the cache that all test runs share, and a place for it."""

import os
from dataclasses import dataclass
from pathlib import Path

from . import npm
from .requirements import missing
from .sandbox import Sandbox
from .scripted_api import Json

VERSION = "0.166.0"
PACKAGE = "@openai/codex"


def required_client() -> Path:
    """The client's binary, installed if need be; skips or fails where that cannot be done."""
    return npm.required(PACKAGE, VERSION, native_binary)


def native_binary(folder: Path) -> Path:
    """The executable that npm unpacked for this machine."""
    found = sorted(folder.glob(f"node_modules/{PACKAGE}-linux-*/vendor/*/bin/codex"))
    return found[0] if found else missing(f"{PACKAGE} has no native binary for this machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexSandbox(Sandbox):
    """The same place for Codex, whose binary takes the other client's."""

    @property
    def settings(self) -> Path:
        """The client's list of hooks."""
        return self.config / "hooks.json"

    def environment(self) -> dict[str, str]:
        """The whole environment of every command: nothing is inherited but PATH."""
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "CODEX_HOME": str(self.config),
            "HOLDFAST_HOME": str(self.root / "holdfast"),
            "HOLDFAST_CODEX": str(self.claude),
        }

    def rollout(self, session_id: str) -> Path:
        """The file of a session's log."""
        (file,) = self.config.glob(f"sessions/*/*/*/rollout-*-{session_id}.jsonl")
        return file

    def trust(self, hooks: list[Json]) -> None:
        """Write down, as the client does when a person trusts them, that these hooks may run."""
        tables = [
            f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n'
            for hook in hooks
        ]
        with (self.config / "config.toml").open("a", encoding="utf-8") as file:
            file.write("\n".join(["", *tables]))
