"""A hook uses the calibrated scale of the session's model."""

from __future__ import annotations

import json

import pytest

from holdfast.tokens.estimate import Estimator
from holdfast.tokens.scales import FILE_NAME, VERSION

from .hook_session import HookSession


def write_scale(session: HookSession, scale: object) -> str:
    """Write the calibration file for the session's model, and return the model's name."""
    model = session.fold_transcript()["usage"]["model"]
    (session.home / FILE_NAME).write_text(
        json.dumps({"version": VERSION, "models": {model: {"scale": scale}}}), encoding="utf-8"
    )
    return model


def test_a_brief_is_shorter_for_a_model_whose_tokenizer_counts_more(session: HookSession) -> None:
    limit = 1000
    session.home.mkdir()
    (session.home / "settings.json").write_text(json.dumps({"brief_tokens": limit}))
    before = session.run_until_compacted().brief
    other = HookSession(root=session.root, session_id="calibrated")
    model = write_scale(session, 1.5)
    calibrated = other.run_until_compacted().brief
    estimate_tokens = Estimator.for_model(model, 1.5).estimate
    assert estimate_tokens(calibrated) <= limit < estimate_tokens(before)


@pytest.mark.parametrize("scale", [0, "x", None, 1e9])
def test_a_scale_out_of_range_does_not_change_a_brief(session: HookSession, scale: object) -> None:
    before = session.run_until_compacted().brief
    other = HookSession(root=session.root, session_id="calibrated")
    write_scale(session, scale)
    assert len(other.run_until_compacted().brief) == pytest.approx(len(before), rel=0.02)
