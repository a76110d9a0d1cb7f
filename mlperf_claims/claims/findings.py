"""What a notebook hands to the report: judged claims, carried in the executed notebook itself."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from mlperf_claims.claims.articles import Article, Claim
from mlperf_claims.claims.verdicts import CONFIRMED, CONTRADICTED, NOT_YET, UNVERIFIABLE, VERDICTS, judge_value
from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.read.repositories import link
from mlperf_claims.results.select import describe_differences, take_role

MIME = "application/vnd.mlperf-claims.findings+json"
ROLES = {  # column prefix: what the report calls it
    "subject": "subject",
    "baseline": "baseline",
    "rate_subject": "subject of the speed-up it rests on",
    "rate_baseline": "baseline of the speed-up it rests on",
}
CLOCK = "wall clock"  # the reading that stands beside the deciding one
COMPARISONS = (("subject", "baseline"), ("rate_subject", "rate_baseline"))


class FindingError(ValueError):
    """Findings that cannot be made or read."""


@dataclass(frozen=True)
class Reading:
    """A claim's figure under one definition, in the stated unit."""

    name: str
    value: float
    verdict: str
    counts: bool = True  # for `robust`; one that does not stands beside for context


@dataclass(frozen=True)
class Evidence:
    """A file a figure was read from; lines are 0 where the whole file is meant."""

    role: str  # of its submission in the claim
    result: str  # round, division, benchmark, submitter, system, size and availability
    what: str  # "run 0: 27.00 min", "scaling factor 1.0128", "system description"
    path: str
    blob: str
    commit: str
    first_line: int
    last_line: int
    url: str


@dataclass(frozen=True)
class Finding:
    """One judged claim. The first reading decides; `recomputed` is its value."""

    id: str
    kind: str
    says: str
    stated: str
    decimals: int  # of the stated figure
    low: float | None  # what the printed figure stands for, from …; None where it is open
    high: float | None  # … up to
    headline: bool
    unit: str
    recomputed: float | None
    verdict: str
    robust: bool | None  # whether every reading gives the same verdict; None where there is none
    readings: tuple[Reading, ...] = ()
    spread: tuple[float, float] | None = None  # what single runs allow: lowest, highest
    differences: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()  # in what the submissions differ and the article does not say
    because: str = ""  # why no log can answer it, and what would
    evidence: tuple[Evidence, ...] = ()


def judge_claim(
    claim: Claim,
    readings: Mapping[str, float],
    *,
    failing: Iterable[str] = (),
    beside: Iterable[str] = (),
    spread: tuple[float, float] | None = None,
    differences: Iterable[str] = (),
    unnamed: Iterable[str] = (),
    evidence: Iterable[Evidence] = (),
) -> Finding:
    """Judge one claim under each reading.

    Args:
        readings: name: value in the stated unit, the deciding one first; a nan is left out, since
            not every submission's logs allow every reading.
        failing: readings under which the claim does not hold, whatever its figure: another holds the
            rank, or there are more of them.
        beside: readings that stand beside for context and do not count for `robust`.
    Raises: VerdictError if the stated text has no figure; FindingError if the first reading is nan.
    """
    first = next(iter(readings))
    if math.isnan(readings[first]):
        raise FindingError(f"{claim.id}: {first} is nan, expected a value to judge")
    if spread and not all(map(math.isfinite, spread)):
        raise FindingError(f"{claim.id}: spread of single runs is {spread}, expected two finite values")
    judged = tuple(
        Reading(name, float(value), _judge_reading(claim, value, fails=name in failing), name not in beside)
        for name, value in readings.items()
        if not math.isnan(value)
    )
    return replace(
        _begin(claim),
        recomputed=judged[0].value,
        verdict=judged[0].verdict,
        robust=len({reading.verdict for reading in judged if reading.counts}) == 1,
        readings=judged,
        spread=spread,
        differences=tuple(differences),
        unnamed=tuple(unnamed),
        evidence=tuple(evidence),
    )


def _judge_reading(claim: Claim, value: float, *, fails: bool) -> str:
    return CONTRADICTED if fails else judge_value(claim.stated, value, flatters=claim.flatters)


def judge_claims(
    article: Article,
    frame: pd.DataFrame,
    *,
    readings: Mapping[str, str],
    runs: pd.DataFrame,
    holds: Mapping[str, str] | None = None,
    beside: Iterable[str] = (),
    spread: tuple[str, str] | None = None,
    behind: pd.DataFrame | None = None,
    compared: pd.DataFrame | None = None,
) -> tuple[Finding, ...]:
    """Judge a frame of claims.

    Args:
        frame: one row per claim, with `claim`, `subject_…` and maybe `baseline_…` columns.
        readings: name of a reading: the column that holds it, the deciding one first.
        holds: name of a reading: the column that says whether the claim holds under it at all.
        beside: readings that do not count for `robust`.
        runs: as `submissions.load_submissions` gives them, for the evidence.
        spread: the columns of the lowest and the highest value that single runs allow.
        behind: the rows whose submissions are the evidence, where they are more than `frame`.
        compared: the rows whose pairs differ in what is named, where they are more than `frame`.
    """
    behind, compared = (frame if rows is None else rows for rows in (behind, compared))
    return tuple(
        judge_claim(
            article.claim(row["claim"]),
            {name: row[column] for name, column in readings.items()},
            beside=beside,
            failing=[name for name, column in (holds or {}).items() if not row[column]],
            spread=(float(row[spread[0]]), float(row[spread[1]])) if spread else None,
            differences=_list_differences(compared[compared["claim"] == row["claim"]]),
            unnamed=_list_unnamed(article.claim(row["claim"]), compared[compared["claim"] == row["claim"]]),
            evidence=list_evidence(behind[behind["claim"] == row["claim"]], runs),
        )
        for _, row in frame.iterrows()
    )


def list_evidence(rows: pd.DataFrame, runs: pd.DataFrame) -> tuple[Evidence, ...]:
    """List the logs, scaling factors and system descriptions behind rows of compared submissions."""
    found = []
    for _, row in rows.iterrows():
        for role in ROLES:
            if f"{role}_system" in rows:
                found += _list_submission(ROLES[role], take_role(row, role), runs)
    return tuple(dict.fromkeys(found))


def leave_open(claim: Claim) -> Finding:
    """Return the finding of a claim that no notebook judged: unverifiable, or not yet audited."""
    if claim.kind == "unverifiable":
        return replace(_begin(claim), verdict=UNVERIFIABLE, because=" ".join(claim.fields["because"].split()))
    return _begin(claim)


def publish(findings: Sequence[Finding]) -> None:
    """Put findings into the notebook's output, where the report finds them."""
    from IPython.display import display

    plain = f"{len(findings)} findings: " + ", ".join(f"{f.id} {f.verdict}" for f in findings)
    display({MIME: {"findings": [asdict(finding) for finding in findings]}, "text/plain": plain}, raw=True)


def read_findings(notebook: Mapping[str, Any]) -> list[Finding]:
    """Return the findings that an executed notebook (as JSON) carries."""
    outputs = (output for cell in notebook["cells"] for output in cell.get("outputs", ()))
    carried = (output.get("data", {}).get(MIME) for output in outputs)
    return [_make_finding(given) for data in carried if data for given in data["findings"]]


def load_findings(article: Article, folder: Path) -> list[Finding]:
    """Return one finding per claim, in the article's order, from the executed notebooks of a folder.

    Claims that no notebook there audits are returned as not yet audited.
    Raises: FindingError if two notebooks judge the same claim, or one judges a claim the article lacks.
    """
    found: dict[str, tuple[str, Finding]] = {}
    known = {claim.id for claim in article.claims}
    for path in sorted(folder.glob("*.ipynb")):
        for finding in read_findings(json.loads(path.read_text(encoding="utf-8"))):
            if finding.id in found:
                raise FindingError(f"{finding.id} is judged by {found[finding.id][0]} and by {path.name}, expected one")
            if finding.id not in known:
                raise FindingError(f"{path.name} judges {finding.id}, which {article.name} does not claim")
            found[finding.id] = (path.name, finding)
    return [found[claim.id][1] if claim.id in found else leave_open(claim) for claim in article.claims]


def format_value(value: float | None, unit: str, *, decimals: int = 0) -> str:
    """Format a recomputed figure with two digits more than the printed one has: 1.512x, 80.25%, 40 racks."""
    if value is None or math.isnan(value):
        return "–"
    number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.{decimals + 2}f}"
    return number + (unit if re.match(r"(x|%)(\W|$)", unit) else f" {unit}").rstrip()


def format_recomputed(finding: Finding) -> str:
    """Format a finding's recomputed figure."""
    return format_value(finding.recomputed, finding.unit, decimals=finding.decimals)


def explain(finding: Finding) -> str:
    """Return one sentence for a finding that is not confirmed, or not under every reading; else ""."""
    if finding.verdict == UNVERIFIABLE:
        return f"“{finding.stated}” is unverifiable here: {finding.because}."
    if finding.recomputed is None or (finding.verdict == CONFIRMED and finding.robust):
        return ""
    first, *others = finding.readings
    stated = finding.stated if any(map(str.isdigit, finding.stated)) else f"“{finding.stated}”"
    apart: dict[str, list[str]] = {}
    for reading in others:
        if reading.counts and reading.verdict != first.verdict:
            apart.setdefault(reading.verdict, []).append(_show_reading(finding, reading))
    sentence = f"{stated} is {first.verdict} {_show_reading(finding, first)}"
    rest = [f"{verdict} {_enumerate(shown)}" for verdict, shown in apart.items()]
    return sentence + (f", but would be {_enumerate(rest)}." if rest else ".")


def summarise(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the outcome in two sentences: of all claims, and of the headline claims where there are any."""
    counts = {verdict: sum(finding.verdict == verdict for finding in findings) for verdict in VERDICTS}
    beyond = counts.pop(UNVERIFIABLE)
    said = [f"{count} {'is' if count == 1 else 'are'} {verdict}" for verdict, count in counts.items() if count]
    answerable = f"Of {len(findings)} claims, the public logs can answer {len(findings) - beyond}: "
    sentence = answerable if beyond else "Of the claims, "
    first = f"{sentence}{_enumerate(said)}." if said else f"The public logs can answer none of {len(findings)} claims."
    headlines = [finding for finding in findings if finding.headline]
    return (first, _summarise_headlines(headlines)) if headlines else (first,)


def _summarise_headlines(findings: Sequence[Finding]) -> str:
    by_verdict: dict[str, list[str]] = {}
    for finding in findings:
        by_verdict.setdefault(finding.verdict, []).append(finding.stated)
    parts = [f"{_enumerate(s)} {'is' if len(s) == 1 else 'are'} {verdict}" for verdict, s in by_verdict.items()]
    clocks = [(finding, reading) for finding in findings for reading in finding.readings if reading.name == CLOCK]
    apart = [
        f"{finding.stated} would be {format_value(reading.value, finding.unit, decimals=finding.decimals)}"
        for finding, reading in clocks
        if reading.counts and reading.verdict != finding.verdict
    ]
    rest = f"; on the wall clock, which no factor evens out, {_enumerate(apart)}" if apart else ""
    return f"Of the headline figures, {_enumerate(parts)}{rest}."


def _show_reading(finding: Finding, reading: Reading) -> str:
    if reading.value == finding.recomputed and reading is not finding.readings[0]:
        return f"with {reading.name}"  # the same figure, under which another holds the rank
    return f"at {format_value(reading.value, finding.unit, decimals=finding.decimals)} ({reading.name})"


def _enumerate(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _begin(claim: Claim) -> Finding:
    stated = claim.stated
    return Finding(
        id=claim.id,
        kind=claim.kind,
        says=claim.says,
        stated=stated.text,
        decimals=stated.decimals,
        low=_finite(stated.interval[0]),
        high=_finite(stated.interval[1]),
        headline=claim.headline,
        unit=stated.unit,
        recomputed=None,
        verdict=NOT_YET,
        robust=None,
    )


def _finite(edge: float) -> float | None:
    return edge if math.isfinite(edge) else None


def format_interval(finding: Finding) -> str:
    """Say what a printed figure stands for: "1.45 to 1.55", "over 3", "from 3", "under 10"."""
    low, high = (_format_edge(edge, finding.decimals) for edge in (finding.low, finding.high))
    if finding.low is None and finding.high is None:
        return "–"
    if finding.high is None:  # the edge of "over" is the next float above the figure
        return f"over {low}" if finding.low != float(low.replace(",", "")) else f"from {low}"
    if finding.low is None:
        return f"under {high}" if finding.high == float(high.replace(",", "")) else f"up to {high}"
    return f"{low} to {high}"


def _format_edge(edge: float | None, decimals: int) -> str:
    return "" if edge is None else f"{edge:,.{decimals + 1}f}".rstrip("0").rstrip(".")


def count_readings(finding: Finding) -> int:
    """Return how many readings count for a finding's robustness."""
    return sum(reading.counts for reading in finding.readings)


def _list_differences(rows: pd.DataFrame) -> tuple[str, ...]:
    compared = [pair for pair in COMPARISONS if f"{pair[1]}_system" in rows]
    found = (
        describe_differences(take_role(row, one), take_role(row, other))
        for one, other in compared
        for _, row in rows.iterrows()
    )
    return tuple(dict.fromkeys(difference for differences in found for difference in differences))


def _list_unnamed(claim: Claim, rows: pd.DataFrame) -> tuple[str, ...]:
    if "baseline_system" not in rows or "named" not in claim.fields:
        return ()
    names = (difference.partition(":")[0] for difference in _list_differences(rows))
    return tuple(dict.fromkeys(name for name in names if name not in claim.fields["named"]))


def _list_submission(role: str, row: pd.Series, runs: pd.DataFrame) -> Iterable[Evidence]:
    mine = (runs[list(RESULT_KEY)] == row[list(RESULT_KEY)]).all(axis=1)
    scope = f"MLPerf Training {row['round']}, {row['division']}, {row['benchmark']}"
    system = (
        f"{row['submitter']}, {row['system_name']}, {row['accelerators_total']:,} accelerators, {row['availability']}"
    )
    result = f"{scope}: {system}"
    pinned = {"role": role, "result": result, "commit": row["commit"]}
    for _, run in runs[mine].iterrows():
        lines = (0, 0) if run["problem"] else (int(run["start_line"]), int(run["stop_line"]))
        what = f"run {run['run']}: " + (run["not_counted"] or f"{run['time_to_train_min']:.4f} min on the clock")
        yield _cite(row["repository"], what=what, path=run["path"], blob=run["blob"], lines=lines, **pinned)
    if row["scaling_path"]:
        what = f"scaling factor {row['scaling_factor']:.6f}"
        yield _cite(row["repository"], what=what, path=row["scaling_path"], blob=row["scaling_blob"], **pinned)
    yield _cite(
        row["repository"], what="system description", path=row["system_path"], blob=row["system_blob"], **pinned
    )


def _cite(repository: str, *, lines: tuple[int, int] = (0, 0), **facts: str) -> Evidence:
    url = link(repository, facts["commit"], facts["path"], *lines)
    return Evidence(**facts, first_line=lines[0], last_line=lines[1], url=url)


def _make_finding(given: Mapping[str, Any]) -> Finding:
    nested = {
        "readings": tuple(Reading(**reading) for reading in given["readings"]),
        "spread": tuple(given["spread"]) if given["spread"] else None,
        "differences": tuple(given["differences"]),
        "unnamed": tuple(given["unnamed"]),
        "evidence": tuple(Evidence(**one) for one in given["evidence"]),
    }
    return Finding(**{**given, **nested})
