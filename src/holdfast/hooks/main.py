"""One hook process: a payload on stdin, the host's protocol or nothing on stdout, always exit 0.

`main` reads the payload, `run_hook` parses it and calls the handler of the event (see
HANDLER_MODULES). Only the standard library, and little of it: tests/unit/test_hook_imports.py
has the list of modules that a hook may import.
"""

from __future__ import annotations

import gc
import os
import sys
import time

from holdfast import diagnostics, fast_json, hosts
from holdfast.errors import HoldfastError, StoreUnavailable
from holdfast.hooks.hook_run import HookRun
from holdfast.hosts import hook_entries
from holdfast.redaction import redact_json
from holdfast.redaction.budget import HOOK_UNITS_PER_SECOND, Budget, share_budget
from holdfast.settings import load as load_settings
from holdfast.store import sqlite_migrations
from holdfast.store.sqlite import SQLiteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.hosts.base import Host
    from holdfast.hosts.hook_event import HookEvent
    from holdfast.store.protocols import Store

# When a hook stops reading the transcript. Claude Code kills SessionEnd hooks after 1.5 s.
DEADLINE_SECONDS = {"SessionEnd": 1.2, "Stop": 5.0, "UserPromptSubmit": 5.0, "SubagentStop": 5.0}
DEADLINE_SECONDS |= {"PostToolUse": 5.0, "SubagentStart": 5.0, "UserPromptExpansion": 5.0}
DEFAULT_DEADLINE_SECONDS = 10.0
# A hook that hangs outside of the reader is ended after its deadline times this factor.
KILL_AFTER_FACTOR = 1.15
# These fire in the session that the sub-agent works for.
SUBAGENT_EVENTS = ("SubagentStart", "SubagentStop")
# These hosts run the hooks in Claude Code's settings besides their own.
HOSTS_THAT_RUN_CLAUDE_HOOKS = ("copilot", "cursor")
MAX_PAYLOAD_BYTES = 32 << 20
# event -> the module of `hooks` that handles it
HANDLER_MODULES = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "UserPromptExpansion": "prompt",
    "PreCompact": "compaction",
    "SubagentStop": "compaction",
    "PostCompact": "compaction",
    "Stop": "activity",
    "PostToolUse": "activity",
    "SubagentStart": "activity",
    "SessionEnd": "activity",
}
# The same for events that fire inside a sub-agent. All others are ignored there: they would be
# taken for its session's.
SUBAGENT_HANDLER_MODULES = {
    "PreCompact": "subagent_compaction",
    "SessionStart": "subagent_compaction",
}
# The output of these is worth more than what they save.
EVENTS_WITH_OUTPUT = ("PreCompact", "SessionStart", "UserPromptSubmit", "SubagentStart")
NOT_SAVED = "nothing was saved, the next hook reads the same lines again"
OPEN_STORES: list[Store] = []
"""Stores that stay open until the process ends, so that their `__del__` does not close them."""


def main(origin: str = "", host_name: str = "") -> None:
    """Run one hook and exit 0, whatever happens: exit code 2 would block the host.

    The process ends with `os._exit`, because there is nothing to clean up.
    """
    started = time.perf_counter()
    # The process ends before garbage could matter; looking for it takes a millisecond or two.
    gc.disable()
    hook_entries.only_this_installation = True
    try:
        cancel = _exit_after(DEFAULT_DEADLINE_SECONDS * KILL_AFTER_FACTOR, "reading the payload")
        raw = sys.stdin.buffer.read(MAX_PAYLOAD_BYTES)
        cancel()
        output = redact_json(run_hook(raw, started, origin, host_name))
        if output:
            sys.stdout.buffer.write(output.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
    except BaseException as problem:
        # Even SystemExit and KeyboardInterrupt: the host must not see a failure.
        _log_failure(problem)
    os._exit(0)


def run_hook(raw: bytes, started: float, origin: str = "", host_name: str = "") -> str:
    """Handle one payload and return what to print.

    `origin` is "plugin" for a hook that a plugin registered. `host_name` comes from the
    registered command; without it the host is detected from the payload. Raises HoldfastError for
    a payload that no host sends.
    """
    event, host = _parse_payload(raw, host_name)
    may_run_twice = origin == "plugin" or (
        not host_name and host.NAME in HOSTS_THAT_RUN_CLAUDE_HOOKS
    )
    if may_run_twice and host.is_installed(os.environ, event.cwd):
        # The hook in the host's own settings does the work; the brief must not arrive twice.
        return ""
    settings = load_settings(os.environ, event.cwd)
    for problem in settings.problems:
        diagnostics.log(settings.log, f"settings: {problem}", os.environ)
    time_limit = DEADLINE_SECONDS.get(event.name, DEFAULT_DEADLINE_SECONDS)
    _exit_after(time_limit * KILL_AFTER_FACTOR, event.name)
    budget = Budget(int(time_limit * HOOK_UNITS_PER_SECOND))
    share_budget(lambda: budget)
    handle = _load_handler(event)
    if handle is None:
        return ""
    sqlite_migrations.report = lambda message: diagnostics.log(settings.log, message, os.environ)

    def make_run(store: Store, *, is_saved: bool = True) -> HookRun:
        deadline = started + time_limit
        return HookRun(store, event, host, settings, deadline, budget, is_saved=is_saved)

    output = None
    try:
        run = make_run(SQLiteStore(settings.database))
        # Closing would checkpoint the write-ahead log and wait for the disk. The next process finds
        # the log as it is, and SQLite checkpoints it once it has grown enough.
        OPEN_STORES.append(run.store)
        output = handle(run)
        _save(run, started)
        _start_background_jobs(run)
    except StoreUnavailable as problem:
        diagnostics.log(settings.log, f"hook: {event.name}: {problem}; {NOT_SAVED}", os.environ)
        if output is None and event.name in EVENTS_WITH_OUTPUT:
            output = _run_without_saving(handle, make_run)
    return output or ""


def _save(run: HookRun, started: float) -> None:
    """Record that the hook ran, and commit what its handler wrote."""
    if not run.store.database.in_transaction:
        # This handler did not read the session.
        run.store.begin()
    elapsed_ms = (time.perf_counter() - started) * 1000
    event = run.event
    run.store.record_hook(run.host.NAME, event.name, event.session_id, elapsed_ms, run.now)
    run.store.commit()


def _run_without_saving(handle: Callable[[HookRun], str], make_run: Callable[..., HookRun]) -> str:
    """Run the handler on a copy of the session's rows in memory, and return its output.

    Nothing is saved, so the next hook reads the same lines again. Whether a brief was delivered is
    then only known from the transcript. A client that does not log what hooks add may get the same
    brief again with the first prompt, which is better than none.
    """
    from holdfast.store.session_copy import copy_session

    run = make_run(None, is_saved=False)
    run.store = copy_session(run.settings.database, run.event.session_id)
    for store in OPEN_STORES:
        # Releases the lock of a transaction that failed.
        store.close()
    return handle(run)


def _start_background_jobs(run: HookRun) -> None:
    if run.needs_search_index:
        from holdfast.hooks import background_index

        background_index.start(run.settings, os.environ)
    if run.needs_fold:
        from holdfast.hooks import background_fold

        background_fold.start(run.settings, run.event.session_id, os.environ)


def _load_handler(event: HookEvent) -> Callable[[HookRun], str] | None:
    """Return the handler of this event, or None. Imports its module, without `importlib`."""
    is_inside_subagent = bool(event.agent_id) and event.name not in SUBAGENT_EVENTS
    modules = SUBAGENT_HANDLER_MODULES if is_inside_subagent else HANDLER_MODULES
    table = "SUBAGENT_HANDLERS" if is_inside_subagent else "HANDLERS"
    module_name = modules.get(event.name)
    if module_name is None:
        return None
    module = __import__(f"holdfast.hooks.{module_name}", fromlist=[table])
    handler: Callable[[HookRun], str] = getattr(module, table)[event.name]
    return handler


def _parse_payload(raw: bytes, host_name: str) -> tuple[HookEvent, Host]:
    """Return the event and its host; raises HoldfastError if either cannot be determined."""
    try:
        payload = fast_json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as problem:
        raise HoldfastError(f"the payload is not JSON ({problem}; {len(raw)} bytes)") from None
    if not isinstance(payload, dict):
        raise HoldfastError(f"no host sends such a payload ({type(payload).__name__})")
    keys = ", ".join(list(payload)[:8])
    host = hosts.find_host(host_name) if host_name else None
    host = host or hosts.detect_host(payload)
    if host is None:
        raise HoldfastError(f"no host sends such a payload ({keys})")
    event = host.parse_payload(payload)
    if not event.session_id or not event.name:
        missing = "session" if not event.session_id else "event"
        raise HoldfastError(f"the payload of {host.TITLE} names no {missing} ({keys})")
    return event, host


def _exit_after(seconds: float, task: str) -> Callable[[], None]:
    """End the process with code 0 after this time, unless the function that is returned is called.

    SQLite rolls an unfinished save back.
    """
    import _thread

    is_running = _thread.allocate_lock()
    is_running.acquire()

    def end_process() -> None:
        if is_running.acquire(timeout=seconds):
            return
        message = f"hook: {task}: gave up after {seconds:.1f} s"
        diagnostics.log(load_settings(os.environ).log, message, os.environ)
        os._exit(0)

    _thread.start_new_thread(end_process, ())
    return is_running.release


def _log_failure(problem: BaseException) -> None:
    try:
        message = f"hook: {type(problem).__name__}: {problem}"
        diagnostics.log(load_settings(os.environ).log, message, os.environ)
    except BaseException:
        return  # There is no other place to report it.
