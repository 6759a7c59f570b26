"""Runs commands with a timeout; the error of a failed command contains its output."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

MAX_OUTPUT_BYTES = 3_000


class CommandError(AssertionError):
    """A command, the client or the fake API failed."""


def run_command(
    command: Sequence[str],
    *,
    timeout_seconds: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run a command and return its stdout."""
    try:
        completed = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=timeout_seconds,
        )
    except FileNotFoundError as error:
        raise CommandError(f"{error.filename} is not installed") from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        output = (
            (error.stdout or b"")[-MAX_OUTPUT_BYTES:]
            + b"\n"
            + (error.stderr or b"")[-MAX_OUTPUT_BYTES:]
        )
        raise CommandError(f"{error}\n{output.decode(errors='replace')}") from None
    return completed.stdout.decode()
