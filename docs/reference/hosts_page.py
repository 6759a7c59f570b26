"""Generates the page of hosts: what Holdfast can do with each, and how that was tested."""

from __future__ import annotations

from collections.abc import Iterator

from docs.reference.markdown import render_title
from holdfast import hosts
from holdfast.hosts.base import Host

ABILITIES = ("save", "restore", "summariser", "replace")
CLIENTS = {
    "claude-code": "2.1.197 and 2.1.325 in the tests; 2.0.14 – 2.1.50 from observed behaviour",
    "codex": "0.166.0 in the tests",
}
# Hosts whose page under docs/how-to has another name.
PAGES = {"claude-code": "install"}
LEGEND = """\
- **save**: the state is saved before a compaction. **restore**: the brief reaches the model after
  it. **summariser**: the host's summarizer gets guidance on what to keep. **replace**: Holdfast can
  replace the summary. **receipts**: the transcript shows whether a brief arrived.
- *real client*: tested with the requests that the client sends. *documentation*: written from the
  host's documentation, and not yet tested with the client. *changelog*: the same, but only the
  host's changelog says that it works; its reference says that it does not. A dash: the host does
  not offer it.
""".splitlines()


def build_page() -> str:
    """Return the page as Markdown."""
    return "\n".join([render_title("Hosts"), *_render_lines()])


def _render_lines() -> Iterator[str]:
    yield "What Holdfast can do with each host, and how that was tested. `holdfast hosts` shows the"
    yield "same for this machine.\n"
    yield f"| host | {' | '.join(ABILITIES)} | receipts |"
    yield "| --- " * (len(ABILITIES) + 2) + "|"
    for host in hosts.all_hosts():
        cells = [host.SUPPORT.get(ability) or "–" for ability in ABILITIES]
        yield f"| {host.TITLE} | {' | '.join(cells)} | {_describe_receipts(host)} |"
    yield ""
    yield from (*LEGEND, "")
    for host in hosts.all_hosts():
        yield from _render_host(host)


def _describe_receipts(host: Host) -> str:
    return host.SUPPORT["restore"] if host.TRANSCRIPT_SHOWS_CONTEXT_SINCE < (9999,) else "–"


def _render_host(host: Host) -> Iterator[str]:
    yield f"## {host.TITLE}\n"
    if host.NAME in CLIENTS:
        yield f"- clients: {CLIENTS[host.NAME]}"
    yield f"- install: `holdfast install{_render_option(host)}`,"
    yield f"  into `{_get_settings_path(host)}`"
    yield f"- events: {', '.join(f'`{event}`' for event in host.events_for((9999,)))}"
    limit = (
        f"{host.MAX_BRIEF_BYTES:,} bytes"
        if host.MAX_BRIEF_BYTES
        else f"{host.MAX_BRIEF_UNITS:,} characters"
    )
    yield f"- a brief has at most {limit}"
    yield f"- {host.AFTER_INSTALL}"
    yield f"- more: [{host.TITLE}](../how-to/{PAGES.get(host.NAME, host.NAME)}.md)\n"


def _render_option(host: Host) -> str:
    return "" if host.NAME == "claude-code" else f" --host {host.NAME}"


def _get_settings_path(host: Host) -> str:
    return host.settings_path({"HOME": "~"}, None)
