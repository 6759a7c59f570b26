"""Every error that Holdfast can explain to a user. The class docstring is the message."""

from __future__ import annotations


class HoldfastError(Exception):
    """Holdfast could not do that."""

    hint = ""
    """What the user can do about it; an instance may carry a more specific one."""
    has_own_message = False
    """Whether `detail` is a whole sentence, shown instead of the docstring."""

    def __init__(self, detail: str = "", *, hint: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint or self.hint

    def __str__(self) -> str:
        if self.detail and self.has_own_message:
            return self.detail
        message = (self.__doc__ or "").strip().rstrip(".")
        return f"{message}: {self.detail}" if self.detail else message


class InvalidInput(HoldfastError):
    """This input is not valid."""

    has_own_message = True


class NotFound(HoldfastError):
    """No such record."""

    has_own_message = True


class Conflict(HoldfastError):
    """This conflicts with what is already recorded."""

    has_own_message = True


class Forbidden(HoldfastError):
    """This is not allowed."""

    has_own_message = True


class BadSetting(HoldfastError):
    """A setting has an invalid value."""

    hint = "settings come from HOLDFAST_* variables, .holdfast/settings.json and settings.json"


class StoreUnavailable(HoldfastError):
    """The store is not available."""

    hint = "run `holdfast doctor` to see what is wrong with it"


class DatabaseUnreachable(StoreUnavailable):
    """The team database cannot be reached."""

    # Raised only after the connection timeout, so a second attempt would wait as long again.


class StoreDamaged(StoreUnavailable):
    """The store's file is damaged and was set aside."""

    hint = (
        "what can be read of it is being copied into a new one: try again in a moment; "
        "`holdfast doctor` says what was lost"
    )


class ServerBusy(HoldfastError):
    """The server cannot take this request now."""

    hint = "try again in a moment"


class UnreadableTranscript(HoldfastError):
    """The transcript cannot be read."""

    hint = "give the path of a session's .jsonl file"


class UnusableSettingsFile(HoldfastError):
    """The host's settings file cannot be changed and was left untouched."""


class BadTemplate(HoldfastError):
    """A brief template cannot be read."""


class NothingToCompact(HoldfastError):
    """There is nothing to compact."""

    hint = "the most recent messages are kept word for word; `keep_recent` sets how many"


class CompactionInProgress(NothingToCompact):
    """The conversation is already being compacted."""

    hint = "another thread or process is compacting it; its result appears when it is done"


class CompactionFailed(HoldfastError):
    """The conversation could not be compacted and is unchanged."""


class CostLimitExceeded(HoldfastError):
    """That would cost more than the limit allows."""

    hint = (
        "`holdfast spend` shows what was spent; SessionManager(spend=Ceiling(...)) sets the limit"
    )
