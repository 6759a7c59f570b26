"""Everything that can go wrong and be explained: the class docstring is the message."""

from __future__ import annotations


class HoldfastError(Exception):
    """Holdfast could not do that."""

    hint = ""

    def __init__(self, detail: str = "", *, hint: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint or self.hint

    def __str__(self) -> str:
        message = (self.__doc__ or "").strip().rstrip(".")
        return f"{message}: {self.detail}" if self.detail else message


class BadSetting(HoldfastError):
    """A setting has a value that cannot be used."""

    hint = "settings come from HOLDFAST_* variables, .holdfast/settings.json and settings.json"


class StoreUnavailable(HoldfastError):
    """The store cannot be used right now."""

    hint = "run `holdfast doctor` to see what is wrong with it"


class NoConnection(StoreUnavailable):
    """The team's database cannot be reached right now."""

    # Whoever has met this has waited, and whoever tries next waits as long.


class StoreDamaged(StoreUnavailable):
    """The store's file is damaged and was set aside."""

    hint = "a new one is made at once; what transcripts still hold is folded again when next seen"


class ServerBusy(HoldfastError):
    """The server cannot take this on right now."""

    hint = "try again in a moment"


class NoSuchRecord(HoldfastError):
    """Nothing is stored under that name."""


class NotNow(HoldfastError):
    """That is not possible the way things are."""


class NotAllowed(HoldfastError):
    """That is not allowed."""


class NotATranscript(HoldfastError):
    """That is not a transcript that can be read."""

    hint = "give the path of a session's .jsonl file"


class SettingsFileUnusable(HoldfastError):
    """The host's settings file cannot be changed, and was left untouched."""


class BadUsage(HoldfastError):
    """The command was not understood."""


class BadTemplate(HoldfastError):
    """A template for briefs cannot be read."""


class NothingToCompact(HoldfastError):
    """There is nothing that could be compacted."""

    hint = "the most recent messages stay word for word; `keep_recent` says how many"


class CompactionUnderWay(NothingToCompact):
    """The conversation is being compacted already."""

    hint = "what another thread or process makes of it is there as soon as it is done"


class CompactionFailed(HoldfastError):
    """The conversation could not be compacted; it is as it was."""


class SpendRefused(HoldfastError):
    """That would cost more than the ceiling allows."""

    hint = (
        "`holdfast spend` shows what was spent; SessionManager(spend=Ceiling(...)) sets the ceiling"
    )
