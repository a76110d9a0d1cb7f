"""Recompute the factor that normalises a score: reference convergence over the submission's own."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import pstdev
from typing import NamedTuple

import pandas as pd
from scipy.special import stdtrit

from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.results.benchmarks import rule_of

# Source of the procedure: MLPerf training_rules.adoc, "Reference Convergence Points", and MLCommons' `rcp_checker`.
SIGNIFICANCE = 0.05  # of the test whether a submission converged too soon
OTHER_UNIT = 10.0  # no submission converges so much sooner; samples against epochs do


class Point(NamedTuple):
    """A reference convergence point: at this batch size the reference needs this much training."""

    batch_size: float  # samples
    mean: float  # samples, epochs or steps, as the benchmark counts
    std: float = 0.0  # over all its runs, in the same unit
    runs: int = 0  # that the mean is over; 0 between two points


def mean_convergence(values: Sequence[float], *, drop: int) -> float:
    """Average runs without the `drop` fastest and slowest to converge; nan if none are left.

    Args:
        values: samples, epochs or steps to converge; math.inf for a run that did not.
    """
    kept = sorted(values)[drop : len(values) - drop]
    return sum(kept) / len(kept) if kept else math.nan


def prune_points(points: Sequence[Point]) -> list[Point]:
    """Keep the points that converge fast for their batch size, smallest batch first.

    Dropped are those with a smaller batch than the fastest-converging point, then, from the
    smallest on, each that is slower than the straight line between its two neighbours.
    """
    fastest = min(points, key=lambda point: point.mean)
    kept = sorted(point for point in points if point.batch_size >= fastest.batch_size)
    index = 1
    while index < len(kept) - 1:
        low, point, high = kept[index - 1 : index + 2]
        if point.mean > interpolate(low, high, point.batch_size).mean:
            del kept[index]
        else:
            index += 1
    return kept


def interpolate(low: Point, high: Point, batch_size: float) -> Point:
    """Return the point at a batch size on the straight line through two others."""
    share = (batch_size - low.batch_size) / (high.batch_size - low.batch_size)
    return Point(batch_size, low.mean + share * (high.mean - low.mean), low.std + share * (high.std - low.std))


def find_reference(points: Sequence[Point], batch_size: float) -> Point | None:
    """Find what the reference needs to converge at a batch size.

    Args:
        points: as `prune_points` gives them.
    Returns: the point itself, the line between two, or the smallest point for a smaller batch; None
        for a batch larger than any point, for which the rules want a new one.
    """
    if not points or not batch_size <= points[-1].batch_size:  # nor is nan
        return None
    if batch_size <= points[0].batch_size:
        return points[0]
    low, high = next(pair for pair in pairwise(points) if batch_size <= pair[1].batch_size)
    return high if batch_size == high.batch_size else interpolate(low, high, batch_size)


def accepted_mean(reference: Point, *, runs: int) -> float:
    """Return the least mean convergence that the rules accept beside a reference.

    A submission below it is refused, or reviewed: by a one-sided t-test at p = 0.05 it converged
    sooner than the reference would by chance, were its runs as spread as those of the reference.

    Args:
        runs: that a submission of the benchmark has.
    Returns: nan where there are too few runs for a test.
    """
    counted, of_reference = runs - 2, reference.runs or 2 * runs  # as in `rcp_checker`, also where four are dropped
    if counted < 1 or of_reference < 1 or counted + of_reference < 3:
        return math.nan
    quantile = float(stdtrit(counted + of_reference - 2, 1 - SIGNIFICANCE))
    return reference.mean - quantile * reference.std * math.sqrt(1 / counted + 1 / of_reference)


def list_points(reference: pd.DataFrame) -> dict[tuple[str, str], list[Point]]:
    """Return the pruned points of each (round, benchmark) from `reference_convergence`."""
    means = reference.groupby(["round", "benchmark", "batch_size"])["converged_at"].agg(list)
    points: dict[tuple[str, str], list[Point]] = {}
    for (round_, benchmark, batch_size), values in means.items():
        drop = rule_of(benchmark).dropped
        # -1 and less: too few runs for a mean; 0 is for what lies between points
        runs_left = len(values) - 2 * drop or -1
        point = Point(batch_size, mean_convergence(values, drop=drop), pstdev(values), runs_left)
        points.setdefault((round_, benchmark), []).append(point)
    return {key: prune_points(found) for key, found in points.items()}


def recompute_factors(runs: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Recompute the factor of every result from its logs.

    Args:
        runs: as `tables.load_runs` gives them.
        reference: the table of reference runs.
    Returns: one row per result: `batch_size`, `submission_mean`, `reference_mean`, `accepted_mean`
        (samples, epochs or steps), `recomputed_factor`: reference over submission, 1 where that is
        below one; nan where there is no reference for it.
    """
    points = list_points(reference)
    keys = zip(*(runs[column] for column in RESULT_KEY), strict=True)
    sizes = runs["global_batch_size"].to_numpy(dtype="float64", na_value=math.nan)
    groups: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for key, *run in zip(keys, runs["converged_at"].fillna(math.inf), sizes, strict=True):
        groups.setdefault(key, []).append(tuple(run))
    rows = []
    for key, group in sorted(groups.items()):
        logged = {size for _, size in group if not math.isnan(size)}
        size = float(logged.pop()) if len(logged) == 1 else math.nan
        own = mean_convergence([converged for converged, _ in group], drop=rule_of(key[-1]).dropped)
        reference_point = find_reference(points.get((key[0], key[-1]), []), size)
        wanted, least, factor = math.nan, math.nan, math.nan
        if reference_point:
            wanted = reference_point.mean
            rule = rule_of(key[-1])
            least = accepted_mean(reference_point, runs=rule.runs) - rule.accepted_sooner
            factor = max(1.0, wanted / own) if math.isfinite(wanted) and math.isfinite(own) else math.nan
        rows.append((*key, size, own, wanted, least, factor))
    columns = [*RESULT_KEY, "batch_size", "submission_mean", "reference_mean", "accepted_mean", "recomputed_factor"]
    return pd.DataFrame(rows, columns=columns)


def normalise_runs(runs: pd.DataFrame, factors: pd.DataFrame) -> pd.DataFrame:
    """Normalise each run by its own convergence, as the score is by the submission's mean.

    Args:
        runs: as `scores.mark_runs` gives them.
        factors: as `recompute_factors` gives them.
    Returns: the runs with `run_factor` (reference over the run's own convergence, 1 where that is
        below one; the stored factor where there is no reference) and `normalised_min`.
    """
    joined = runs.merge(
        factors[[*RESULT_KEY, "reference_mean"]], on=list(RESULT_KEY), how="left", validate="many_to_one"
    )
    own = (joined["reference_mean"] / joined["converged_at"]).clip(lower=1.0)
    joined["run_factor"] = own.fillna(joined["scaling_factor"])
    joined["normalised_min"] = joined["time_to_train_min"] * joined["run_factor"]
    return joined


def explain_factor(recomputed: float, stored: float, *, division: str, accepted: bool) -> str:
    """Say why a recomputed factor is not the stored one; empty where they agree to 1e-9.

    Args:
        stored: nan where the repository has none.
        accepted: whether the submission converged no sooner than the rules accept.
    """
    if abs(recomputed / (1.0 if math.isnan(stored) else stored) - 1) < 1e-9:
        return ""
    if division == "open":
        return "the open division is not normalised"
    if math.isnan(recomputed):
        return "no reference for its batch size"
    if recomputed > OTHER_UNIT:
        return "its logs count another unit than the reference"
    if math.isnan(stored):
        return "none is stored, so the score is not normalised"
    if any(round(recomputed, digits) == stored for digits in range(2, 9)):
        return "stored rounded" + ("" if accepted else "; it converged sooner than is accepted without review")
    return "stored for another reference mean"


def explain_factors(results: pd.DataFrame, factors: pd.DataFrame) -> pd.DataFrame:
    """Return results beside their recomputed factors, with `why`: the reason where one is not the stored, or ""."""
    joined = results.merge(factors, on=list(RESULT_KEY))
    sooner = joined["submission_mean"] < joined["accepted_mean"]
    return joined.assign(
        why=[
            explain_factor(at.recomputed_factor, at.scaling_factor, division=at.division, accepted=not early)
            for at, early in zip(joined.itertuples(), sooner, strict=True)
        ]
    )
