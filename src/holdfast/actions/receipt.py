"""The delivery receipt: the transcript is the witness of what the host did with a brief."""

from __future__ import annotations

import zlib

from holdfast import hosts

# What hosts name that never do.
NEVER = (9999,)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.call import HookCall
    from holdfast.state.model import Compaction, State
    from holdfast.store.base import CompactionRow, Store


def note_receipts(store: Store, call: HookCall, state: State) -> None:
    """Did the briefs of the last compactions arrive, whole, once?"""
    for row in store.compactions(call.session)[-2:]:
        told = state["compactions"][row["ordinal"] - 1 : row["ordinal"]]
        if not row["brief_id"] or not told:
            continue
        receipt, line = receipt_of(row, told[0], state, call.host)
        if (receipt, line) != (row["receipt"], row["receipt_line"]):
            store.note_receipt(call.session, row["ordinal"], receipt, line)


def receipt_of(
    row: CompactionRow, told: Compaction, state: State, host_name: str
) -> tuple[str, int | None]:
    """whole, cut, twice, never, unproven (the client does not write it down) or pending."""
    arrived = [there for there in told["deliveries"] if there["id"] == row["brief_id"]]
    if len(arrived) > 1:
        return "twice", arrived[-1]["line"]
    if arrived:
        sent = (row["brief"] or "").strip()
        whole = zlib.crc32(sent.encode("utf-8", "replace")) == arrived[0]["checksum"]
        return ("whole" if whole else "cut"), arrived[0]["line"]
    if state["usage"]["line"] > max(row["brief_line"] or 0, told["line"]):
        return ("never" if records_delivery(state, host_name) else "unproven"), None
    return "pending", None


def records_delivery(state: State, host_name: str) -> bool:
    """Whether this client writes down what hooks inject. An unknown version is a new one."""
    host, version = hosts.named(host_name), client_version(state)
    since = host.RECORDS_DELIVERY_SINCE if host else (0,)
    return since < NEVER and (version is None or version >= since)


def client_version(state: State) -> tuple[int, ...] | None:
    """The host's version as its transcript tells it, if it is one."""
    numbers = state["place"].get("client", "").split(".")
    return tuple(map(int, numbers)) if all(part.isdigit() for part in numbers) else None
