"""Installs the real Codex into the cache that all test runs share, and gives it a sandbox."""

import os
from dataclasses import dataclass
from pathlib import Path

from . import npm
from .requirements import skip_or_fail
from .sandbox import Sandbox
from .scripted_api import Json

VERSION = "0.166.0"
PACKAGE = "@openai/codex"


def install_client() -> Path:
    """Return the client's binary and install it first if needed; skip or fail if that fails."""
    return npm.find_or_install(PACKAGE, VERSION, native_binary)


def native_binary(folder: Path) -> Path:
    """The executable that npm unpacked for this machine."""
    binaries = sorted(folder.glob(f"node_modules/{PACKAGE}-linux-*/vendor/*/bin/codex"))
    return (
        binaries[0]
        if binaries
        else skip_or_fail(f"{PACKAGE} has no native binary for this machine")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexSandbox(Sandbox):
    """A sandbox whose client is Codex."""

    @property
    def settings(self) -> Path:
        """The file with the client's hooks."""
        return self.config / "hooks.json"

    def environment(self) -> dict[str, str]:
        """The whole environment of every command: only PATH is inherited."""
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "CODEX_HOME": str(self.config),
            "HOLDFAST_HOME": str(self.root / "holdfast"),
            "HOLDFAST_CODEX": str(self.client),
        }

    def rollout(self, session_id: str) -> Path:
        """The file with a session's log."""
        (file,) = self.config.glob(f"sessions/*/*/*/rollout-*-{session_id}.jsonl")
        return file

    def trust(self, hooks: list[Json]) -> None:
        """Mark these hooks as trusted, as the client does when a user trusts them."""
        tables = [
            f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n'
            for hook in hooks
        ]
        with (self.config / "config.toml").open("a", encoding="utf-8") as file:
            file.write("\n".join(["", *tables]))
