"""Tests of `scores`: which runs count, and what score follows from them."""

import csv
import math
from collections import Counter

import pandas as pd
import pytest

from mlperf_claims import paths
from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.results.tables import load_results, load_runs
from mlperf_claims.results.training import ScoreError, accelerators_for, mark_runs, score_olympic_min, score_results

inf, nan = math.inf, math.nan
ORACLE = paths.ROOT.parent / "shared" / "oracle"
MINUTE_MS = 60_000


@pytest.mark.parametrize(
    ("minutes", "drop", "score"),
    [
        ([10, 20, 30], 1, 20),  # of three runs the middle one
        ([30, 10, 20], 1, 20),  # in any order
        ([10, 20, 30, 40], 1, 25),
        ([10, 20, 30, inf], 1, 25),  # one failed run counts as slowest
        ([5, 5, 5], 1, 5),  # of equal runs just one is dropped from each end
        ([7, 7, 8, 9, 9], 1, 8),
        ([*range(1, 11)], 4, 5.5),  # 1 to 10 without four from each end: 5 and 6
        ([1, 2, 3, 4, 50, 60, inf, inf, inf, inf], 4, 55),  # four may fail where four are dropped
        ([3, 4], 0, 3.5),  # nothing dropped
    ],
)
def test_olympic_score(minutes, drop, score):
    """The extremes are dropped and the rest averaged."""
    assert score_olympic_min(minutes, drop=drop) == score


@pytest.mark.parametrize(
    ("minutes", "drop", "message"),
    [
        ([10, 20, 30, inf, inf], 1, "2 runs do not count, expected at most 1"),
        ([10, inf, inf], 1, "2 runs do not count, expected at most 1"),
        ([*range(5), *[inf] * 5], 4, "5 runs do not count, expected at most 4"),
        ([inf], 0, "1 runs do not count, expected at most 0"),
        ([10, 20], 1, "2 runs, expected more than 2"),
        ([], 1, "0 runs, expected more than 2"),
        ([*range(8)], 4, "8 runs, expected more than 8"),
        ([nan, 5, 1], 1, "nan"),  # a time that is missing is neither fast nor slow
        ([1, 2, nan], 1, "nan"),
    ],
)
def test_runs_without_a_score(minutes, drop, message):
    """Too few runs, or too many that failed, give no score, and the error counts them."""
    with pytest.raises(ScoreError, match=message):
        score_olympic_min(minutes, drop=drop)


def test_score_leaves_its_argument_alone():
    """The caller's list is not sorted in place."""
    minutes = [3, 1, 2]
    score_olympic_min(minutes)
    assert minutes == [3, 1, 2]


@pytest.fixture
def make():
    """A function: minutes of runs → (results, runs) of one result, each run as its change says."""

    def make_tables(minutes, *, changes=None, benchmark="tiny", **of_result):
        key = dict(zip(RESULT_KEY, ("v1", "Org", "box", benchmark), strict=True))
        result = key | {"division": "closed", "accelerators_total": 8, "scaling_factor": nan}
        result |= {"logs": len(minutes), "logs_absent": 0} | of_result
        runs = [
            key
            | {"run": str(number), "status": "success", "problem": "", "time_to_train_min": float(minute)}
            | {"init_start_ms": 0.0, "init_stop_ms": 0.0}
            | {"converged_at": 100.0, "convergence_unit": "samples_count"}
            | (changes or {}).get(number, {})
            for number, minute in enumerate(minutes)
        ]
        return pd.DataFrame([result]), pd.DataFrame(runs)

    return make_tables


def score(results, runs):
    return score_results(results, mark_runs(runs, results)).iloc[0]


UNREAD = {"problem": "no run_stop, expected exactly one", "status": "", "time_to_train_min": nan}


@pytest.mark.parametrize(
    ("change", "division", "why"),
    [
        ({}, "closed", ""),
        ({"status": "aborted"}, "closed", "aborted"),
        (UNREAD, "closed", "no run_stop, expected exactly one"),
        ({"init_stop_ms": 29.9 * MINUTE_MS}, "closed", ""),
        ({"init_stop_ms": 31.5 * MINUTE_MS}, "closed", "initialised for 31.5 min, longer"),
        ({"init_stop_ms": 31.5 * MINUTE_MS}, "open", ""),  # the open division has 240 minutes
        ({"init_stop_ms": 239.9 * MINUTE_MS}, "open", ""),
        ({"init_stop_ms": 241 * MINUTE_MS}, "open", "initialised for 241.0 min, longer"),
        ({"init_start_ms": 5 * MINUTE_MS, "init_stop_ms": 34 * MINUTE_MS}, "closed", ""),  # took 29
        ({"init_start_ms": nan}, "closed", ""),  # not logged, so not known to be too long
        ({"status": "aborted", "init_stop_ms": 31 * MINUTE_MS}, "closed", "aborted"),  # the first reason
    ],
)
def test_run_counts_or_says_why_not(make, change, division, why):
    """A run that was aborted, is unreadable or initialised too long does not count, and says so."""
    results, runs = make([10, 20, 30], changes={1: change}, division=division)
    not_counted = mark_runs(runs, results)["not_counted"].tolist()
    assert [not_counted[0], not_counted[2]] == ["", ""]
    assert not_counted[1].startswith(why)
    assert bool(not_counted[1]) == bool(why)


@pytest.mark.parametrize(
    ("minutes", "benchmark", "averaged"),
    [
        ([30, 10, 20], "tiny", "..x"),  # by time and not by number
        ([10, 20, 30, 40], "tiny", ".xx."),
        ([5, 5, 5], "tiny", ".x."),  # of equal runs just one is dropped from each end
        ([*range(1, 11)], "unet3d", "....xx...."),  # four from each end
        ([*range(1, 11)], "maskrcnn", ".xxxxxxxx."),
    ],
)
def test_averaged_are_the_runs_between_the_extremes(make, minutes, benchmark, averaged):
    """The runs flagged as averaged are those whose mean is the score."""
    results, runs = make(minutes, benchmark=benchmark)
    marked = mark_runs(runs, results)
    assert "".join(".x"[flag] for flag in marked["averaged"]) == averaged
    mean = marked.loc[marked["averaged"], "time_to_train_min"].mean()
    assert score(results, runs)["wall_clock_min"] == mean


def test_uncounted_run_is_the_slowest_whatever_its_time(make):
    """An aborted run of one minute takes the place of the slowest, so 30 is averaged and 20 dropped."""
    results, runs = make([1, 20, 30, 40], changes={0: {"status": "aborted"}})
    assert mark_runs(runs, results)["averaged"].tolist() == [False, False, True, True]
    assert score(results, runs)["wall_clock_min"] == 35


@pytest.mark.parametrize(("factor", "official"), [(nan, 20), (1.25, 25), (0.5, 10)])
def test_factor_multiplies_the_wall_clock(make, factor, official):
    """Official is wall clock times factor, 1 where none is stored."""
    results, runs = make([10, 20, 30], scaling_factor=factor)
    scored = score(results, runs)
    assert (scored["wall_clock_min"], scored["official_min"]) == (20, official)


@pytest.mark.parametrize(
    ("benchmark", "minutes", "absent", "no_score"),
    [
        ("gpt3", [1, 2, 3], 0, ""),  # three runs, as its rules want
        ("gpt3", [1, 2], 1, "2 of 3 logs are there, too few"),
        ("tiny", [1, 2, 3], 1, ""),  # no rule: three leave one to average
        ("tiny", [1, 2, 3, 4], 0, ""),
    ],
)
def test_result_with_absent_logs_needs_enough_of_them(make, benchmark, minutes, absent, no_score):
    """A result of which too many logs are absent has no score, and says how many are there."""
    results, runs = make(minutes, benchmark=benchmark, logs=len(minutes) + absent, logs_absent=absent)
    scored = score(results, runs)
    assert scored["no_score"] == no_score
    assert (scored["official_min"] > 0) == (no_score == "")


def test_throughput_is_that_of_the_averaged_runs(make):
    """Of four runs the middle two needed 100 + 200 samples in 20 + 30 minutes: 6 a minute."""
    changes = {0: {"converged_at": 1e9}, 2: {"converged_at": 200.0}, 3: {"converged_at": 1e9}}
    assert score(*make([10, 20, 30, 40], changes=changes))["samples_per_min"] == 6


@pytest.mark.parametrize(
    "change",
    [
        {"convergence_unit": "epoch_num"},  # epochs are no samples
        {"convergence_unit": "", "converged_at": nan},  # not logged
        {"converged_at": nan},  # a missing number is no zero in the sum
    ],
)
def test_throughput_is_missing_where_samples_are(make, change):
    """Without the samples of every averaged run there is no throughput, and still a score."""
    scored = score(*make([10, 20, 30, 40], changes={1: change}))
    assert math.isnan(scored["samples_per_min"])
    assert scored["wall_clock_min"] == 25


def test_result_without_a_score_says_why(make):
    """Two failed runs of five leave no score, and the result counts them."""
    aborted = {"status": "aborted"}
    scored = score(*make([10, 20, 30, 40, 50], changes={0: aborted, 3: UNREAD}))
    assert scored["no_score"] == "2 runs do not count, expected at most 1"
    assert scored["runs_not_counted"] == 2
    assert math.isnan(scored["official_min"])


@pytest.mark.parametrize("others", [0, 1])  # no other result has runs either; one has
def test_result_without_a_log_says_so(make, others):
    """A result of which no log is there has no score, rather than none being listed."""
    results, runs = make([10, 20, 30])
    lonely = results.assign(system="lonely")
    both = pd.concat([results, lonely]) if others else lonely
    runs = runs if others else runs.iloc[:0]
    scored = score_results(both, mark_runs(runs, both)).set_index("system")
    assert scored.loc["lonely", "no_score"] == "no log could be read"


def test_frames_of_the_caller_are_left_alone(make):
    """Marking and scoring return new frames."""
    results, runs = make([10, 20, 30])
    before = results.copy(), runs.copy()
    score(results, runs)
    pd.testing.assert_frame_equal(results, before[0])
    pd.testing.assert_frame_equal(runs, before[1])


def curve(*points):
    return pd.DataFrame(points, columns=["accelerators_total", "official_min"])


HALVING = curve((8, 4.0), (16, 2.0), (64, 1.0))


@pytest.mark.parametrize(
    ("minutes", "accelerators"),
    [
        (4, 8),  # a size that was measured is itself
        (2, 16),  # where two stretches meet
        (1, 64),
        (2.828, 11.31),  # halfway in logarithms: 4 ÷ √2 minutes at 8 × √2
        (2**0.5, 32),  # between 16 and 64 the size grows fourfold while the time halves
        (4.01, nan),  # slower than the smallest size
        (0.99, nan),  # faster than the largest
    ],
)
def test_size_on_a_scaling_curve(minutes, accelerators):
    """Between two sizes the curve is straight in logarithms of both; nothing is extrapolated."""
    assert accelerators_for(HALVING, minutes) == pytest.approx(accelerators, rel=1e-3, nan_ok=True)


def test_scaling_curve_is_read_in_order_of_size():
    """The order of the rows does not matter, and the caller's frame keeps it."""
    shuffled = HALVING.iloc[[1, 0, 2]]
    before = shuffled.copy()
    assert accelerators_for(shuffled, 2.828) == pytest.approx(11.31, rel=1e-3)
    pd.testing.assert_frame_equal(shuffled, before)


def test_scaling_curve_of_the_score_that_is_asked_for():
    """The curve is that of the column named, here twice as fast on the wall clock."""
    both = HALVING.assign(wall_clock_min=HALVING["official_min"] / 2)
    assert accelerators_for(both, 2, score="wall_clock_min") == 8


def test_scaling_curve_that_rises_is_met_where_it_is_first_reached():
    """A larger size may be slower; the smallest that reaches the time is the answer."""
    assert accelerators_for(curve((8, 4.0), (16, 2.0), (32, 3.0), (64, 1.5)), 2) == 16


@pytest.mark.parametrize("points", [(), ((8, 4.0),)])
def test_scaling_curve_needs_two_sizes(points):
    """One size has no curve, so a time off it is nowhere."""
    assert math.isnan(accelerators_for(curve(*points), 3))


@pytest.fixture(scope="module")
def scored():
    """Every committed result, scored."""
    results = load_results()
    return score_results(results, mark_runs(load_runs(), results))


def test_committed_data_score(scored):
    """Every committed result has a score or says why not, and no run of unknown status counts."""
    runs = mark_runs(load_runs(), load_results())
    assert ((scored["no_score"] != "") == scored["official_min"].isna()).all()
    assert set(runs.loc[runs["not_counted"] == "", "status"]) == {"success"}


@pytest.mark.skipif(not ORACLE.is_dir(), reason=f"the official scores are not at {ORACLE}")
@pytest.mark.parametrize(
    ("round_", "published", "lacking"),
    [
        ("v3.0", 259, {"Lenovo": 1}),  # BERT, whose logs lack a hyperparameter that the compliance checker requires
        ("v3.1", 209, {}),
        # of Juniper the logs are absent; of Supermicro it has none, in any of its three folders
        ("v4.0", 165, {"JuniperNetworks": 3, "smc": 13, "smc-ac-power": 12, "smc-dc-power": 12}),
        # of Clemson the logs are absent; of Lambda it has none, of whose logs three are cut
        ("v4.1", 147, {"Clemson": 1, "Lambda": 6}),
        ("v5.0", 201, {}),
        ("v5.1", 184, {"Dell": 1}),  # the logs are absent
    ],
)
def test_official_scores_are_those_that_mlcommons_published(scored, round_, published, lacking):
    """Every published score comes out of the logs to a billionth, and which of ours are not published is known."""
    with (ORACLE / f"scores-{round_}.csv").open(newline="", encoding="utf-8") as stream:
        scores = {
            tuple(row[key] for key in RESULT_KEY): float(row["official_score_min"]) for row in csv.DictReader(stream)
        }
    ours = scored[scored["round"] == round_].set_index(list(RESULT_KEY))["official_min"].to_dict()
    assert len(scores) == published
    assert [key for key in scores if not math.isclose(ours.get(key, nan), scores[key], rel_tol=1e-9)] == []
    assert Counter(organization for _, organization, *_ in ours.keys() - scores.keys()) == lacking


def test_results_without_a_score_are_those_without_logs(scored):
    """In all six rounds just the five results of which every log is absent have no score."""
    without = scored[scored["no_score"] != ""]
    assert without["no_score"].tolist() == ["0 of 10 logs are there, too few"] * 5
    assert without["organization"].tolist() == [*["JuniperNetworks"] * 3, "Clemson", "Dell"]
