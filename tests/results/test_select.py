"""Tests of `submissions`: which submissions a claim selects, and what is said where it does not."""

import pandas as pd
import pytest

from mlperf_claims.claims.articles import Article, Claim, parse_stated
from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.results.select import (
    SelectionError,
    describe_differences,
    filter_submissions,
    join_runs,
    join_sizes,
    load_submissions,
    match_peaks,
    match_sizes,
    rank_at_sizes,
    select_alternatives,
    select_fields,
    select_pairs,
    select_rates,
    select_subjects,
    select_submission,
    take_role,
)

SCOPE = {"round": "v1", "benchmark": "tiny", "division": "closed"}
COLUMNS = ("system", "submitter", "accelerator", "accelerators_total", "official_min", "no_score")
ROWS = [  # a fast and a slow series, and one size without a score
    ("a8", "Ann", "New N1", 8, 40.0, ""),
    ("a16", "Ann", "New N1", 16, 20.0, ""),
    ("a32", "Ann", "New N1", 32, 11.0, ""),
    ("b8", "Bob", "Old O1 80GB", 8, 80.0, ""),
    ("b16", "Bob", "Old O1 80GB", 16, 44.0, ""),
    ("c16", "Cid", "Old O2", 16, 42.0, ""),
    ("d64", "Dan", "Old O2", 64, None, "2 runs do not count, expected at most 1"),
]


@pytest.fixture
def submissions():
    """Seven made-up submissions of one benchmark, and one of them in another round too."""
    frame = pd.DataFrame(ROWS, columns=COLUMNS).assign(
        **SCOPE, organization="org", availability="onprem", framework="F 1"
    )
    frame["official_min"] = frame["official_min"].astype("float64")
    older = frame.iloc[:1].assign(round="v0", official_min=50.0)
    return pd.concat([frame, older], ignore_index=True).astype({"accelerators_total": "Int64"})


def claim(id_="c", **fields):
    scoped = {key: SCOPE | value if key in ("subject", "baseline", "field") else value for key, value in fields.items()}
    return Claim(id_, "says", "speedup", parse_stated("2x"), fields=scoped)


@pytest.mark.parametrize(
    ("selection", "systems"),
    [
        ({}, ["a8", "a16", "a32", "b8", "b16", "c16", "d64"]),
        ({"submitter": "Bob"}, ["b8", "b16"]),
        ({"submitter": "bob"}, []),  # names are compared exactly
        ({"accelerators": 16}, ["a16", "b16", "c16"]),
        ({"accelerator": "O1"}, ["b8", "b16"]),  # part of the name is enough
        ({"accelerator": ["O1", "O2"]}, ["b8", "b16", "c16", "d64"]),  # one of a list
        ({"accelerator": "O."}, []),  # text, and no pattern
        ({"accelerator": "N1", "accelerators": 32}, ["a32"]),
        ({"system": "c16"}, ["c16"]),
        ({"division": "open"}, []),
        ({"submitter": "Ann", "pick": "fastest"}, ["a8", "a16", "a32"]),  # filtering does not pick
    ],
)
def test_filter_keeps_what_meets_every_condition(submissions, selection, systems):
    """A submission is kept if it meets every condition of the selection."""
    assert filter_submissions(submissions, SCOPE | selection)["system"].tolist() == systems


@pytest.mark.parametrize(
    ("selection", "system"),
    [
        ({"submitter": "Ann", "accelerators": 32}, "a32"),
        ({"accelerator": "Old", "pick": "fastest"}, "c16"),  # 42 of 80, 44, 42; without a score never fastest
        ({"submitter": "Ann", "pick": "fastest"}, "a32"),
        ({"submitter": "Ann", "round": "v0"}, "a8"),
    ],
)
def test_selection_meets_exactly_one(submissions, selection, system):
    """The one submission met is returned, or of several the fastest where that is asked."""
    assert select_submission(submissions, SCOPE | selection)["system"] == system


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        ({"submitter": "Ann"}, ["3 submissions", "a8", "a16", "a32"]),
        ({"submitter": "Ann", "accelerators": 12}, ["no submission", "Ann, New N1, 8, a8"]),
        ({"submitter": "Zed", "pick": "fastest"}, ["no submission", "Zed"]),
        ({"submitter": "Dan"}, ["without a score: 2 runs do not count", "d64"]),
        ({"submitter": "Dan", "pick": "fastest"}, ["without a score: 2 runs do not count"]),
        ({"submitter": "Ann", "accelerators": "2,496"}, ["no submission", "2,496"]),  # text for a number
        ({"accelerator": 100}, ["no submission", "100"]),  # a number for text
        ({"accelerator": []}, ["no submission"]),  # any of nothing
    ],
)
def test_selection_of_none_or_several_says_so(submissions, selection, words):
    """The error says what was asked, how many met it, and which are near."""
    with pytest.raises(SelectionError) as raised:
        select_submission(submissions, SCOPE | selection)
    assert [word for word in words if word not in str(raised.value)] == []


def test_nearest_come_first(submissions):
    """Of the candidates those that miss the fewest conditions come first, the nearest in size before."""
    wanted = SCOPE | {"submitter": "Bob", "accelerator": "O1", "accelerators": 15}
    with pytest.raises(SelectionError) as raised:
        select_submission(submissions, wanted)
    nearest = [line.split(", ")[-1] for line in str(raised.value).splitlines()[1:]]
    assert nearest[:2] == ["b16", "b8"]
    assert len(nearest) == 5


def test_tie_for_the_fastest_is_several(submissions):
    """Two submissions with the same best score are not told apart by their order in the file."""
    tied = submissions.assign(official_min=submissions["official_min"].replace(44.0, 42.0))
    with pytest.raises(SelectionError, match="2 submissions, expected exactly one"):
        select_submission(tied, SCOPE | {"accelerator": "Old", "pick": "fastest"})


def test_unknown_condition_is_not_passed_over(submissions):
    """A misspelt condition is an error, and does not widen the selection."""
    with pytest.raises((SelectionError, KeyError, ValueError)):
        filter_submissions(submissions, SCOPE | {"submiter": "Ann"})


def test_subjects_are_one_row_per_claim(submissions):
    """Each claim has its subject's columns under a prefix."""
    claims = [claim(str(size), subject={"submitter": "Ann", "accelerators": size}) for size in (8, 32)]
    frame = select_subjects(claims, submissions)
    assert frame[["claim", "subject_system"]].to_numpy().tolist() == [["8", "a8"], ["32", "a32"]]


def pair_systems(frame):
    return list(zip(frame["subject_system"], frame["baseline_system"], strict=True))


def test_pair_is_a_subject_and_its_baseline(submissions):
    """A comparison is one row, both submissions beside each other."""
    one = claim(subject={"system": "a16"}, baseline={"accelerator": "Old", "accelerators": 8})
    assert pair_systems(select_pairs([one], submissions)) == [("a16", "b8")]


def test_same_size_pairs_every_baseline_of_a_shared_size(submissions):
    """At 8 there is one baseline and at 16 two; 32 and 64 are on one side only."""
    same = claim(subject={"submitter": "Ann"}, baseline={"accelerator": "Old"}, pairs="same size")
    assert pair_systems(select_pairs([same], submissions)) == [("a8", "b8"), ("a16", "b16"), ("a16", "c16")]


def test_same_size_without_a_shared_size_is_an_error(submissions):
    """A claim of sizes that no two submissions share compares nothing."""
    same = claim("none", subject={"system": "a32"}, baseline={"system": "d64"}, pairs="same size")
    with pytest.raises(SelectionError, match=r"none: .*system: a32.* and .*system: d64.* share no size"):
        select_pairs([same], submissions)


def test_same_size_baseline_without_a_score_is_an_error(submissions):
    """A baseline that has no score is not compared as if it had one."""
    grown = submissions.assign(accelerators_total=submissions["accelerators_total"].replace(32, 64))
    same = claim(subject={"submitter": "Ann"}, baseline={"submitter": "Dan"}, pairs="same size")
    with pytest.raises(SelectionError, match="without a score: 2 runs do not count"):
        select_pairs([same], grown)


def test_rates_join_a_claim_with_the_speedup_it_rests_on(submissions):
    """A claim's own subject stands beside the pair of another claim."""
    rate = claim("rate", subject={"system": "a16"}, baseline={"system": "b16"})
    resting = claim("rests", subject={"system": "a32"}, speedup="rate")
    article = Article("n", "t", "p", "d", "s", **SCOPE, assumptions={}, claims=(rate, resting))
    row = select_rates([resting], article, submissions).iloc[0]
    assert (row["claim"], row["subject_system"]) == ("rests", "a32")
    assert (row["rate_subject_system"], row["rate_baseline_system"]) == ("a16", "b16")


@pytest.mark.parametrize(
    ("subject", "rate", "message"),
    [
        ({"system": "zed"}, {"system": "b16"}, "system: zed.* meets no submission"),
        ({"system": "a32"}, {"submitter": "Bob"}, "submitter: Bob.* meets 2 submissions"),
    ],
)
def test_rates_need_one_submission_in_each_role(submissions, subject, rate, message):
    """A rate of several pairs, or of none, multiplies nothing."""
    claims = claim("rate", subject={"system": "a16"}, baseline=rate), claim("rests", subject=subject, speedup="rate")
    article = Article("n", "t", "p", "d", "s", **SCOPE, assumptions={}, claims=claims)
    with pytest.raises(SelectionError, match=message):
        select_rates(claims[1:], article, submissions)


@pytest.mark.parametrize(
    ("field", "systems", "own"),
    [
        ({}, ["a8", "a16", "a32", "b8", "b16", "c16", "d64"], [True] * 3 + [False] * 4),  # the subject too
        ({"accelerator": "Old"}, ["b8", "b16", "c16", "d64"], [False] * 4),  # d64 has a size, if no score
        ({"submitter": "Ann"}, ["a8", "a16", "a32"], [True] * 3),  # of its own round only
    ],
)
def test_field_stands_beside_the_subject(submissions, field, systems, own):
    """Every submission of the field is a row, flagged where it is of the subject's submitter."""
    frame = select_fields([claim(subject={"system": "a16"}, field=field)], submissions)
    assert frame["baseline_system"].tolist() == systems
    assert frame["own"].tolist() == own
    assert set(frame["subject_system"]) == {"a16"}


def test_alternatives_are_named_readings_of_a_claim(submissions):
    """Each other pair is a row with the name of its reading; a claim without has none."""
    pairs = {"b": ({"system": "a8"}, {"system": "b8"}), "c": ({"system": "a16"}, {"system": "c16"})}
    also = {name: {"subject": SCOPE | one, "baseline": SCOPE | other} for name, (one, other) in pairs.items()}
    plain = {"subject": {"system": "a32"}, "baseline": {"system": "b16"}}
    frame = select_alternatives([claim("with", **plain, also=also), claim("without", **plain)], submissions)
    assert frame[["claim", "reading"]].to_numpy().tolist() == [["with", "b"], ["with", "c"]]
    assert pair_systems(frame) == [("a8", "b8"), ("a16", "c16")]


def test_sizes_are_the_subject_s_own_series(submissions):
    """Every size of the same submitter, accelerator and round is joined, smallest first."""
    pairs = select_pairs([claim(subject={"system": "a32"}, baseline={"system": "a8"})], submissions)
    assert join_sizes(pairs, submissions)["system"].tolist() == ["a8", "a16", "a32"]


@pytest.mark.parametrize("column", ["round", "benchmark", "division", "submitter", "accelerator"])
def test_sizes_of_another_series_are_not_joined(submissions, column):
    """A submission that differs in one of these is another series."""
    changed = submissions.copy()
    changed.loc[changed["system"] == "a16", column] = "different"
    pairs = select_pairs([claim(subject={"system": "a32"}, baseline={"system": "b8"})], changed)
    assert join_sizes(pairs, changed)["system"].tolist() == ["a8", "a32"]


def test_sizes_are_joined_to_each_comparison(submissions):
    """Two comparisons have their sizes each, with their own baseline beside them."""
    roles = {"y": ("b8", "a8"), "x": ("b16", "c16")}
    claims = [claim(id_, subject={"system": a}, baseline={"system": b}) for id_, (a, b) in roles.items()]
    joined = join_sizes(select_pairs(claims, submissions), submissions)
    rows = joined[["claim", "system", "baseline_system"]].to_numpy().tolist()
    assert rows == [["x", "b8", "c16"], ["x", "b16", "c16"], ["y", "b8", "a8"], ["y", "b16", "a8"]]


@pytest.mark.parametrize(
    ("official", "wall_clock", "score", "accelerators"),
    [
        ((80 * 44) ** 0.5, 1.0, "official_min", 128**0.5),  # halfway in logarithms between 8 and 16
        (80.0, 1.0, "official_min", 8),
        (20.0, 1.0, "official_min", None),  # Bob's are at 44 and slower; Cid's and Ann's series are others
        (1.0, 22.0, "wall_clock_min", 16),  # half of 44
    ],
)
def test_sizes_are_matched_on_the_baseline_s_curve(submissions, official, wall_clock, score, accelerators):
    """The subject's time is read off the series of the rate's baseline, of the score that is asked for."""
    timed = submissions.assign(wall_clock_min=submissions["official_min"] / 2)
    timed.loc[timed["system"] == "a32", ["official_min", "wall_clock_min"]] = official, wall_clock
    rate = claim("rate", subject={"system": "a16"}, baseline={"system": "b16"})
    resting = claim("rests", subject={"system": "a32"}, speedup="rate")
    article = Article("n", "t", "p", "d", "s", **SCOPE, assumptions={}, claims=(rate, resting))
    (found,) = match_sizes(select_rates([resting], article, timed), timed, score=score)
    assert found == pytest.approx(float(accelerators or "nan"), nan_ok=True)


def test_peaks_are_those_of_the_accelerator(submissions):
    """A peak goes by the part of the name that it gives; where none is known it is missing, and no row is lost."""
    peaks = pd.DataFrame({"accelerator": ["O1", "N1"], "peak": [5.0, 9.0], "source": ["page", "sheet"]})
    matched = match_peaks(submissions.assign(source="paper"), peaks)
    assert matched["system"].tolist() == submissions["system"].tolist()
    assert matched["peak"].fillna(0).tolist() == [9, 9, 9, 5, 5, 0, 0, 9]
    assert matched.loc[3, ["source_model", "source_peak"]].tolist() == ["paper", "page"]


@pytest.mark.parametrize(
    ("subject", "field", "pairs"),
    [
        # at 8 and 16 others are as large; 32 lies between the 16 of two and the 64 of one
        ({"submitter": "Ann"}, {}, ["a8 b8", "a16 b16", "a16 c16", "a32 b16", "a32 c16", "a32 d64"]),
        ({"submitter": "Bob"}, {"accelerator": "Old"}, ["b8 c16", "b16 c16"]),  # none is smaller than 8
        ({"submitter": "Dan"}, {"submitter": "Ann"}, ["d64 a32"]),  # none is larger than 64
        ({"submitter": "Ann"}, {"accelerator": "N1"}, []),  # never against its own
    ],
)
def test_nearest_sizes_of_others(submissions, subject, field, pairs):
    """Each size meets others of that size, or else those of the next smaller and the next larger one."""
    scored = submissions.assign(official_min=submissions["official_min"].fillna(9.0), no_score="")
    ranked = rank_at_sizes([claim(subject=subject, field=field)], scored)
    assert [" ".join(pair) for pair in (pair_systems(ranked) if len(ranked) else [])] == pairs


def test_role_is_taken_without_its_prefix():
    """`baseline` is not mistaken for `rate_baseline`."""
    row = pd.Series({"claim": "c", "baseline_system": "b8", "rate_baseline_system": "a8"})
    assert take_role(row, "baseline").to_dict() == {"system": "b8"}
    assert take_role(row, "rate_baseline").to_dict() == {"system": "a8"}


@pytest.fixture
def runs(submissions):
    """Two counted runs of each submission and one that does not count, at 1, 2 and 9 minutes."""
    each = submissions[list(RESULT_KEY)].merge(pd.DataFrame({"run": ["0", "1", "2"]}), how="cross")
    minutes = each["run"].map({"0": 1.0, "1": 2.0, "2": 9.0})
    not_counted = each["run"].map({"0": "", "1": "", "2": "aborted"})
    return each.assign(time_to_train_min=minutes, normalised_min=minutes * 10, not_counted=not_counted)


def test_runs_of_both_are_joined_each_with_each(submissions, runs):
    """Two counted runs of either side make four rows; the aborted ones make none."""
    pairs = select_pairs([claim(subject={"system": "a8"}, baseline={"system": "b8"})], submissions)
    joined = join_runs(pairs, runs)
    times = joined[["subject_run_min", "baseline_run_wall_clock_min"]].to_numpy().tolist()
    assert times == [[10, 1], [10, 2], [20, 1], [20, 2]]


def test_runs_of_a_subject_alone(submissions, runs):
    """Without a baseline there is a row for each counted run of the subject, of its own round only."""
    subjects = select_subjects([claim(subject={"system": "a8"})], submissions)
    assert join_runs(subjects, runs)["subject_run_min"].tolist() == [10, 20]


def test_differences_are_named_as_the_guidelines_want(submissions):
    """Accelerators, their number, submitter and round are named where they differ, and only there."""
    older, other = submissions.iloc[7], submissions.iloc[4]
    assert describe_differences(older, other) == (
        "round: v0 against v1",
        "accelerator count: 8 against 16",
        "accelerator: New N1 against Old O1 80GB",
        "submitter: Ann against Bob",
    )


@pytest.mark.parametrize("column", ["division", "availability", "framework"])
def test_differences_name_the_other_columns_too(submissions, column):
    """Division, category and software are named where they differ."""
    one = submissions.iloc[0]
    other = one.copy()
    other[column] = "different"
    assert [line.endswith(f"{one[column]} against different") for line in describe_differences(one, other)] == [True]


def test_no_difference_is_no_text(submissions):
    """A submission does not differ from itself."""
    assert describe_differences(submissions.iloc[0], submissions.iloc[0]) == ()


def test_committed_submissions_carry_the_commit_they_came_from():
    """Every submission has the repository and the commit of its round."""
    submissions, runs = load_submissions()
    assert submissions["commit"].str.fullmatch("[0-9a-f]{40}").all()
    assert submissions["repository"].str.startswith("https://").all()
    assert len(runs) > len(submissions)
