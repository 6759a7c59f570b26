"""One hook process: a payload on stdin, protocol or nothing on stdout, exit 0 whatever happens.

Standard library only, and only what a start-up of a few milliseconds allows:
tests/unit/test_hook_imports.py keeps the list.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast import hosts, log, quick_json, settings
from holdfast.errors import HoldfastError
from holdfast.store.sqlite import SQLiteStore
from holdfast.surfaces import moments
from holdfast.surfaces.moments import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.hosts.base import Host
    from holdfast.hosts.call import HookCall
    from holdfast.store.base import Store

# Seconds after which a hook gives up. SessionEnd hooks are killed by the host after 1.5.
DEADLINES = {"SessionEnd": 1.2, "Stop": 5.0, "UserPromptSubmit": 5.0, "SubagentStop": 5.0}
DEADLINES |= {"PostToolUse": 5.0, "SubagentStart": 5.0, "UserPromptExpansion": 5.0}
DEADLINE = 10.0
# Folding stops at the deadline; what hangs elsewhere is ended a little later.
GRACE = 1.15
# Any other hook that fires inside a sub-agent is none of its parent's business.
OF_AGENTS = ("SubagentStart", "SubagentStop")
# These run what stands in Claude Code's settings besides their own hooks.
RUN_OTHERS_HOOKS = ("copilot", "cursor")
LARGEST_PAYLOAD = 32 << 20
# event -> the module of `moments` that handles it
MOMENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "UserPromptExpansion": "prompt",
    "PreCompact": "compacting",
    "SubagentStop": "compacting",
    "PostCompact": "compacting",
    "Stop": "turn",
    "PostToolUse": "turn",
    "SubagentStart": "turn",
    "SessionEnd": "turn",
}
LEFT_OPEN: list[Store] = []


def main(origin: str = "", host: str = "") -> None:
    """Run one hook and leave at once: nothing is left to tidy up, and exit 2 would block."""
    started = time.perf_counter()
    try:
        _watch(DEADLINE * GRACE, "a payload that never ended")
        out = run(sys.stdin.buffer.read(LARGEST_PAYLOAD), started, origin, host)
        if out:
            sys.stdout.buffer.write(out.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
    except BaseException as problem:
        # Whatever it is, the host must not notice.
        _tell(problem)
    os._exit(0)


def run(raw: bytes, started: float, origin: str = "", name: str = "") -> str:
    """What to print for this payload.

    `origin` is "plugin" where a plugin brought the hook; `name` is the host's, where the command
    that was registered with it says so.
    """
    call, host = _understand(raw, name)
    second = origin == "plugin" or (not name and host.NAME in RUN_OTHERS_HOOKS)
    if second and host.is_installed(os.environ, call.cwd):
        # Installed twice: the hook in the settings does the work, and nothing is said twice.
        return ""
    chosen = settings.load(os.environ, call.cwd)
    for problem in chosen.problems:
        log.note(chosen.log, f"settings: {problem}", os.environ)
    allowed = DEADLINES.get(call.event, DEADLINE)
    _watch(allowed * GRACE, call.event)
    deadline = started + allowed
    handle = _handler(call.event)
    if handle is None or (call.agent and call.event not in OF_AGENTS):
        return ""
    store = SQLiteStore(chosen.database)
    job = Job(store, call, host, chosen, lambda: time.perf_counter() > deadline)
    out = handle(job)
    spent = (time.perf_counter() - started) * 1000
    store.hook_seen(host.NAME, call.event, call.session, spent, job.now)
    store.commit()
    if job.index_names:
        from holdfast.surfaces import indexing

        indexing.start(job, os.environ)
    elif job.fill_index:
        from holdfast.surfaces import filling

        filling.start(chosen, os.environ)
    # Closing would write the log back into the file and wait for the disk. Left open, the log is
    # simply found by whoever comes next; SQLite writes it back once it has grown enough.
    LEFT_OPEN.append(store)
    return out


def _handler(event: str) -> Callable[[Job], str] | None:
    """What is done at this moment. Only its module is imported, and without `importlib`."""
    moment = MOMENTS.get(event)
    if moment is None:
        return None
    module = __import__(f"{moments.__name__}.{moment}", fromlist=["HANDLERS"])
    handle: Callable[[Job], str] = module.HANDLERS[event]
    return handle


def _understand(raw: bytes, name: str) -> tuple[HookCall, Host]:
    try:
        payload = quick_json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as problem:
        raise HoldfastError(f"the payload is not JSON ({problem}; {len(raw)} bytes)") from None
    host = hosts.named(name) if name else None
    if not isinstance(payload, dict):
        host = None
    elif host is None:
        host = hosts.recognise(payload)
    if host is None:
        keys = ", ".join(list(payload)[:8]) if isinstance(payload, dict) else type(payload).__name__
        raise HoldfastError(f"no host sends such a payload ({keys})")
    call = host.call(payload)
    if not call.session or not call.event:
        keys = ", ".join(list(payload)[:8])
        lacks = "session" if not call.session else "event"
        raise HoldfastError(f"the payload of {host.TITLE} names no {lacks} ({keys})")
    return call, host


def _watch(seconds: float, event: str) -> None:
    """End the process when its time is up, wherever it is. An unfinished save is rolled back."""
    import _thread

    def end() -> None:
        time.sleep(seconds)
        chosen = settings.load(os.environ)
        log.note(chosen.log, f"hook: {event}: gave up after {seconds:.1f} s", os.environ)
        os._exit(0)

    _thread.start_new_thread(end, ())


def _tell(problem: BaseException) -> None:
    try:
        words = f"{type(problem).__name__}: {problem}"
        log.note(settings.load(os.environ).log, f"hook: {words}", os.environ)
    except BaseException:
        return  # nowhere left to say it
