"""Delivery receipts: what the transcript shows about each brief that was sent."""

from __future__ import annotations

import zlib

from holdfast import hosts

# The value of TRANSCRIPT_SHOWS_CONTEXT_SINCE for a host whose client never logs what hooks inject.
NEVER_VERSION = (9999,)
UNPROVEN = "unproven"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.base import Host
    from holdfast.hosts.hook_event import HookEvent
    from holdfast.state.types import BriefDelivery, Compaction, State
    from holdfast.store.protocols import CompactionRow, Store


def update_receipts(store: Store, event: HookEvent, state: State) -> None:
    """Update the receipts of the last two compactions from the transcript."""
    for row in store.compactions(event.session_id)[-2:]:
        compactions = state["compactions"][row["ordinal"] - 1 : row["ordinal"]]
        # An old brief is stored shortened and can no longer be compared; it was when it arrived.
        if not row["brief"] or not compactions:
            continue
        receipt, line = judge_delivery(row, compactions[0], state, event.host)
        if (receipt, line) != (row["receipt"], row["receipt_line"]):
            store.note_receipt(event.session_id, row["ordinal"], receipt, line)


def judge_delivery(
    row: CompactionRow, compaction: Compaction, state: State, host_name: str
) -> tuple[str, int | None]:
    """Return the receipt of a brief, and the transcript line that proves it.

    The receipt is whole, cut, twice, never, pending, or unproven if the client does not record
    what hooks inject.
    """
    shown = find_deliveries(compaction, state, host_name)
    arrived = [delivery for delivery in shown if delivery["id"] == row["brief_id"]]
    if arrived:
        sent = zlib.crc32((row["brief"] or "").strip().encode("utf-8", "replace"))
        whole = [delivery for delivery in arrived if delivery["checksum"] == sent]
        # A brief that was first truncated and then sent again in full counts as whole.
        best = whole or arrived
        return ("cut" if not whole else "twice" if len(whole) > 1 else "whole"), best[-1]["line"]
    if state["usage"]["line"] > max(row["brief_line"] or 0, compaction["line"]):
        proven = records_delivery(state, host_name) or compaction["deliveries"]
        return ("never" if proven else UNPROVEN), None
    host = hosts.find_host(host_name)
    return ("pending" if host is None or can_prove_delivery(host) else UNPROVEN), None


def find_deliveries(compaction: Compaction, state: State, host_name: str) -> list[BriefDelivery]:
    """Return the briefs that the model was shown after this compaction.

    Some client versions log the brief after a manual compaction without showing it to the model;
    for these, only a brief sent with a prompt counts.
    """
    host, version = hosts.find_host(host_name), parse_client_version(state)
    if compaction["trigger"] != "manual" or host is None or version is None:
        return compaction["deliveries"]
    if version >= host.MANUAL_BRIEF_SINCE:
        return compaction["deliveries"]
    return [
        delivery for delivery in compaction["deliveries"] if delivery["hook"] == "UserPromptSubmit"
    ]


def records_delivery(state: State, host_name: str) -> bool:
    """Whether this client logs what hooks inject. An unknown version counts as a new one."""
    host, version = hosts.find_host(host_name), parse_client_version(state)
    if host is None:
        return True
    return can_prove_delivery(host) and (
        version is None or version >= host.TRANSCRIPT_SHOWS_CONTEXT_SINCE
    )


def can_prove_delivery(host: Host) -> bool:
    """Whether any version of this host's client logs what hooks inject."""
    return host.TRANSCRIPT_SHOWS_CONTEXT_SINCE < NEVER_VERSION


def parse_client_version(state: State) -> tuple[int, ...] | None:
    """Return the client's version from the transcript, or None if it is not a version."""
    numbers = state["place"].get("client", "").split(".")
    return tuple(map(int, numbers)) if all(part.isdigit() for part in numbers) else None
