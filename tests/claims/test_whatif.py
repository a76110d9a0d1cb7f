"""Tests of `whatif`: at which assumption a verdict changes, and what a reader's own would give."""

import math
from dataclasses import replace

import msgspec
import pandas as pd
import pytest
from conftest import make_article, make_claim

from mlperf_claims.claims.articles import NoClaims
from mlperf_claims.claims.kinds import Answer, Book
from mlperf_claims.claims.schema import Assumption
from mlperf_claims.claims.whatif import describe_formulas, draw_curves, expand, find_breaks, find_lead, list_breaks


def derived(id_, stated, formula, **keys):
    return make_claim(id_, kind="derived", stated=stated, formula=formula, headline=id_ == "lead", **keys)


@pytest.fixture
def book():
    """Watts and prices, which have nothing to do with racks: 600 W a chip at 0.2 a kWh."""
    claims = (
        derived("power", "6 kW", "10 * watts / 1000"),
        derived("lead", "1.2 an hour", "power * price"),
        derived("plain", "5", "2 + 3"),
    )
    given = {"watts": Assumption(600.0, "W", "a sheet"), "price": Assumption(0.2, "per kWh", "a bill")}
    return Book(make_article(*claims, assumptions=given), None, None)


@pytest.mark.parametrize(
    ("text", "interval", "edges"),
    [
        ("10 * a", (35.0, 45.0), (3.5, 4.5)),
        ("100 / a", (20.0, 25.0), (4.0, 5.0)),  # falls as the assumption grows
        ("10 * a", (35.0, math.inf), (3.5, math.inf)),
        ("10 * a", (-math.inf, 45.0), (0.0, 4.5)),
        ("a + b", (9.0, 11.0), (2.0, 4.0)),  # the other stays at 7
        ("10 * a", (1e9, 2e9), (math.nan, math.nan)),  # nowhere near
        ("1 / (a - 4)", (1.0, 2.0), (4.5, 5.0)),  # divides by zero on the way
    ],
)
def test_break_even_is_where_the_verdict_changes(text, interval, edges):
    """From … to … of one assumption, the others as they are."""
    found = find_breaks(text, "a", {"a": 4.4, "b": 7.0}, interval)
    assert found == pytest.approx(edges, rel=1e-6, nan_ok=True)


def test_formula_is_expanded_down_to_assumptions(book):
    """A claim that rests on another is written out in assumptions and numbers."""
    assert expand(book.article.claim("lead"), book, reading="") == "(((10 * watts) / 1000) * price)"


def test_every_assumption_has_its_break_even(book):
    """Also those that a claim takes from another; a claim without any has none."""
    found = list_breaks(book.article.claims, book).set_index(["claim", "assumption"])
    assert list(found.index) == [("power", "watts"), ("lead", "watts"), ("lead", "price")]
    assert found.loc[("power", "watts"), ["from", "to"]].tolist() == pytest.approx([550, 650])
    assert found.loc[("lead", "price"), ["from", "to"]].tolist() == pytest.approx([1.15 / 6, 1.25 / 6])


def test_lead_is_the_headline_with_its_sliders(book):
    """A reader moves each assumption of the claim the article leads with."""
    lead = find_lead(book.article.claims, book)
    assert (lead.claim, lead.assumptions, lead.printed_unit) == ("lead", {"watts": 600.0, "price": 0.2}, "an hour")
    curve = draw_curves(lead, book)
    assert curve["assumption"].agg(["min", "max"]).tolist() == pytest.approx([150, 2400])
    assert curve["value"].agg(["min", "max"]).tolist() == pytest.approx([0.3, 4.8])


def test_no_assumption_ends_the_part_early(book):
    """There is nothing to ask about."""
    with pytest.raises(NoClaims, match="rests on an assumption"):
        find_lead([book.article.claim("plain")], book)


def test_formulas_are_shown_in_words_and_numbers(book):
    """Both with the signs of school."""
    rows = describe_formulas(book.article.claims, book)
    assert rows.loc[1, ["formula", "numbers"]].tolist() == ["power × price", "6 × 0.2"]
    assert rows["value"].tolist() == pytest.approx([6.0, 1.2, 5.0])


def test_minus_before_a_negative_number_is_no_decrement(book):
    """In JavaScript two signs in a row are another operator."""
    article = make_article(derived("below", "5", "2 - 5"), derived("above", "5", "-below.stated * watts - low"))
    low = make_claim("low", kind="count", of="results", stated="3")
    with_low = Book(make_article(*article.claims, low, assumptions=book.article.assumptions), None, None)
    with_low._answers["low"] = Answer({"results": -3.0}, pd.DataFrame())
    assert expand(article.claim("above"), with_low, reading="results") == "(((-5.0) * watts) - (-3.0))"


def test_other_reading_of_an_operand_is_written_out_as_it_was_worked_out():
    """Each curve, and each break-even, is of the reading that it is called by."""
    power = derived("power", "6 kW", "10 * watts / 1000")
    power = replace(power, also={"with cooling": msgspec.structs.replace(power.about, formula="15 * watts / 1000")})
    article = make_article(
        power, derived("bill", "1.2", "power * 2"), assumptions={"watts": Assumption(600.0, "W", "a")}
    )
    book = Book(article, None, None)
    bill = article.claim("bill")
    assert dict(book.answer(bill).readings) == pytest.approx({"as derived": 12.0, "with cooling": 18.0})
    assert expand(bill, book, reading="as derived") == "(((10 * watts) / 1000) * 2)"
    assert expand(bill, book, reading="with cooling") == "(((15 * watts) / 1000) * 2)"


def test_formula_that_doubles_with_each_claim_is_left_out():
    """Thirty claims that each use two others twice would not fit the memory; they still have their verdicts."""
    doubling = [derived("c0", "5", "watts"), derived("c1", "5", "watts * 2")]
    doubling += [derived(f"c{n}", "5", f"c{n - 1} + c{n - 2}") for n in range(2, 30)]
    book = Book(make_article(*doubling, assumptions={"watts": Assumption(1.0, "W", "a")}), None, None)
    found = list_breaks(book.article.claims, book)
    assert 5 < len(found) < 30
    assert book.answer(doubling[29]).readings["as derived"] == 1_346_269  # a Fibonacci number
