"""Runs the status line command that was there before ours: same payload, output unchanged."""

from __future__ import annotations

import os
import time

# The host starts the next status line before this time; commands that hang must not pile up.
TIMEOUT_SECONDS = 5.0
MAX_OUTPUT_BYTES = 1 << 16


class ChainedCommand:
    """The other command, which runs while we do our own work.

    It is started with fork and exec, because importing `subprocess` takes as long as the rest of
    the status line.
    """

    def __init__(self, command: str, payload: bytes) -> None:
        self.pid = 0
        self.stdout = -1
        if not hasattr(os, "fork"):
            self._output = _run_with_subprocess(command, payload)
            return
        self._output = b""
        child_stdin, payload_pipe = os.pipe()
        self.stdout, child_stdout = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            _exec(command, child_stdin, child_stdout)
        os.close(child_stdin)
        os.close(child_stdout)
        _write_in_background(payload_pipe, payload)

    def output(self) -> bytes:
        """Return what the command prints until it ends or is killed at the timeout."""
        if not self.pid:
            return self._output
        _kill_after_timeout(self.pid)
        output = b""
        while len(output) < MAX_OUTPUT_BYTES and (part := os.read(self.stdout, MAX_OUTPUT_BYTES)):
            output += part
        return output


def _exec(command: str, stdin: int, stdout: int) -> None:
    """In the child: become the command, in a process group of its own. Never returns."""
    try:
        os.setpgid(0, 0)
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.closerange(3, 64)
        os.execv("/bin/sh", ["sh", "-c", command])
    finally:
        os._exit(127)


def _write_in_background(pipe: int, payload: bytes) -> None:
    """Write the payload in a thread: a command that does not read it must not block us."""
    import _thread

    def write() -> None:
        try:
            rest = payload
            while rest:
                rest = rest[os.write(pipe, rest) :]
        except OSError:
            pass
        os.close(pipe)

    _thread.start_new_thread(write, ())


def _kill_after_timeout(pid: int) -> None:
    import _thread

    def kill() -> None:
        time.sleep(TIMEOUT_SECONDS)
        os.killpg(pid, 9)

    _thread.start_new_thread(kill, ())


def _run_with_subprocess(command: str, payload: bytes) -> bytes:
    import subprocess

    try:
        done = subprocess.run(
            command, input=payload, shell=True, capture_output=True, timeout=TIMEOUT_SECONDS,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout
