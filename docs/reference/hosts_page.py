"""The page of hosts: what works where, and how that was tested."""

from __future__ import annotations

from collections.abc import Iterator

from docs.reference.markdown import titled
from holdfast import hosts
from holdfast.hosts.base import Host

ABILITIES = ("save", "restore", "summariser", "replace")
CLIENTS = {
    "claude-code": "2.1.197 and 2.1.325 in the tests; 2.0.14 – 2.1.50 from observed behaviour",
    "codex": "0.166.0 in the tests",
}
PAGES = {"claude-code": "install"}
LEGEND = """\
- **save**: the state is saved before a compaction. **restore**: the brief reaches the model after
  it. **summariser**: the host's summariser is told what to keep. **replace**: the summary itself
  could be ours. **receipts**: the log proves that a brief arrived.
- *real client*: tested here on the requests of the client itself. *documentation*: written and
  tested from what the host's documentation says, not yet run against the client. *changelog*: the
  same, where the host's changelog says that it works and its reference does not. A dash: the host
  offers no such thing.
""".splitlines()


def page() -> str:
    return "\n".join([titled("Hosts"), *_lines()])


def _lines() -> Iterator[str]:
    yield "What each host lets Holdfast do, and how it was tested. `holdfast hosts` shows the same"
    yield "for this machine.\n"
    yield f"| host | {' | '.join(ABILITIES)} | receipts |"
    yield "| --- " * (len(ABILITIES) + 2) + "|"
    for host in hosts.all_hosts():
        cells = [host.SUPPORT.get(ability) or "–" for ability in ABILITIES]
        yield f"| {host.TITLE} | {' | '.join(cells)} | {_receipts(host)} |"
    yield ""
    yield from (*LEGEND, "")
    for host in hosts.all_hosts():
        yield from _host(host)


def _receipts(host: Host) -> str:
    return host.SUPPORT["restore"] if host.TRANSCRIPT_SHOWS_CONTEXT_SINCE < (9999,) else "–"


def _host(host: Host) -> Iterator[str]:
    yield f"## {host.TITLE}\n"
    if host.NAME in CLIENTS:
        yield f"- clients: {CLIENTS[host.NAME]}"
    yield f"- install: `holdfast install{'' if host.NAME == 'claude-code' else _option(host)}`,"
    yield f"  into `{_path(host)}`"
    yield f"- events: {', '.join(f'`{event}`' for event in host.events_for((9999,)))}"
    limit = (
        f"{host.MAX_BRIEF_BYTES:,} bytes"
        if host.MAX_BRIEF_BYTES
        else f"{host.MAX_BRIEF_UNITS:,} characters"
    )
    yield f"- a brief has at most {limit}"
    yield f"- {host.AFTER_INSTALL}"
    yield f"- more: [{host.TITLE}](../how-to/{PAGES.get(host.NAME, host.NAME)}.md)\n"


def _option(host: Host) -> str:
    return f" --host {host.NAME}"


def _path(host: Host) -> str:
    return host.settings_path({"HOME": "~"}, None)
