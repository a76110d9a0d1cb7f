"""Tests of `convergence`: what the reference needs to converge, and the factor that follows from it."""

import math

import pandas as pd
import pytest

from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.results.convergence import (
    Point,
    accepted_mean,
    explain_factor,
    find_reference,
    list_points,
    mean_convergence,
    normalise_runs,
    prune_points,
    recompute_factors,
)
from mlperf_claims.results.tables import load_results, load_runs, load_table

inf, nan = math.inf, math.nan


@pytest.mark.parametrize(
    ("values", "drop", "mean"),
    [
        ([30, 10, 20], 1, 20),  # of three the middle one, in any order
        ([10, 20, 40, 90], 1, 30),
        ([10, 20, 40, inf], 1, 30),  # a run that did not converge is the slowest
        ([10, 20, inf, inf], 1, inf),  # with two of them one is averaged
        ([*range(1, 11)], 4, 5.5),  # 1 to 10 without four from each end: 5 and 6
        ([3, 4], 0, 3.5),
        ([3, 4], 1, nan),  # none are left
        ([3], 1, nan),
        ([], 1, nan),
    ],
)
def test_mean_without_the_extremes(values, drop, mean):
    """As many as are dropped go from each end, and the rest are averaged; of none there is no mean."""
    assert mean_convergence(values, drop=drop) == pytest.approx(mean, nan_ok=True)


@pytest.mark.parametrize(
    ("points", "kept"),
    [
        ([(8, 5)], [8]),
        ([(8, 5), (16, 6)], [8, 16]),  # the first and the last have no two neighbours
        ([(4, 6), (8, 5), (16, 6)], [8, 16]),  # 8 needs less than 4, so no batch below 8 is a fast one
        ([(4, 9), (8, 7), (16, 6)], [16]),
        ([(4, 5), (8, 5), (16, 6)], [4, 8, 16]),  # of two as fast the smaller, and 8 is below the line
        ([(0, 0), (1, 2), (2, 2)], [0, 2]),  # 2 is above the 1 halfway
        ([(0, 0), (1, 1), (2, 2)], [0, 1, 2]),  # on the line is not above it
        ([(0, 0), (1, 0.5), (2, 2)], [0, 1, 2]),
        ([(2, 2), (0, 0), (1, 2)], [0, 2]),  # in any order
        # 1 is above the line from 0 to 2 and goes; then 2, above that from 0 to 3
        ([(0, 0), (1, 9), (2, 8), (3, 3)], [0, 3]),
        # 1 lies on the line from 0 to 2 and stays; then 2 goes. From 0 to 3 the line is at 1 over 1, and
        # 1 at 2 is above it, but as in MLCommons' loop there is no step back: no convex envelope
        ([(0, 0), (1, 2), (2, 4), (3, 3)], [0, 1, 3]),
    ],
)
def test_pruning(points, kept):
    """Left are batches not below the fastest, then those not above the line of the neighbours left by then."""
    pruned = prune_points([Point(*point) for point in points])
    assert [point.batch_size for point in pruned] == kept
    assert {point[:2] for point in pruned} <= set(points)


POINTS = [Point(10, 100), Point(20, 120), Point(40, 200)]


@pytest.mark.parametrize(
    ("points", "batch_size", "mean"),
    [
        (POINTS, 10, 100),
        (POINTS, 15, 110),  # halfway
        (POINTS, 20, 120),  # the point itself, at the end of two lines
        (POINTS, 25, 140),  # a quarter of the way from 120 to 200
        (POINTS, 40, 200),
        (POINTS, 5, 100),  # a smaller batch is held to the smallest point
        (POINTS, 41, nan),  # nothing is extrapolated to a larger one
        ([], 10, nan),  # a benchmark without reference
        (POINTS[:1], 10, 100),
        (POINTS[:1], 11, nan),
        (POINTS, nan, nan),  # no batch size, no reference
    ],
)
def test_reference_at_a_batch_size(points, batch_size, mean):
    """A point, the line between two, the smallest for smaller batches; nothing beyond the largest."""
    found = find_reference(points, batch_size)
    assert (found.mean if found else nan) == pytest.approx(mean, nan_ok=True)


@pytest.mark.parametrize(
    ("reference", "runs", "least"),
    [
        # Student's t, one-sided 0.95: 2.920 with 2 degrees of freedom, 1.746 with 16, 1.782 with 12, 2.132 with 4
        (Point(8, 100, 10, 2), 4, 100 - 2.920 * 10),  # two runs counted on either side: √(1/2 + 1/2)
        (Point(8, 100, 10, 10), 10, 100 - 1.746 * 10 * math.sqrt(1 / 8 + 1 / 10)),
        (Point(8, 100, 0, 10), 10, 100),  # a reference that never varies
        (Point(8, 100, 10, 0), 6, 100 - 1.761 * 10 * math.sqrt(1 / 4 + 1 / 12)),  # between points, twice the runs: 14
    ],
)
def test_least_accepted_mean(reference, runs, least):
    """The quantile of Student's t, times the reference's spread, times the error of the two means, below its mean."""
    assert accepted_mean(reference, runs=runs) == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize(("runs_left", "runs"), [(-1, 10), (1, 2), (2, 2)])
def test_too_few_runs_are_no_test(runs_left, runs):
    """A reference of one run, or a benchmark of two, has no least mean, and is no error."""
    assert math.isnan(accepted_mean(Point(8, 100, 10, runs_left), runs=runs))


def test_reference_of_too_few_runs_gives_no_factor():
    """Two reference runs leave none to average, so there is neither a mean nor a factor."""
    key = dict(zip(RESULT_KEY, ("v1", "Org", "box", "tiny"), strict=True))
    runs = pd.DataFrame([key | {"converged_at": at, "global_batch_size": 8} for at in (70, 80, 90)])
    (row,) = recompute_factors(runs, make_reference({8: [100.0] * 2})).to_dict("records")
    assert [math.isnan(row[name]) for name in ("reference_mean", "accepted_mean", "recomputed_factor")] == [True] * 3


def test_spread_of_a_reference_point():
    """Over all runs, the extremes too: 10, 20, 30 and 40 are 15, 5, 5 and 15 from 25, and √(500 / 4) is 11.18."""
    ((point,),) = list_points(make_reference({8: [10, 40, 20, 30]})).values()
    assert point == (8, 25, pytest.approx(11.180, rel=1e-4), 2)


def make_reference(points, *, benchmark="tiny"):
    """Reference runs, for each batch size as given."""
    rows = [("v1", benchmark, size, value) for size, values in points.items() for value in values]
    return pd.DataFrame(rows, columns=["round", "benchmark", "batch_size", "converged_at"])


@pytest.mark.parametrize(
    ("benchmark", "mean"),
    [("tiny", 30.0), ("unet3d", 50.0)],  # 10 20 30 40 900 without one each: 30; nine without four each: the fifth
)
def test_points_are_means_of_their_runs(benchmark, mean):
    """Each batch size is averaged without the extremes, as many of them as the benchmark drops."""
    values = {"tiny": [900, 10, 20, 30, 40], "unet3d": [1, 2, 3, 4, 50, 600, 700, 800, 900]}[benchmark]
    points = list_points(make_reference({8: values}, benchmark=benchmark))
    assert [(key, point[:2]) for key, (point,) in points.items()] == [(("v1", benchmark), (8, mean))]


def test_points_are_pruned_and_kept_by_benchmark():
    """Of 60, 50 and 70 the first is a smaller batch than the fastest; another benchmark does not prune it."""
    tiny = make_reference({8: [60] * 3, 16: [50] * 3, 32: [70] * 3})
    points = list_points(pd.concat([tiny, make_reference({8: [60] * 3}, benchmark="other")]))
    kept = {benchmark: [point[:2] for point in found] for (_, benchmark), found in points.items()}
    assert kept == {"tiny": [(16, 50), (32, 70)], "other": [(8, 60)]}


def factor(converged, sizes, *, benchmark="tiny"):
    """Recompute one result, of which the reference needs 100 at a batch of 8 and 200 at 16."""
    key = dict(zip(RESULT_KEY, ("v1", "Org", "box", benchmark), strict=True))
    runs = pd.DataFrame(
        [key | {"converged_at": c, "global_batch_size": s} for c, s in zip(converged, sizes, strict=True)]
    )
    reference = make_reference({8: [100.0] * 3, 16: [200.0] * 3})
    (row,) = recompute_factors(runs, reference).to_dict("records")
    assert {name: row[name] for name in key} == key
    return row["recomputed_factor"]


@pytest.mark.parametrize(
    ("converged", "size", "expected"),
    [
        ([70, 80, 90], 8, 1.25),  # 100 ÷ 80
        ([110, 120, 130], 12, 1.25),  # halfway 150, ÷ 120
        ([40, 50, 60], 4, 2),  # held to the smallest point
        ([100, 100, 100], 8, 1),
        ([110, 125, 130], 8, 1),  # 100 ÷ 125 is below one
        ([50, 80, nan], 8, 1.25),  # one run that did not converge is the slowest
        ([80, nan, nan], 8, nan),  # two are no mean
        ([80, 80], 8, nan),
        ([70, 80, 90], 17, nan),  # the rules want a point of that size
        ([70, 80, 90], nan, nan),  # not logged
    ],
)
def test_factor(converged, size, expected):
    """Reference over submission, never below one; nan where either is missing."""
    assert factor(converged, [size] * len(converged)) == pytest.approx(expected, nan_ok=True)


def test_factor_of_several_batch_sizes_is_nan():
    """Runs of one result that differ in batch size have no one reference, and say so without an error."""
    assert math.isnan(factor([70, 80, 90], [8, 8, 16]))


def test_factor_without_a_reference_is_nan():
    """A benchmark that the reference does not hold has no factor, rather than one."""
    assert math.isnan(factor([70, 80, 90], [8, 8, 8], benchmark="other"))


@pytest.fixture(scope="module")
def of_v50():
    """The v5.0 results with the factor recomputed from their logs."""
    factors = recompute_factors(load_runs(), load_table("reference_convergence"))
    both = load_results().merge(factors, on=list(RESULT_KEY), how="left", validate="one_to_one")
    return both[both["round"] == "v5.0"]


def test_stored_factors_come_out_of_the_logs(of_v50):
    """Every factor that v5.0 stores is the recomputed one to a billionth."""
    stored = of_v50[of_v50["scaling_factor"].notna()]
    assert len(stored) == 101
    assert ((stored["recomputed_factor"] / stored["scaling_factor"] - 1).abs() < 1e-9).all()


def test_results_without_a_stored_factor_have_one(of_v50):
    """Where v5.0 stores none, the recomputed factor is exactly one."""
    bare = of_v50[of_v50["scaling_factor"].isna()]
    assert len(bare) == 100
    assert (bare["recomputed_factor"] == 1).all()


def test_no_submission_converged_sooner_than_accepted(of_v50):
    """What v5.0 published passed the test, so recomputing it must refuse none, also where the mean is close."""
    sooner = of_v50["submission_mean"] < of_v50["accepted_mean"]
    assert of_v50["accepted_mean"].notna().sum() == 201
    assert not sooner.any()
    assert (of_v50["accepted_mean"] <= of_v50["reference_mean"]).all()


def test_run_is_normalised_by_its_own_convergence():
    """Ten minutes to half the reference's samples count twice; to twice as many, once; with no reference, as stored."""
    key = {"round": "v1", "organization": "Org", "system": "s", "benchmark": "b"}
    other = key | {"benchmark": "c"}
    rows = [(key, 50.0, 2.0), (key, 200.0, 2.0), (key, 100.0, 2.0), (other, 50.0, 1.5)]
    runs = pd.DataFrame(
        [one | {"converged_at": at, "scaling_factor": stored, "time_to_train_min": 10.0} for one, at, stored in rows]
    )
    factors = pd.DataFrame([key | {"reference_mean": 100.0}, other | {"reference_mean": math.nan}])
    assert normalise_runs(runs, factors)["normalised_min"].tolist() == [20.0, 10.0, 10.0, 15.0]


@pytest.mark.parametrize(
    ("recomputed", "stored", "division", "accepted", "why"),
    [
        (1.25, 1.25, "closed", True, ""),
        (1.0, nan, "closed", True, ""),  # none is stored, and none is due
        (1.25, nan, "open", True, "open division"),
        (nan, 1.25, "closed", True, "no reference"),
        (188.9, 1.12, "closed", True, "another unit"),  # samples against epochs
        (1.02, nan, "closed", True, "not normalised"),
        (1.074063, 1.074, "closed", True, "rounded"),
        (1.128535, 1.12854, "closed", False, "sooner than is accepted without review"),
        (1.0325, 1.0371, "closed", True, "another reference mean"),
    ],
)
def test_difference_of_factors_is_explained(recomputed, stored, division, accepted, why):
    """Each way in which a stored factor may differ has its words, and one that agrees has none."""
    said = explain_factor(recomputed, stored, division=division, accepted=accepted)
    assert why in said
    assert bool(said) == bool(why)
