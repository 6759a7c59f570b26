"""Commands that must end well and in time; what they said is shown if they do not."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

SHOWN = 3_000


class CommandError(AssertionError):
    """A command, the client or the API it talks to did not do its part."""


def output_of(
    command: Sequence[str],
    *,
    seconds: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run a command to its end and return what it printed."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=seconds,
        )
    except FileNotFoundError as error:
        raise CommandError(f"{error.filename} is not installed") from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = (error.stdout or b"")[-SHOWN:] + b"\n" + (error.stderr or b"")[-SHOWN:]
        raise CommandError(f"{error}\n{said.decode(errors='replace')}") from None
    return done.stdout.decode()
