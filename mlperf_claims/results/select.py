"""Pick exactly the submissions a claim is about, or say why not."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from mlperf_claims.claims.articles import COMPARED, SELECTION_KEYS, Article, Claim
from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.results.convergence import normalise_runs, recompute_factors
from mlperf_claims.results.tables import load_results, load_runs, load_table
from mlperf_claims.results.training import accelerators_for, mark_runs, score_results

EXACT = ("round", "benchmark", "division", "organization", "submitter", "system", "availability")
CATEGORIES = {"cloud": "cloud", "on premise": "prem", "preview": "preview"}  # of availability: a word they hold


class SelectionError(ValueError):
    """A selection that meets no submission, or several, or one without a score."""


def load_submissions() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load `data/training`, scored.

    Returns: (submissions, runs): one row per (round, organization, system, benchmark), with the
        columns of `scores.score_results`, the repository and the commit; one row per log, with
        those of `scores.mark_runs` and `convergence.normalise_runs`.
    """
    results = load_results()
    logs = load_runs()
    factors = recompute_factors(logs, load_table("reference_convergence"))
    runs = normalise_runs(mark_runs(logs, results), factors)
    rounds = load_table("rounds")[["round", "repository", "commit"]]
    return score_results(results, runs).merge(rounds, on="round", how="left", validate="many_to_one"), runs


def filter_submissions(submissions: pd.DataFrame, selection: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows a selection meets, whatever their number.

    Args:
        selection: column: value; `accelerator` is met by any text that contains it (or one of a
            list), `accelerators` by the total; `pick` is not looked at.
    """
    if unknown := sorted(selection.keys() - set(SELECTION_KEYS)):
        raise SelectionError(f"selection by {', '.join(unknown)}, expected {', '.join(SELECTION_KEYS)}")
    met = pd.Series(True, index=submissions.index)
    for key in EXACT:
        if key in selection:
            met &= submissions[key] == selection[key]
    if "accelerator" in selection:
        names = selection["accelerator"]
        names = names if isinstance(names, list) else [names]
        met &= submissions["accelerator"].map(lambda accelerator: any(str(name) in accelerator for name in names))
    if "accelerators" in selection:
        met &= submissions["accelerators_total"] == selection["accelerators"]
    return submissions[met]


def select_submission(submissions: pd.DataFrame, selection: Mapping[str, Any]) -> pd.Series:
    """Return the one row a selection meets; with `pick: fastest`, the one with the best official score.

    Raises: SelectionError listing the candidates nearest to the selection, if none or several are
        met, or the one has no score.
    """
    met = filter_submissions(submissions, selection)
    if selection.get("pick") == "fastest":
        met = met.nsmallest(1, "official_min", keep="all")
    if len(met) != 1:
        nearest = met if len(met) else _rank_by_nearness(submissions, selection)
        found = f"{len(met)} submissions" if len(met) else "no submission"
        raise SelectionError(f"{_describe(selection)} meets {found}, expected exactly one; nearest:\n{_list(nearest)}")
    return _check_score(met.iloc[0], selection)


def select_subjects(claims: Iterable[Claim], submissions: pd.DataFrame) -> pd.DataFrame:
    """Return one row per claim: `claim`, and the columns of its subject's submission as `subject_…`."""
    selected = ((claim.id, select_submission(submissions, claim.fields["subject"])) for claim in claims)
    return _frame([{"claim": id_} | _prefix("subject", row) for id_, row in selected], submissions, "subject")


def select_series(claims: Iterable[Claim], submissions: pd.DataFrame) -> pd.DataFrame:
    """Return every submission that a claim's subject meets: one row each, as `select_subjects` gives one per claim."""
    rows = [
        {"claim": claim.id} | _prefix("subject", row)
        for claim in claims
        for _, row in filter_submissions(submissions, claim.fields["subject"]).iterrows()
    ]
    return _frame(rows, submissions, "subject")


def select_pairs(claims: Iterable[Claim], submissions: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons that claims make.

    Returns: one row per comparison (a claim with `pairs: same size` has several), with `claim` and
        the columns of both submissions as `subject_…` and `baseline_…`.
    Raises: SelectionError where a claim does not select what it compares.
    """
    pairs = [pair for claim in claims for pair in _pair(claim, submissions)]
    rows = [{"claim": id_} | _prefix("subject", a) | _prefix("baseline", b) for id_, a, b in pairs]
    return _frame(rows, submissions, "subject", "baseline")


def select_rates(claims: Iterable[Claim], article: Article, submissions: pd.DataFrame) -> pd.DataFrame:
    """Return one row per claim that rests on another claim's speed-up.

    Returns: `claim`, its subject as `subject_…`, and the pair that the speed-up compares as
        `rate_subject_…` and `rate_baseline_…`.
    """
    rows = []
    for claim in claims:
        rate = article.claim(claim.fields["speedup"]).fields
        roles = {
            "subject": claim.fields["subject"],
            "rate_subject": rate["subject"],
            "rate_baseline": rate["baseline"],
        }
        selected = [_prefix(role, select_submission(submissions, wanted)) for role, wanted in roles.items()]
        rows.append({"claim": claim.id} | {name: value for columns in selected for name, value in columns.items()})
    return _frame(rows, submissions, "subject", "rate_subject", "rate_baseline")


def select_fields(claims: Iterable[Claim], submissions: pd.DataFrame) -> pd.DataFrame:
    """Return the submissions among which a claim places its subject.

    Returns: one row per (claim, submission of its field): `claim`, the subject as `subject_…`, the
        other as `baseline_…`, and `own`: whether it is of the subject's submitter too.
    """
    rows = []
    for claim in claims:
        subject = select_submission(submissions, claim.fields["subject"])
        for _, other in filter_submissions(submissions, claim.fields["field"]).iterrows():
            own = {"claim": claim.id, "own": other["submitter"] == subject["submitter"]}
            rows.append(own | _prefix("subject", subject) | _prefix("baseline", other))
    return _frame(rows, submissions, "subject", "baseline", extra=("own",)).astype({"own": bool})


def select_alternatives(claims: Iterable[Claim], submissions: pd.DataFrame) -> pd.DataFrame:
    """Return the other pairs that claims may be read to compare, as `select_pairs` does, each with its `reading`."""
    rows = []
    for claim in claims:
        for name, pair in claim.fields.get("also", {}).items():
            roles = [_prefix(role, select_submission(submissions, pair[role])) for role in ("subject", "baseline")]
            rows.append({"claim": claim.id, "reading": name} | roles[0] | roles[1])
    return _frame(rows, submissions, "subject", "baseline", extra=("reading",))


def join_sizes(pairs: pd.DataFrame, submissions: pd.DataFrame) -> pd.DataFrame:
    """Return every submission of a pair's subject's own series: submitter, accelerator and benchmark alike.

    Returns: one row per (comparison, submission), the comparison's columns first, sorted by size.
    """
    alike = ("round", "benchmark", "division", "submitter", "accelerator")
    joined = pairs.merge(submissions, left_on=[f"subject_{column}" for column in alike], right_on=list(alike))
    return joined.sort_values(["claim", "accelerators_total"], ignore_index=True)


def match_sizes(rates: pd.DataFrame, submissions: pd.DataFrame, *, score: str) -> pd.Series:
    """Return, for each row, the accelerators at which the rate's baseline series reaches the subject's time.

    Args:
        rates: as `select_rates` gives them.
        score: `official_min` or `wall_clock_min`.
    Returns: accelerators, read off the series of the baseline's submitter and accelerator
        (`scores.accelerators_for`); nan where the series does not reach that time.
    """
    alike = ("round", "benchmark", "division", "submitter", "accelerator")
    return pd.Series(
        [
            accelerators_for(
                submissions[(submissions[list(alike)] == take_role(row, "rate_baseline")[list(alike)]).all(axis=1)],
                row[f"subject_{score}"],
                score=score,
            )
            for _, row in rates.iterrows()
        ],
        index=rates.index,
    )


def match_peaks(submissions: pd.DataFrame, peaks: pd.DataFrame) -> pd.DataFrame:
    """Join each submission with the peak figures of its accelerator, whose name contains theirs (the longest).

    Returns: one row per submission, in order, with the columns of `peaks`; nan where none is known.
    """
    names = list(peaks["accelerator"])
    matched = submissions["accelerator"].map(
        lambda accelerator: max((n for n in names if n in accelerator), key=len, default="")
    )
    known = peaks.rename(columns={"accelerator": "matched"})
    return submissions.assign(matched=matched).merge(known, on="matched", how="left", suffixes=("_model", "_peak"))


def rank_at_sizes(claims: Iterable[Claim], submissions: pd.DataFrame) -> pd.DataFrame:
    """Return each size of a claim's subject beside the submissions of others that are nearest in size.

    Returns: one row per (claim, size of the subject, other): the subject as `subject_…`, the others
        as `baseline_…`: those of the same size, or else those of the nearest smaller and larger one.
    """
    rows = []
    for claim in claims:
        own = filter_submissions(submissions, claim.fields["subject"]).sort_values("accelerators_total")
        field = filter_submissions(submissions, claim.fields["field"])
        others = field[~field["submitter"].isin(own["submitter"]) & (field["no_score"] == "")]
        for _, subject in own.iterrows():
            for _, other in _find_nearest(others, subject["accelerators_total"]).iterrows():
                rows.append({"claim": claim.id} | _prefix("subject", subject) | _prefix("baseline", other))
    return _frame(rows, submissions, "subject", "baseline")


def _find_nearest(others: pd.DataFrame, size: int) -> pd.DataFrame:
    sizes = others["accelerators_total"]
    smaller, larger = sizes[sizes <= size].max(), sizes[sizes >= size].min()
    return others[sizes.isin([smaller, larger])].sort_values("accelerators_total")


def describe_differences(one: pd.Series, other: pd.Series) -> tuple[str, ...]:
    """Return in what two compared submissions differ, as the messaging guidelines want it named."""
    return tuple(
        f"{name}: {_text(one[column])} against {_text(other[column])}"
        for column, name in COMPARED.items()
        if _normalise(column, one[column]) != _normalise(column, other[column])
    )


def take_role(row: pd.Series, role: str) -> pd.Series:
    """Return the columns of one role, `subject_…` say, without its prefix."""
    mine = [name for name in row.index if name.startswith(f"{role}_")]
    return row[mine].rename(lambda name: name.removeprefix(f"{role}_"))


def join_runs(
    pairs: pd.DataFrame, runs: pd.DataFrame, *, roles: Sequence[str] = ("subject", "baseline")
) -> pd.DataFrame:
    """Return every counted run of a claim's subject, beside every counted run of its baseline if it has one.

    Returns: one row per (claim, subject run, baseline run), with the columns of `pairs` and, in
        minutes, `subject_run_min`, `baseline_run_min` (normalised) and `…_run_wall_clock_min`; under
        the names of other `roles` where those are given.
    """
    counted = runs.loc[runs["not_counted"] == "", [*RESULT_KEY, "run", "normalised_min", "time_to_train_min"]]
    joined = pairs
    for role in (role for role in roles if f"{role}_system" in pairs):
        named = {column: f"{role}_{column}" for column in (*RESULT_KEY, "run")}
        named |= {"normalised_min": f"{role}_run_min", "time_to_train_min": f"{role}_run_wall_clock_min"}
        joined = joined.merge(counted.rename(columns=named), on=[f"{role}_{column}" for column in RESULT_KEY])
    return joined


def _pair(claim: Claim, submissions: pd.DataFrame) -> Iterable[tuple[str, pd.Series, pd.Series]]:
    subject, baseline = claim.fields["subject"], claim.fields["baseline"]
    if "pairs" not in claim.fields:
        yield claim.id, select_submission(submissions, subject), select_submission(submissions, baseline)
        return
    subjects, baselines = (filter_submissions(submissions, selection) for selection in (subject, baseline))
    sizes = sorted(set(subjects["accelerators_total"]) & set(baselines["accelerators_total"]))
    if not sizes:
        raise SelectionError(f"{claim.id}: {_describe(subject)} and {_describe(baseline)} share no size")
    for size in sizes:
        one = select_submission(submissions, {**subject, "accelerators": size})
        for _, other in baselines[baselines["accelerators_total"] == size].iterrows():
            yield claim.id, one, _check_score(other, baseline)


def _normalise(column: str, value: Any) -> Any:  # noqa: ANN401 - a cell
    """Return what is compared: availability is written in several ways for the same category."""
    if column != "availability":
        return value
    words = value.lower().replace("-", " ")
    return next((category for category, word in CATEGORIES.items() if word in words), words)


def _text(value: Any) -> str:  # noqa: ANN401 - a cell
    return value if isinstance(value, str) else f"{value:,}"


def _check_score(one: pd.Series, selection: Mapping[str, Any]) -> pd.Series:
    if one["no_score"]:
        found = f"{one['submitter']}, {one['system']}, {one['benchmark']}"
        raise SelectionError(f"{_describe(selection)} meets {found}, without a score: {one['no_score']}")
    return one


def _frame(rows: list[dict], submissions: pd.DataFrame, *roles: str, extra: Sequence[str] = ()) -> pd.DataFrame:
    """Return rows as a frame that has all its columns, of their types, also where there are no rows."""
    columns = {f"{role}_{name}": dtype for role in roles for name, dtype in submissions.dtypes.items()}
    frame = pd.DataFrame(rows, columns=["claim", *extra, *columns])
    return frame.astype(columns)


def _prefix(role: str, row: pd.Series) -> dict[str, Any]:
    return {f"{role}_{column}": value for column, value in row.items()}


def _rank_by_nearness(submissions: pd.DataFrame, selection: Mapping[str, Any], *, most: int = 5) -> pd.DataFrame:
    """Return the submissions that miss the fewest conditions, nearest in size first."""
    singly = [filter_submissions(submissions, {key: value}).index for key, value in selection.items() if key != "pick"]
    met = sum(pd.Series(submissions.index.isin(index), index=submissions.index).astype(int) for index in singly)
    size = selection.get("accelerators", 0)
    apart = (submissions["accelerators_total"] - (size if isinstance(size, int) else 0)).abs()
    order = pd.DataFrame({"met": -met, "apart": apart}).sort_values(["met", "apart"], kind="stable").index
    return submissions.loc[order].head(most)


def _describe(selection: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in selection.items()) + "}"


def _list(submissions: pd.DataFrame) -> str:
    columns = ("round", "benchmark", "division", "submitter", "accelerator", "accelerators_total", "system")
    return "\n".join("  " + ", ".join(str(row[column]) for column in columns) for _, row in submissions.iterrows())
