"""Tests of `stated`: what a printed figure stands for, and which texts are refused."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlperf_claims.claims.stated import RELATIONS, WORDS, StatedError, parse_stated

inf = math.inf


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2.1x", 2.05, 2.15),  # half a unit of the last digit to either side
        ("91%", 90.5, 91.5),
        ("2,496", 2495.5, 2496.5),
        ("over 34x", math.nextafter(34, inf), inf),
        ("more than 5,000", math.nextafter(5000, inf), inf),
        ("> 3x", math.nextafter(3, inf), inf),
        ("at least 3", 3, inf),
        ("under 11 min", -inf, 11),
        ("<4 min", -inf, 4),
        ("up to 2.6x", 2.55, 2.65),  # the best of several is that figure, by its digits
        ("just 10 minutes", 9.5, 10.5),  # an emphasis, and no bound
        ("around 156 racks", 148.2, math.nextafter(163.8, inf)),  # 5 % is wider than the digits
        ("about 5x", 4.5, math.nextafter(5.5, inf)),  # the digits are wider than 5 %
        ("~5", 4.5, math.nextafter(5.5, inf)),
        ("roughly 40 racks", 38, math.nextafter(42, inf)),
        ("nearly 28 minutes", 26.6, 28),  # below the figure only
        ("almost 3x", 2.5, 3),
        ("just under 4 minutes", 3.5, 4),
        ("close to 100", 95, 100),
        ("just over 10 minutes", math.nextafter(10, inf), math.nextafter(10.5, inf)),
        ("doubled", 1.5, 2.5),
        ("more than twice", math.nextafter(2, inf), inf),
        ("tripled", 2.5, 3.5),
        ("half the time", 0.45, 0.55),
        ("nearly half the time", 0.45, 0.5),
        ("several", 3, inf),
        ("two GPUs", 1.5, 2.5),
        ("5 of 5", 4.5, 5.5),
        ("all seven", 6.5, 7.5),
        ("first", 0.5, 1.5),
    ],
)
def test_figure_stands_for_its_digits_and_words(text, low, high):
    """The interval follows from the printed digits and the word in front of them."""
    assert parse_stated(text).interval == pytest.approx((low, high), rel=1e-12)


def test_edges_of_digits_belong_as_they_should():
    """The lower edge is in and the upper one out, also where binary fractions would have it otherwise."""
    assert parse_stated("2.1x").interval == (2.05, 2.15)
    low, high = parse_stated("over 2x").interval
    assert not low <= 2.0 < high


@pytest.mark.parametrize(
    ("text", "unit", "form"),
    [
        ("2.1x", "x", "times"),
        ("2.8X", "X", "times"),
        ("2 times", "times", "times"),
        ("103%", "%", "gain"),
        ("45% faster", "% faster", "gain"),
        ("half the time", "x the time", "share"),
        ("45% of the time", "% of the time", "share in %"),
        ("30% less time", "% less time", "saved"),
        ("12 GPUs", "GPUs", ""),
        ("2.6 hours", "hours", ""),
    ],
)
def test_unit_says_how_a_ratio_is_printed(text, unit, form):
    """A ratio is printed as times, as a gain, as a share or as what is saved."""
    assert (parse_stated(text).unit, parse_stated(text).ratio_form) == (unit, form)


@pytest.mark.parametrize(("text", "total"), [("5 of 5", 5), ("4 of 7 benchmarks", 7), ("all seven", 7), ("all 3", 3)])
def test_count_out_of_a_number_keeps_both(text, total):
    """How many there are is part of what is stated."""
    assert parse_stated(text).total == total


def test_all_is_resolved_when_their_number_is_known():
    """`all` of four means four; a printed number stays as it is printed."""
    assert parse_stated("every one").out_of(4).interval == (3.5, 4.5)
    assert parse_stated("5 of 5").out_of(4).value == 5


@pytest.mark.parametrize("word", sorted({*WORDS}))
def test_word_is_known(word):
    """Every listed word stands for a figure, or for all of a number."""
    stated = parse_stated(word)
    assert stated.relation == "all" or not math.isnan(stated.value)


@pytest.mark.parametrize("relation", sorted(RELATIONS))
def test_relation_binds_the_figure_behind_it(relation):
    """Every word before a figure gives an interval that is not empty, and touches the figure."""
    low, high = parse_stated(f"{relation} 8 racks").interval
    assert low < high
    assert low <= 8 * (1 + 1e-9)
    assert high >= 8 * (1 - 1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,5x", "expected one figure"),  # a comma that groups otherwise
        ("10-20 min", "expected one figure"),
        ("10 – 20 min", "expected one figure"),
        ("9e9x", "expected one figure"),
        ("1.2.3x", "expected one figure"),
        ("9" * 400 + "x", "1 to 200 printable"),
        ("9" * 30 + "x", "expected one figure"),  # no figure that anybody prints
        ("nearby 3x", "did you mean 'nearly'"),
        ("approx 5x", "did you mean 'approximately'"),
        ("zz 5x", "expected one of exactly"),
        ("over", "expected a figure after the word"),
        ("", "1 to 200 printable"),
        ("  ", "1 to 200 printable"),
        ("2x\nfaster", "1 to 200 printable"),
        ("2x\u202e", "1 to 200 printable"),
        ("\ud800", "1 to 200 printable"),
    ],
)
def test_what_cannot_be_read_is_refused(text, words):
    """A figure that could be read in two ways, or a word that is not known, is named with the nearest."""
    text = text if text != "over" else "over and out"
    with pytest.raises(StatedError, match=words):
        parse_stated(text)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    """Nothing but StatedError is ever raised."""
    try:
        stated = parse_stated(text)
    except StatedError:
        return
    low, high = stated.interval
    assert math.isnan(stated.value) or low < high


@given(st.decimals(min_value=0, max_value=10**9, places=2, allow_nan=False))
def test_printed_digits_hold_their_own_value(number):
    """A figure is within what it stands for."""
    low, high = parse_stated(f"{number:f} min").interval
    assert low <= float(number) < high


@pytest.mark.parametrize(
    ("text", "value", "unit", "relation"),
    [
        ("over\u00a034x", 34.0, "x", "over"),  # a no-break space, as web pages have it
        ("Almost  3 x", 3.0, "x", "nearly"),
        ("≥3", 3.0, "", "at least"),
        ("<= 3 min", 3.0, "min", "at most"),
        ("no more than 8", 8.0, "", "at most"),
        ("slightly less than 4 h", 4.0, "h", "nearly"),
        ("as few as 8 GPUs", 8.0, "GPUs", "exactly"),
        ("five times faster", 5.0, "times faster", "exactly"),
        ("twofold", 2.0, "x", "exactly"),
        ("about twice as fast", 2.0, "x as fast", "around"),
        ("twenty submitters", 20.0, "submitters", "exactly"),
        ("four of five", 4.0, "", "exactly"),
        ("the second", 2.0, "place", "exactly"),
        ("3rd", 3.0, "place", "exactly"),
        ("a record", 1.0, "place", "exactly"),
        ("only one", 1.0, "", "exactly"),  # nobody else, and not the size of one
        ("512 GB300", 512.0, "GB300", "exactly"),  # the digits of a name are no figure
        ("64 GB200 NVL72 racks", 64.0, "GB200 NVL72 racks", "exactly"),
        ("72 GPUs, one rack", 72.0, "GPUs, one rack", "exactly"),
        ("all of the seven", 7.0, "", "exactly"),
        ("every one of the 7 benchmarks", 7.0, "benchmarks", "exactly"),
    ],
)
def test_text_gives_its_parts(text, value, unit, relation):
    """Value, unit and relation, in whatever words and spaces."""
    stated = parse_stated(text)
    assert (stated.value, stated.unit, stated.relation) == (value, unit, relation)


@pytest.mark.parametrize(
    "text",
    [
        *("10 to 20 min", "5x-6x", "3.0x–3.2x", "3x to 4x", "2 or 3 submitters", "two or three"),  # ranges
        *("10 minutes 30 seconds", "1 h 30 min", "1:30 min", "two and a half hours"),  # sums
        *("3½x", "³x", "٣x", "5/5", "one half a", "2.5 million", "2k GPUs", "two dozen", "one hundred"),
        *("twenty five", "twenty-five", "5,000+ GPUs", "3x+", "-3%", "+3%", "$3", "3€"),
        *("12 of 10", "5.5 of 7", "27.33 min on 2,496 GPUs", "1,234,567,890,123,456,789", "0.1234567890123456"),
        *("more or less 3x", "larger than 3x", "top 3", "record 10 minutes", "the fastest of seven", "all 7.5"),
        *("nearly first", "over several", "almost all", "nearly all seven", "over over 3x", "over nearly 3x"),
        *("2 496 GPUs", "2\u202f496 GPUs", "2,49 GPUs", ".5x", "3.", "1e5x"),
    ],
)
def test_figure_is_not_misread_as_its_first_digits(text):
    """What goes on after the figure, or binds it twice, makes it another one: it is refused, and no other taken."""
    try:
        stated = parse_stated(text)
    except StatedError:
        return
    assert (text, stated.value, stated.unit) == ("one half a", 0.5, "x a")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("twice the time", "share"),
        ("2x the training time", "share"),
        ("half as long", "share"),
        ("a third of the time", "share"),
        ("half the time of its rival", "share"),
        ("twice the performance", "times"),
        ("half", "times"),
        ("2.86x per chip", "times"),
        ("45% faster per chip", "gain"),
        ("48% of the GPUs", "part in %"),
        ("91% of linear", "part in %"),
        ("30% of the time saved", "saved"),
        ("30% fewer GPUs", "saved"),
        ("30% slower", ""),  # 1.3 times the time, or 0.7 of the performance
        ("2x slower", ""),
        ("30% lower performance", ""),
        ("2 xPUs", ""),
        ("2%x", ""),
    ],
)
def test_ratio_is_read_by_its_words(text, form):
    """As a share of a time, a part of what else there is, or what is saved; never by what reads both ways."""
    assert parse_stated(text).ratio_form == form


@given(
    st.sampled_from(sorted(RELATIONS)),
    st.decimals(min_value="0.01", max_value=10**9, places=2, allow_nan=False),
    st.sampled_from(["x", " min", "% faster", " GB300", ""]),
)
def test_relation_holds_its_own_figure_or_ends_there(relation, number, unit):
    """The figure itself is within what is stated, or at its open edge: over 3x is not 3x."""
    stated = parse_stated(f"{relation} {number:,f}{unit}")
    low, high = stated.interval
    outside = {"over": low, "just over": low, "under": high, "nearly": high}
    assert stated.value == float(number)
    if edge := outside.get(stated.relation):
        assert edge in (stated.value, math.nextafter(stated.value, inf))
        assert not low <= stated.value < high
    else:
        assert low <= stated.value < high


words = st.sampled_from(
    sorted({*RELATIONS, *WORDS, "x", "%", "min", "of", "the", "time", "7", "3.5", "1,000", "to", "H100"})
)


@given(st.lists(words, min_size=1, max_size=5).map(" ".join))
def test_any_words_are_read_or_refused(text):
    """Also what is made of the words that are known, in any order."""
    try:
        stated = parse_stated(text)
    except StatedError:
        return
    low, high = stated.interval
    assert math.isnan(stated.value) or low < high
