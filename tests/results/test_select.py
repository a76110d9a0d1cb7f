"""Tests of `select`: which results a selection meets, and what is said where it does not."""

import math

import pandas as pd
import pytest

from mlperf_claims.results.select import (
    NotHeldError,
    Selection,
    SelectionError,
    check_comparable,
    describe_differences,
    find_maker,
    find_nearest,
    find_repeats,
    find_rivals,
    find_series,
    match_peaks,
    narrow,
    normalise_availability,
    order_round,
    parse_size,
    select_one,
    select_some,
    split_submitter,
    take_role,
)

SCOPE = {"round": "v5.0", "benchmark": "tiny", "division": "closed"}
COLUMNS = ("system", "submitter", "accelerator", "accelerators_total", "official_min", "no_score")
ROWS = [  # a fast and a slow series, and one size without a score
    ("a8", "Ann", "New N1", 8, 40.0, ""),
    ("a16", "Ann", "New N1", 16, 20.0, ""),
    ("a32", "Ann", "New N1", 32, 11.0, ""),
    ("b8", "Bob", "Old O1 80GB", 8, 80.0, ""),
    ("b16", "Bob + Ann", "Old O1 80GB", 16, 44.0, ""),
    ("c16", "Cid", "Old O2", 16, 42.0, ""),
    ("d64", "Dan-Eve", "Old O2", 64, None, "2 runs do not count, expected at most 1"),
]


@pytest.fixture
def results():
    """Seven made-up results of one benchmark, and one of them in another round too."""
    frame = pd.DataFrame(ROWS, columns=COLUMNS).assign(
        **SCOPE, organization="org", availability="onprem", framework="F"
    )
    frame["official_min"] = frame["official_min"].astype("float64")
    frame["maker"] = frame["accelerator"].str[:3]
    frame["wall_clock_min"], frame["samples_per_min"] = frame["official_min"] / 2, 100 / frame["official_min"]
    older = frame.iloc[:1].assign(round="v4.1", official_min=50.0)
    return pd.concat([frame, older], ignore_index=True).astype({"accelerators_total": "Int64"})


def select(**keys):
    return Selection(**keys).within(SCOPE)


@pytest.mark.parametrize(
    ("keys", "systems"),
    [
        ({}, ["a8", "a16", "a32", "b8", "b16", "c16", "d64"]),
        ({"submitter": "Bob"}, ["b8"]),  # a whole name wins over a part of a joint one
        ({"submitter": "Bob", "accelerators": 16}, ["b16"]),  # where there is no whole one, a part is met
        ({"submitter": "Eve"}, ["d64"]),
        ({"submitter": "Bo"}, []),  # a part of a name is no name
        ({"submitter": ["Cid", "Dan"]}, ["c16", "d64"]),  # each name by itself
        ({"accelerators": 16}, ["a16", "b16", "c16"]),
        ({"accelerators": "over 16"}, ["a32", "d64"]),
        ({"accelerators": "at least 32"}, ["a32", "d64"]),
        ({"accelerators": "under 16"}, ["a8", "b8"]),
        ({"accelerator": "O1"}, ["b8", "b16"]),  # part of the name is enough
        ({"accelerator": ["O1", "O2"]}, ["b8", "b16", "c16", "d64"]),
        ({"accelerator": "O."}, []),  # text, and no pattern
        ({"maker": "New"}, ["a8", "a16", "a32"]),
        ({"system": "c16"}, ["c16"]),
        ({"division": "open"}, []),
        ({"availability": "cloud"}, []),
        ({"availability": "Available on-premise", "accelerator": "O1"}, ["b8", "b16"]),  # the category counts
        ({"round": ["v4.1", "v5.0"], "system": "a8"}, ["a8", "a8"]),
        ({"round": "any", "system": "a8"}, ["a8", "a8"]),
        ({"besides": Selection(submitter="Ann")}, ["b8", "b16", "c16", "d64"]),
        ({"accelerators": 16, "besides": Selection(accelerator="Old", besides=Selection(submitter="Cid"))},
         ["a16", "c16"]),
    ],
)  # fmt: skip
def test_narrow_keeps_what_meets_every_condition(results, keys, systems):
    """A result is kept if it meets every condition of the selection and not that of its `except`."""
    assert narrow(results, select(**keys))["system"].tolist() == systems


@pytest.mark.parametrize(
    ("keys", "system"),
    [
        ({"submitter": "Ann", "accelerators": 32}, "a32"),
        ({"accelerator": "Old", "pick": "fastest"}, "c16"),  # 42 of 80, 44, 42; without a score never fastest
        ({"pick": "largest"}, "d64"),
        ({"submitter": "Ann", "round": "v4.1"}, "a8"),
    ],
)
def test_selection_meets_exactly_one(results, keys, system):
    """The one result met, or of several the one that `pick` means."""
    assert select_one(results, select(**keys))["system"].tolist() == [system]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"submitter": "Ann"}, ["meets 3 results, expected exactly one", "a8", "a16", "a32"]),
        ({"submitter": "Ann", "accelerators": 12}, ["meets no result; nearest", "Ann, New N1, 8, a8"]),
        ({"submitter": "Anne"}, ["no submitter 'Anne' in data/, did you mean 'Ann'?"]),
        ({"benchmark": "tinny"}, ["no benchmark 'tinny'", "did you mean 'tiny'?"]),
        ({"accelerator": "N2"}, ["no accelerator 'N2'"]),
        ({"submitter": "BOB"}, ["did you mean 'Bob'?"]),  # another case is nearer than any other name
        ({"maker": "Nwe"}, ["no maker 'Nwe'", "'New'"]),
        ({"accelerator": "Old", "accelerators": 16}, ["meets 2 results"]),
    ],
)
def test_selection_of_none_or_several_says_so(results, keys, words):
    """The error says what was asked, how many met it, which are near, and what no result has."""
    with pytest.raises(SelectionError) as raised:
        select_one(results, select(**keys))
    assert [word for word in words if word not in str(raised.value)] == []


def test_nearest_come_first(results):
    """Of the candidates those that miss the fewest conditions come first, the nearest in size before."""
    with pytest.raises(SelectionError) as raised:
        select_one(results, select(submitter="Bob", accelerator="O1", accelerators=15))
    nearest = [line.split(", ")[-1] for line in str(raised.value).splitlines()[1:]]
    assert (nearest[0], len(nearest)) == ("b8", 5)


def test_tie_for_the_fastest_is_several(results):
    """Two results with the same best score are not told apart by their order in the file."""
    tied = results.assign(official_min=results["official_min"].replace(44.0, 42.0))
    with pytest.raises(SelectionError, match="meets 2 results"):
        select_one(tied, select(accelerator="Old", pick="fastest"))


def test_round_that_is_not_held_is_named_with_the_command(results):
    """It is no mistake of the claim's, and the way to read it is given; those that are held are listed."""
    with pytest.raises(NotHeldError, match=r"round v3\.1 is not in data/, which holds v4\.1, v5\.0.*make data"):
        select_some(results, select(round="v3.1"))
    with pytest.raises(NotHeldError, match=r"training_results_v3\.1"):
        narrow(results, select(round=["v5.0", "v3.1"]))


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        (8, (8, 8)),
        ("over 1,000", (1001, math.inf)),
        ("more than 1000", (1001, math.inf)),
        ("at least 512", (512, math.inf)),
        ("up to 8", (0, 8)),
        ("fewer than 8", (0, 7)),
    ],
)
def test_size_is_a_number_or_words(given, sizes):
    """Both edges are included."""
    assert parse_size(given) == sizes


@pytest.mark.parametrize("given", ["8", "over", "over 1,00", "over -1", "around 8", ""])
def test_other_words_for_a_size_are_refused(given):
    """A number stands without quotes, and a bound has a known word."""
    with pytest.raises(SelectionError, match="expected a whole number, or words"):
        parse_size(given)


def test_series_is_the_same_submitter_accelerator_and_benchmark(results):
    """Every size of it that has a score, smallest first."""
    assert find_series(results, results.iloc[2])["system"].tolist() == ["a8", "a16", "a32"]


def test_nearest_sizes_stand_in_for_the_same_one(results):
    """The same size, or else the next smaller and the next larger."""
    assert find_nearest(results.iloc[:3], 16)["system"].tolist() == ["a16"]
    assert find_nearest(results.iloc[:3], 20)["system"].tolist() == ["a16", "a32"]
    assert find_nearest(results.iloc[:3], 64)["system"].tolist() == ["a32"]


def test_rivals_are_everybody_else_s_scored_results(results):
    """Each with how many times faster the subject is, and how it stands to it in size."""
    rivals = find_rivals(results, results.iloc[1]).set_index("system")
    assert rivals["official_x"].to_dict() == pytest.approx({"b8": 4.0, "b16": 2.2, "c16": 2.1})
    assert rivals["choice"].to_dict() == {"b8": "", "b16": "same size", "c16": "fastest of any size"}
    assert rivals.loc["b8", "per_accelerator_x"] == pytest.approx(2.0)


def test_run_that_stands_in_an_earlier_round_is_found():
    """The same start, stop and seed, in an earlier round alone."""
    key = {"organization": "o", "system": "s", "benchmark": "b"}
    moments = [("v4.1", 1, 2, 7), ("v5.0", 1, 2, 7), ("v5.0", 5, 6, 7), ("v5.1", 1, 2, 7)]
    runs = pd.DataFrame([{"round": r, "start_ms": a, "stop_ms": z, "seed": s, **key} for r, a, z, s in moments])
    found = find_repeats(runs, pd.DataFrame([{"round": "v5.0", **key}]))
    assert found[["round", "round_earlier", "runs"]].to_numpy().tolist() == [["v5.0", "v4.1", 1]]


def test_differences_are_named_as_the_guidelines_want(results):
    """What differs is named with both sides; ways to write one category are no difference."""
    one = results.iloc[0].copy()
    other = results.iloc[3].copy()
    one["availability"], other["availability"] = "Available on-premise", "onprem"
    assert describe_differences(one, other) == (
        "accelerator: New N1 against Old O1 80GB",
        "submitter: Ann against Bob",
    )


@pytest.mark.parametrize(
    ("text", "category"),
    [("Available cloud", "cloud"), ("Available on-premise", "on premise"), ("onprem", "on premise"), ("RDI", "rdi")],
)
def test_availability_has_categories(text, category):
    """Several ways to write one category are one."""
    assert normalise_availability(text) == category


def test_rounds_come_in_order_of_time():
    """By number, and not by letter."""
    assert sorted(["v10.0", "v5.1", "v5.0"], key=order_round) == ["v5.0", "v5.1", "v10.0"]


def test_small_helpers():
    """Partners of a joint submission, makers of accelerators, and the columns of one role."""
    assert split_submitter("Ann + Bob+Cid") == ["Ann", "Bob", "Cid"]
    assert [find_maker(name, {"N1": "New"}) for name in ("Big N1", "N/A")] == ["New", ""]
    assert take_role(pd.Series({"subject_a": 1, "baseline_a": 2}), "subject").to_dict() == {"a": 1}


def test_times_of_other_benchmarks_or_versions_do_not_compare(results):
    """The reason is the error's text."""
    other = results.iloc[1].copy()
    other["benchmark"] = "huge"
    with pytest.raises(SelectionError, match="different benchmarks"):
        check_comparable(results.iloc[0], other)


def test_peaks_go_by_the_longest_name(results):
    """An accelerator whose name holds two known ones takes the longer; unknown ones have none."""
    peaks = pd.DataFrame({"accelerator": ["O1", "O1 80GB", "N1"], "peak": [5.0, 6.0, 9.0], "source": list("abc")})
    matched = match_peaks(results.assign(source="m"), peaks).set_index("system")
    assert matched.loc["b8", ["peak", "source_peak"]].tolist() == [6.0, "b"]
    assert math.isnan(matched.loc["c16", "peak"])


@pytest.mark.parametrize("joined", ["Fay+Guy", "Fay + Guy", "Fay, Guy", "Fay & Guy", "Fay/Guy", "Fay_Guy", "Fay-Guy"])
def test_partner_of_a_joint_submission_is_met_however_they_are_joined(results, joined):
    """By each of the names, and by the whole; a misspelt one is answered with the nearest part."""
    renamed = results.assign(submitter=results["submitter"].replace("Cid", joined))
    for name in ("Fay", "Guy", joined):
        assert narrow(renamed, select(submitter=name))["system"].tolist() == ["c16"]
    with pytest.raises(SelectionError, match="no submitter 'Guyy' in data/, did you mean 'Guy'"):
        select_one(renamed, select(submitter="Guyy"))


@pytest.mark.parametrize(
    ("besides", "words"),
    [
        ({"submitter": "Anne"}, "no submitter 'Anne' in data/, did you mean 'Ann'?"),
        ({"system": "a9"}, "no system 'a9'"),
        ({"accelerator": "N2"}, "no accelerator 'N2'"),
        ({"availability": "clowd"}, "no availability 'clowd'"),
        ({"submitter": "Ann", "besides": Selection(system="a9")}, "no system 'a9'"),  # however deep
    ],
)
def test_what_is_left_out_by_a_wrong_name_is_not_passed_over(results, besides, words):
    """It would leave out nothing, in silence."""
    with pytest.raises(SelectionError) as raised:
        narrow(results, select(besides=Selection(**besides)))
    assert words in str(raised.value)
    assert not isinstance(raised.value, NotHeldError)


@pytest.mark.parametrize(
    ("keys", "systems"),
    [
        ({"submitter": "Cid", "besides": Selection(submitter="Ann")}, ["c16"]),  # it has nothing of Ann's
        ({"submitter": "Zed", "besides": Selection(submitter="Ann")}, []),  # nothing is left to leave out
        ({"besides": Selection(round="v4.1", submitter="Ann"), "accelerator": "N1"}, ["a8", "a16", "a32"]),
        ({"round": "any", "accelerator": "N1", "besides": Selection(round="v4.1")}, ["a8", "a16", "a32"]),
    ],
)
def test_leaving_out_what_is_not_there_is_no_error(results, keys, systems):
    """A known name that the selection does not meet leaves it as it is; its round is still held."""
    assert narrow(results, select(**keys))["system"].tolist() == systems


def test_round_that_is_left_out_must_be_held_too(results):
    """It is not known what would be left out."""
    with pytest.raises(NotHeldError, match=r"training_results_v3\.1"):
        narrow(results, select(besides=Selection(round="v3.1")))


def test_category_that_no_result_has_is_named(results):
    """As any other value that none has."""
    with pytest.raises(SelectionError, match="no availability 'preview' in data/"):
        select_one(results, select(availability="Preview"))


@pytest.mark.parametrize("given", ["over 1,0000", "over 9999999999", f"over {10**400}", "over ٣", "over 8.5"])
def test_size_in_words_has_plain_digits(given):
    """No more of them than any system has accelerators."""
    with pytest.raises(SelectionError, match="expected a whole number, or words"):
        parse_size(given)


def test_selection_is_shown_as_it_is_written():
    """With `except` by its own name, so that it can be found in the file."""
    shown = str(Selection(submitter=["Ann", "Bob"], accelerators=8, besides=Selection(round="v5.0")))
    assert shown == "{submitter: [Ann, Bob], accelerators: 8, except: {round: v5.0}}"
