"""The real Codex: installed once into the cache that all test runs share, and a place for it."""

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .commands import CommandError, output_of
from .fake_messages_api import Json
from .requirements import missing, no_namespace_because
from .sandbox import Sandbox

VERSION = "0.166.0"
PACKAGE = "@openai/codex"
INSTALL_SECONDS = 300


def required_client() -> Path:
    """The client's binary, installed if need be; skips or fails where that cannot be done."""
    if sys.platform != "linux":
        missing("the client runs in a network namespace, which only Linux has")
    import fcntl  # not on every system, and a test that is skipped must still be collected

    if reason := no_namespace_because():
        missing(f"no network namespace: {reason}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "holdfast-tests")
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"codex-{VERSION}"
    with (cache / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two workers must not install at once
        if not folder.exists():
            install(folder)
    return native_binary(folder)


def install(folder: Path) -> None:
    """Install the client; the folder appears only when it is whole."""
    npm = shutil.which("npm") or missing("npm is not installed")
    with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
        unfinished = Path(parent, folder.name)
        command = [npm, "install", "--no-fund", "--no-audit", "--loglevel=error"]
        command += ["--prefix", str(unfinished), f"{PACKAGE}@{VERSION}"]
        try:
            output_of(command, seconds=INSTALL_SECONDS)
        except CommandError as error:
            missing(f"npm could not install the client: {error}")
        native_binary(unfinished)
        unfinished.rename(folder)


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
