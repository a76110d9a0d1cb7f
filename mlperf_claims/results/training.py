"""Turn run times into the official score, and tell which runs count."""

import math
from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.results.benchmarks import rule_of

# Time from the first init_start to init_stop; a run that took longer is rejected by the compliance
# checker (mlperf_logging, common.yaml: 30 min closed, 240 min open in every ruleset since v2.0).
INIT_LIMIT_MIN = {"closed": 30.0, "open": 240.0}


class ScoreError(ValueError):
    """Runs from which no official score follows."""


def score_olympic_min(run_min: Sequence[float], *, drop: int = 1) -> float:
    """Score one benchmark: drop the extremes, average the rest.

    Args:
        run_min: minutes per run, any order, more than 2 * drop of them; math.inf = did not converge.
        drop: runs removed from each end (4 for UNet3D, 1 elsewhere).
    Returns: minutes, unrounded.
    Raises: ScoreError if too few runs are left, or if one that did not converge would be averaged.
    Source: MLPerf training_rules.adoc, section "Benchmark Results".
    """
    if any(math.isnan(minutes) for minutes in run_min):
        raise ScoreError(f"{list(run_min)} has a run without a time, expected math.inf for one that does not count")
    kept = sorted(run_min)[drop : len(run_min) - drop]
    if not kept:
        raise ScoreError(f"{len(run_min)} runs, expected more than {2 * drop}")
    if math.isinf(kept[-1]):
        failed = sum(math.isinf(minutes) for minutes in run_min)
        raise ScoreError(f"{failed} runs do not count, expected at most {drop}")
    return sum(kept) / len(kept)


def mark_runs(runs: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """Say of every run whether it counts.

    Returns: the runs with `division`, `accelerators_total` and `scaling_factor` of their result (1
        where none is stored), `not_counted` (why a run stands for one that did not converge; empty
        for one that counts) and `averaged` (neither dropped as an extreme nor uncounted).
    """
    of_result = results[[*RESULT_KEY, "division", "accelerators_total", "scaling_factor"]]
    runs = runs.merge(of_result, on=list(RESULT_KEY), how="left", validate="many_to_one")
    runs["scaling_factor"] = runs["scaling_factor"].fillna(1.0)
    init_min = (runs["init_stop_ms"] - runs["init_start_ms"]) / 60_000
    late = init_min >= runs["division"].map(INIT_LIMIT_MIN)
    runs["not_counted"] = runs["problem"].where(
        runs["problem"] != "", runs["status"].where(runs["status"] != "success", "")
    )
    runs.loc[(runs["not_counted"] == "") & late, "not_counted"] = init_min.map(
        "initialised for {:.1f} min, longer than the compliance checker allows".format
    )
    counted_min = runs["time_to_train_min"].where(runs["not_counted"] == "", math.inf)
    grouped = counted_min.groupby([runs[column] for column in RESULT_KEY])
    drop = runs["benchmark"].map(lambda benchmark: rule_of(benchmark).dropped)
    rank, size = grouped.rank(method="first"), grouped.transform("size")
    runs["averaged"] = (rank > drop) & (rank <= size - drop) & (counted_min < math.inf)
    return runs


def score_results(results: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Score every result.

    Args:
        results: as `tables.load_results` gives them.
        runs: as `mark_runs` gives them.
    Returns: the results with `wall_clock_min` (olympic mean of the runs), `official_min` (that ×
        scaling factor), `samples_per_min` (of the runs averaged; nan where the logs count
        epochs), `runs_not_counted`, and `no_score`: why there is none, else empty.
    """
    key = list(RESULT_KEY)
    counts = runs["not_counted"] == ""
    minutes = runs.assign(minutes=runs["time_to_train_min"].where(counts, math.inf)).groupby(key)["minutes"].agg(list)
    rows = [dict(zip(key, at, strict=True)) | _score_one(list(run_min), at[-1]) for at, run_min in minutes.items()]
    scores = pd.DataFrame(rows, columns=[*key, "runs_not_counted", "wall_clock_min", "no_score"])
    scored = results.merge(scores, on=key, how="left", validate="one_to_one")
    scored["no_score"] = scored["no_score"].fillna("no log could be read")
    there = scored["logs"] - scored["logs_absent"]
    wanted = scored["benchmark"].map(lambda benchmark: rule_of(benchmark).runs)
    few = (scored["logs_absent"] > 0) & (there < wanted)
    scored.loc[few, "wall_clock_min"] = math.nan
    scored.loc[few, "no_score"] = there.astype(str) + " of " + scored["logs"].astype(str) + " logs are there, too few"
    scored["official_min"] = scored["wall_clock_min"] * scored["scaling_factor"].fillna(1.0)
    return scored.merge(_count_samples(runs), on=key, how="left", validate="one_to_one")


def _score_one(run_min: list[float], benchmark: str) -> dict:
    uncounted = {"runs_not_counted": sum(map(math.isinf, run_min))}
    try:
        minutes = score_olympic_min(run_min, drop=rule_of(benchmark).dropped)
    except ScoreError as error:
        return uncounted | {"wall_clock_min": math.nan, "no_score": str(error)}
    return uncounted | {"wall_clock_min": minutes, "no_score": ""}


def _count_samples(runs: pd.DataFrame) -> pd.DataFrame:
    """Return `samples_per_min` of the runs averaged, for each result whose logs count samples in all of them."""
    in_samples = runs["converged_at"].where(runs["convergence_unit"] == "samples_count")
    averaged = runs.assign(samples=in_samples)[runs["averaged"]].groupby(list(RESULT_KEY))
    summed = averaged[["samples", "time_to_train_min"]].sum()
    whole = averaged["samples"].count() == averaged.size()
    summed["samples_per_min"] = (summed["samples"] / summed["time_to_train_min"]).where(whole)
    return summed[["samples_per_min"]].reset_index()


def accelerators_for(sizes: pd.DataFrame, minutes: float, *, score: str = "official_min") -> float:
    """Read off a scaling curve how many accelerators train in a given time.

    Args:
        sizes: submissions of one series: accelerators_total, and minutes in the column `score`.
        minutes: the time to match.
    Returns: accelerators, on straight lines between neighbouring sizes in logarithms of both; nan
        outside the times that were measured, since nothing is extrapolated.
    """
    curve = sizes.dropna(subset=[score]).sort_values("accelerators_total")
    exact = curve[curve[score] == minutes]
    if len(exact):
        return float(exact["accelerators_total"].iloc[0])
    for (_, small), (_, large) in pairwise(curve.iterrows()):
        if large[score] < minutes < small[score]:
            share = math.log(small[score] / minutes) / math.log(small[score] / large[score])
            growth = math.log(large["accelerators_total"] / small["accelerators_total"])
            return float(small["accelerators_total"] * math.exp(share * growth))
    return math.nan
