"""Tests of `verdicts`: how a stated figure is judged."""

import math

import pytest

from mlperf_claims.claims.articles import parse_stated
from mlperf_claims.claims.verdicts import VerdictError, judge_value

C, U, O = "confirmed", "understated", "overstated"  # noqa: E741 - a letter each, for the table below


@pytest.mark.parametrize(
    ("text", "value", "if_high_flatters", "if_low_flatters"),
    [
        ("2.1x", 2.1, C, C),
        ("2.1x", 2.05, C, C),  # the lower edge belongs to the figure
        ("2.1x", 2.15, U, O),  # the upper edge to the next
        ("2.1x", math.nextafter(2.05, 0), O, U),
        ("2.1x", math.nextafter(2.15, 0), C, C),
        ("2.1x", 1.87, O, U),  # less than stated: too much was said where high flatters
        ("2.1x", 3.0, U, O),
        ("4.8x", 4.875, U, O),  # cut instead of rounded
        ("27.33 min", 27.3349, C, C),
        ("27.33 min", 26.99, O, U),  # a shorter time than stated is to the claimant's disfavour
        ("over 34x", 34.67, C, C),
        ("over 34x", 34.0, O, U),  # not over itself
        ("over 34x", 20.0, O, U),
        ("under 11 min", 10.94, C, C),
        ("under 11 min", 11.0, U, O),  # not under itself
        ("around 156 racks", 163.8, C, C),  # 5 % above, with the edge
        ("around 156 racks", 148.2, C, C),
        ("around 156 racks", 163.9, U, O),
        ("around 156 racks", 148.1, O, U),
        ("up to 96%", 96.0, C, C),  # "up to" reaches the figure
        ("at least 3", 3.0, C, C),  # and so does "at least"
        ("2.1x", -2.1, O, U),
    ],
)
def test_figure_is_judged_by_its_digits(text, value, if_high_flatters, if_low_flatters):
    """Within the printed digits a figure is confirmed; beyond, it depends on whom that flatters."""
    assert judge_value(parse_stated(text), value, flatters="high") == if_high_flatters
    assert judge_value(parse_stated(text), value, flatters="low") == if_low_flatters


@pytest.mark.parametrize(
    ("text", "value"),
    [("first", 3.0), ("2.1x", math.nan), ("2.1x", math.inf), ("over 34x", math.inf), ("under 11 min", -math.inf)],
)
def test_what_is_no_figure_is_not_judged(text, value):
    """Neither words, nor a missing value, nor an infinite one is judged."""
    with pytest.raises(VerdictError, match="expected a figure in both"):
        judge_value(parse_stated(text), value, flatters="high")


@pytest.mark.parametrize(
    ("text", "value", "verdict"),
    [("several", 3.0, C), ("several", 2.0, "contradicted"), ("larger", 0.7, "contradicted")],
)
def test_word_holds_or_is_contradicted(text, value, verdict):
    """A word has no digits to be over or under: it holds, or the data say otherwise."""
    assert judge_value(parse_stated(text), value, flatters="high") == verdict
