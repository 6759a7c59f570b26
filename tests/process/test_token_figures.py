"""A hook uses the calibrated scale of the session's model."""

from __future__ import annotations

import json

import pytest

from holdfast.tokens.estimate import Estimator
from holdfast.tokens.scales import FILE_NAME, VERSION

from .scene import Scene


def figures(scene: Scene, scale: object) -> str:
    model = scene.folded()["usage"]["model"]
    (scene.home / FILE_NAME).write_text(
        json.dumps({"version": VERSION, "models": {model: {"scale": scale}}}), encoding="utf-8"
    )
    return model


def test_a_brief_is_shorter_for_a_model_that_counts_more(scene: Scene) -> None:
    before = scene.compacted().brief
    other = Scene(root=scene.root, session="learned")
    model = figures(scene, 1.5)
    after = other.compacted().brief
    counted = Estimator.for_model(model, 1.5).estimate
    assert counted(after) <= 2000 < counted(before)


@pytest.mark.parametrize("scale", [0, "x", None, 1e9])
def test_a_scale_out_of_range_does_not_change_a_brief(scene: Scene, scale: object) -> None:
    before = scene.compacted().brief
    other = Scene(root=scene.root, session="learned")
    figures(scene, scale)
    assert len(other.compacted().brief) == pytest.approx(len(before), rel=0.02)
