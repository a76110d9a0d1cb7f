"""Tests of `verdicts`: a figure is judged by its own digits."""

import math

import pytest

from mlperf_claims.claims.stated import parse_stated
from mlperf_claims.claims.verdicts import VerdictError, judge_value


@pytest.mark.parametrize(
    ("text", "value", "flatters", "verdict"),
    [
        ("2.1x", 2.05, "high", "confirmed"),  # the lower edge belongs to the figure
        ("2.1x", 2.15, "high", "understated"),  # the upper one does not
        ("2.1x", 2.0, "high", "overstated"),
        ("27.3 min", 28.0, "low", "overstated"),  # a time printed shorter than it was
        ("27.3 min", 26.0, "low", "understated"),
        ("over 2x", 2.0, "high", "overstated"),
        ("under 11 min", 11.0, "low", "overstated"),
        ("nearly 3x", 3.0, "high", "understated"),
        ("several", 3, "high", "confirmed"),
        ("several", 2, "high", "contradicted"),  # a word holds or does not
        ("larger", 0.7, "high", "contradicted"),
        ("first", 2, "high", "contradicted"),
        ("twice", 1.4, "high", "overstated"),  # a word for a figure is judged as one
    ],
)
def test_verdict_follows_from_digits_and_side(text, value, flatters, verdict):
    """Within the digits confirmed; outside, in whose favour the printed figure is."""
    assert judge_value(parse_stated(text), value, flatters=flatters) == verdict


@pytest.mark.parametrize(("text", "value"), [("yes", 1.0), ("2x", math.nan), ("2x", math.inf)])
def test_no_verdict_without_a_figure(text, value):
    """What has no figure on one side is an error that shows both."""
    with pytest.raises(VerdictError, match="expected a figure in both"):
        judge_value(parse_stated(text), value, flatters="high")
