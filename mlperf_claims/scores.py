"""Turn run times into the official score, and tell which runs count."""

import math
from collections.abc import Sequence

import pandas as pd

from mlperf_claims.collect import RESULT_KEY, runs_dropped

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

    Returns: the runs with `division` and `accelerators_total` of their result, `scaling_factor`
        (1 where none is stored), `normalised_min` (time to train × factor), `not_counted` (why a
        run stands for one that did not converge; empty for one that counts) and `averaged`
        (neither dropped as an extreme nor uncounted).
    """
    of_result = results[[*RESULT_KEY, "division", "accelerators_total", "scaling_factor"]]
    runs = runs.merge(of_result, on=list(RESULT_KEY), how="left", validate="many_to_one")
    runs["scaling_factor"] = runs["scaling_factor"].fillna(1.0)
    runs["normalised_min"] = runs["time_to_train_min"] * runs["scaling_factor"]
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
    drop = runs["benchmark"].map(runs_dropped)
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
    rows = [_score_one(key, group) for key, group in runs.groupby(list(RESULT_KEY), sort=False)]
    columns = [*RESULT_KEY, "runs_not_counted", "wall_clock_min", "samples_per_min", "no_score"]
    scores = pd.DataFrame(rows, columns=columns)
    scored = results.merge(scores, on=list(RESULT_KEY), how="left", validate="one_to_one")
    missing = scored["no_score"].isna()
    scored.loc[missing, "no_score"] = "no log could be read"
    scored["official_min"] = scored["wall_clock_min"] * scored["scaling_factor"].fillna(1.0)
    return scored


def _score_one(key: Sequence[str], runs: pd.DataFrame) -> dict:
    counted = runs["time_to_train_min"].where(runs["not_counted"] == "", math.inf)
    score = dict(zip(RESULT_KEY, key, strict=True)) | {"runs_not_counted": int((runs["not_counted"] != "").sum())}
    try:
        minutes = score_olympic_min(list(counted), drop=runs_dropped(key[-1]))
    except ScoreError as error:
        return score | {"wall_clock_min": math.nan, "samples_per_min": math.nan, "no_score": str(error)}
    averaged = runs[runs["averaged"]]
    in_samples = (averaged["convergence_unit"] == "samples_count").all()
    throughput = (
        averaged["converged_at"].sum(skipna=False) / averaged["time_to_train_min"].sum() if in_samples else math.nan
    )
    return score | {"wall_clock_min": minutes, "samples_per_min": throughput, "no_score": ""}
