"""The delivery receipt: the transcript is the witness of what the host did with a brief."""

from __future__ import annotations

import zlib

from holdfast import hosts

# What hosts name that never do.
NEVER = (9999,)
UNPROVEN = "unproven"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.base import Host
    from holdfast.hosts.call import HookCall
    from holdfast.state.model import Compaction, Delivery, State
    from holdfast.store.base import CompactionRow, Store


def note_receipts(store: Store, call: HookCall, state: State) -> None:
    """Did the briefs of the last compactions arrive, whole, once?"""
    for row in store.compactions(call.session)[-2:]:
        told = state["compactions"][row["ordinal"] - 1 : row["ordinal"]]
        # A brief that is kept in short can no longer be compared; it was, when it came.
        if not row["brief"] or not told:
            continue
        receipt, line = receipt_of(row, told[0], state, call.host)
        if (receipt, line) != (row["receipt"], row["receipt_line"]):
            store.note_receipt(call.session, row["ordinal"], receipt, line)


def receipt_of(
    row: CompactionRow, told: Compaction, state: State, host_name: str
) -> tuple[str, int | None]:
    """whole, cut, twice, never, unproven (the client does not write it down) or pending."""
    shown = deliveries(told, state, host_name)
    arrived = [there for there in shown if there["id"] == row["brief_id"]]
    if arrived:
        sent = zlib.crc32((row["brief"] or "").strip().encode("utf-8", "replace"))
        whole = [there for there in arrived if there["checksum"] == sent]
        # One that was cut and sent once more arrived whole.
        best = whole or arrived
        return ("cut" if not whole else "twice" if len(whole) > 1 else "whole"), best[-1]["line"]
    if state["usage"]["line"] > max(row["brief_line"] or 0, told["line"]):
        proven = records_delivery(state, host_name) or told["deliveries"]
        return ("never" if proven else UNPROVEN), None
    host = hosts.named(host_name)
    return ("pending" if host is None or can_prove(host) else UNPROVEN), None


def deliveries(told: Compaction, state: State, host_name: str) -> list[Delivery]:
    """What of ours the model was shown after this compaction; to be written down is not enough."""
    host, version = hosts.named(host_name), client_version(state)
    if told["trigger"] != "manual" or host is None or version is None:
        return told["deliveries"]
    if version >= host.MANUAL_BRIEF_SINCE:
        return told["deliveries"]
    return [there for there in told["deliveries"] if there["hook"] == "UserPromptSubmit"]


def records_delivery(state: State, host_name: str) -> bool:
    """Whether this client writes down what hooks inject. An unknown version is a new one."""
    host, version = hosts.named(host_name), client_version(state)
    if host is None:
        return True
    return can_prove(host) and (version is None or version >= host.RECORDS_DELIVERY_SINCE)


def can_prove(host: Host) -> bool:
    """Whether any version of this client writes down what it was given."""
    return host.RECORDS_DELIVERY_SINCE < NEVER


def client_version(state: State) -> tuple[int, ...] | None:
    """The host's version as its transcript tells it, if it is one."""
    numbers = state["place"].get("client", "").split(".")
    return tuple(map(int, numbers)) if all(part.isdigit() for part in numbers) else None
