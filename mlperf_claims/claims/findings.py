"""What a notebook hands to the report: judged claims, carried in the executed notebook itself."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from mlperf_claims.claims.articles import Article, Claim, NoClaims, load_article
from mlperf_claims.claims.kinds import CLOCK, OFFICIAL, PACE, PER_ACCELERATOR, Answer, Book
from mlperf_claims.claims.schema import Unverifiable
from mlperf_claims.claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    FAILED,
    NO_DATA,
    NOT_CHECKED,
    OPEN,
    VERDICTS,
    judge_value,
)
from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.read.repositories import link
from mlperf_claims.results.select import (
    NotHeldError,
    Selection,
    describe_differences,
    load_submissions,
    narrow,
    take_role,
)

MIME = "application/vnd.mlperf-claims.findings+json"
ORDINALS = {1: "st", 2: "nd", 3: "rd"}
ROLES = ("subject", "baseline")  # column prefixes of the results behind a claim


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

    role: str  # of its result in the claim
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
    printed: float | None  # the stated figure; None for a word
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
    unnamed: tuple[str, ...] = ()  # in what the results differ and the article does not say
    because: str = ""  # why there is no figure, and what would give one
    evidence: tuple[Evidence, ...] = ()
    rests_on: tuple[str, ...] = ()  # ids of the claims whose figures it uses


@dataclass(frozen=True)
class Audit:
    """An article's claims of some kinds, beside the results they are judged from."""

    article: Article
    claims: tuple[Claim, ...]
    book: Book

    @property
    def results(self) -> pd.DataFrame:
        """One row per (round, organization, system, benchmark), as `select.load_submissions` gives them."""
        return self.book.results

    @property
    def runs(self) -> pd.DataFrame:
        """One row per log."""
        return self.book.runs

    def judge(self) -> tuple[Finding, ...]:
        """Judge each claim on its own: what stands in the way of one is that one's reason, and no other's."""
        return tuple(judge_claim(claim, self.book) for claim in self.claims)

    def compare(self, *ids: str) -> pd.DataFrame:
        """Return the comparisons behind the claims that could be worked out, or behind those of these ids.

        Returns: one row per (claim, comparison): `claim`, `stated`, `also` (the reading of the words; "" for
            the first), `subject_…`, `baseline_…` (empty where nothing is compared) and the readings.
        """
        found = []
        for claim in self.claims:
            if (not ids or claim.id in ids) and (answer := self._try(claim)) is not None:
                found.append(answer.rows.assign(claim=claim.id, stated=claim.stated.text))
        columns = [f"{role}_{column}" for role in ROLES for column in self.results.columns]
        first = ["claim", "stated", "also", OFFICIAL, CLOCK, PACE, PER_ACCELERATOR, *columns]
        rows = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
        rows = rows.reindex(columns=list(dict.fromkeys([*first, *rows.columns])))
        return rows.assign(also=rows["also"].astype("object").fillna(""))

    def of_article(self) -> "Audit":
        """Return the audit of every claim of the article."""
        return replace(self, claims=self.article.claims)

    def of_kind(self, *kinds: str) -> "Audit":
        """Return the audit of those claims that are of these kinds."""
        return replace(self, claims=tuple(claim for claim in self.claims if claim.kind in kinds))

    def list_assumptions(self) -> pd.DataFrame:
        """Return what the article assumes: `assumption`, `value`, `unit`, `because`, a row each."""
        rows = [
            {"assumption": name, "value": one.value, "unit": one.unit, "because": " ".join(one.because.split())}
            for name, one in self.article.assumptions.items()
        ]
        return pd.DataFrame(rows, columns=["assumption", "value", "unit", "because"])

    def find_pair(self) -> pd.Series:
        """Return the comparison of times that the article leads with, or else its first; NoClaims if it has none."""
        rows = self.compare()
        timed = rows[rows[OFFICIAL].notna() & rows["baseline_system"].notna() & (rows["also"] == "")]
        if timed.empty:
            raise NoClaims("No claim of the article compares times that could be worked out.")
        leads = [claim.id for claim in self.claims if claim.about.headline]
        return timed.assign(leads=~timed["claim"].isin(leads)).sort_values("leads", kind="stable").iloc[0]

    def find_scope(self) -> pd.DataFrame:
        """Return the scored results of the round and benchmark that the claims are mostly about, smallest first.

        Raises: NoClaims if there are none.
        """
        rows = self.compare()
        keys = rows[["subject_round", "subject_benchmark", "subject_division"]].dropna()
        require_rows(keys, "No claim of this kind could be worked out.")
        where = dict(zip(("round", "benchmark", "division"), keys.value_counts(sort=True).index[0], strict=True))
        met = narrow(self.results, Selection(**where)).sort_values("accelerators_total", kind="stable")
        return require_rows(met[met["no_score"] == ""], "No result that the claims are about has a score.")

    def _try(self, claim: Claim) -> Answer | None:
        try:
            return self.book.answer(claim)
        except Exception:  # its finding says why
            return None


def require_rows(rows: pd.DataFrame, otherwise: str) -> pd.DataFrame:
    """Return rows; NoClaims, which ends a notebook without failing it, if there are none."""
    if rows.empty:
        raise NoClaims(otherwise)
    return rows


def open_audit(article: str, *kinds: str, assumptions: Mapping[str, float | None] | None = None) -> Audit:
    """Load an article, its claims of these kinds (of every kind if none are named), and all results.

    Args:
        assumptions: values that a reader gave instead of the article's; None keeps the article's.
    Raises: NoClaims, which ends a notebook without failing it, if the article makes no such claim.
    """
    audited = load_article(article)
    claims = audited.of_kind(*kinds) if kinds else audited.claims
    if not claims:
        raise NoClaims(f"The article makes no claim of this kind ({', '.join(kinds)}).")
    given = {name: value for name, value in (assumptions or {}).items() if value is not None}
    return Audit(audited, claims, Book(audited.assume(given), *load_submissions()))


def judge_claim(claim: Claim, book: Book) -> Finding:
    """Judge one claim under each reading; what cannot be worked out is not checked here, or failed, with the reason."""
    begun = _begin(claim)
    if isinstance(claim.about, Unverifiable):
        return leave_open(claim)
    try:
        answer = book.answer(claim)
        return judge_answer(claim, answer, evidence=list_evidence(answer, book))
    except NotHeldError as error:
        return replace(begun, verdict=NOT_CHECKED, because=_on_one_line(str(error)))
    except ValueError as error:
        return replace(begun, verdict=FAILED, because=_on_one_line(str(error)))
    except Exception as error:  # whatever it is, it is this claim's alone
        return replace(begun, verdict=FAILED, because=_on_one_line(f"{type(error).__name__}: {error}"))


def _on_one_line(text: str) -> str:
    """Return a message whose first line may be followed by a list, an item a line."""
    first, *items = (" ".join(line.split()) for line in text.splitlines() or [""])
    return f"{first} {'; '.join(items)}".rstrip()


def leave_open(claim: Claim, *, failed: str = "no notebook judges a claim of its kind") -> Finding:
    """Return the finding of a claim that no notebook judged: one that no log can answer, or one that failed."""
    if not isinstance(claim.about, Unverifiable):
        return replace(_begin(claim), verdict=FAILED, because=failed)
    verdict = NOT_CHECKED if claim.about.source else NO_DATA
    source = f" ({claim.about.source})" if claim.about.source else ""
    return replace(_begin(claim), verdict=verdict, because=" ".join(claim.about.because.split()) + source)


def judge_answer(claim: Claim, answer: Answer, *, evidence: Iterable[Evidence] = ()) -> Finding:
    """Judge what a claim comes to, under each reading, by the digits of its stated figure."""
    stated = claim.stated if answer.total is None else claim.stated.out_of(answer.total)
    low, high = stated.interval
    readings = tuple(
        Reading(
            name,
            float(value),
            CONTRADICTED if name in answer.failing else judge_value(stated, value, flatters=claim.flatters),
            name not in answer.beside,
        )
        for name, value in answer.readings.items()
    )
    return replace(
        _begin(claim),
        low=_finite(low),
        high=_finite(high),
        unit=stated.unit if answer.unit is None else answer.unit,
        recomputed=readings[0].value,
        verdict=readings[0].verdict,
        robust=len({reading.verdict for reading in readings if reading.counts}) == 1,
        readings=readings,
        spread=answer.spread,
        differences=_list_differences(answer.rows),
        unnamed=_list_unnamed(claim, answer.rows),
        evidence=tuple(evidence),
        rests_on=answer.rests_on,
    )


def list_evidence(answer: Answer, book: Book) -> tuple[Evidence, ...]:
    """List the logs, scaling factors and system descriptions behind a claim."""
    found: list[Evidence] = []
    seen = set()
    for _, row in answer.rows.iterrows():
        rests_on = row.get("rests_on")
        through = f" of {rests_on}" if isinstance(rests_on, str) else ""
        for role in ROLES:
            if not isinstance(row.get(f"{role}_system"), str):
                continue
            result = take_role(row, role)
            key = (role + through, *result[list(RESULT_KEY)])
            if key not in seen:
                seen.add(key)
                found += _list_result(
                    role + through, result, book.runs_of(result).iloc[: None if answer.of_logs else 0]
                )
    return tuple(dict.fromkeys(found))


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

    A claim that no notebook there judged has failed, and says which notebooks did not finish.
    Raises: FindingError if two notebooks judge the same claim, or one judges a claim the article lacks.
    """
    found: dict[str, tuple[str, Finding]] = {}
    known = {claim.id for claim in article.claims}
    broken = []
    for path in sorted(folder.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        broken += [f"{path.stem}: {failure}" for failure in _list_failures(notebook)]
        for finding in read_findings(notebook):
            if finding.id in found:
                raise FindingError(f"{finding.id} is judged by {found[finding.id][0]} and by {path.name}, expected one")
            if finding.id not in known:
                raise FindingError(f"{path.name} judges {finding.id}, which {article.name} does not claim")
            found[finding.id] = (path.name, finding)
    why = "; ".join(broken) or "no notebook judges a claim of its kind"
    return [found[claim.id][1] if claim.id in found else leave_open(claim, failed=why) for claim in article.claims]


def _list_failures(notebook: Mapping[str, Any]) -> list[str]:
    outputs = (output for cell in notebook["cells"] for output in cell.get("outputs", ()))
    return [" ".join(f"{o['ename']}: {o['evalue']}".split()) for o in outputs if o["output_type"] == "error"]


def format_value(value: float | None, unit: str, *, decimals: int = 0) -> str:
    """Format a recomputed figure with two digits more than the printed one has: 1.512x, 80.25%, 40 racks."""
    if value is None or math.isnan(value):
        return "–"
    if unit == "place":
        return f"{value:.0f}{ORDINALS.get(int(value), 'th')}"
    number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.{decimals + 2}f}"
    glued = re.match(r"(x|%)(\W|$)", unit, re.IGNORECASE)
    return number + (unit[0].lower() + unit[1:] if glued else f" {unit}").rstrip()


def format_recomputed(finding: Finding) -> str:
    """Format a finding's recomputed figure."""
    return format_value(finding.recomputed, finding.unit, decimals=finding.decimals)


def explain(finding: Finding) -> str:
    """Return one sentence for a finding that is not confirmed, or not under every reading; else ""."""
    if finding.verdict in OPEN:
        return f"“{finding.stated}”: {finding.verdict}; {finding.because}."
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
    answered = [verdict for verdict in counts if verdict not in OPEN]
    held = {verdict: f"{counts[verdict]} {'is' if counts[verdict] == 1 else 'are'} {verdict}" for verdict in answered}
    said = [text for verdict, text in held.items() if counts[verdict]]
    total = len(findings) - sum(counts[verdict] for verdict in OPEN)
    rest = {
        NOT_CHECKED: "{} could be checked elsewhere",
        NO_DATA: "for {} there are no public data",
        FAILED: "{} failed",
    }
    left = [text.format(counts[verdict]) for verdict, text in rest.items() if counts[verdict]]
    first = f"Of {len(findings)} claims, {total} {'is' if total == 1 else 'are'} judged here"
    first += f": {_enumerate(said)}" if said else ""
    first += f"; {_enumerate(left)}." if left else "."
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
    rest = f"; on the wall clock, before MLPerf's adjustment for training luck, {_enumerate(apart)}" if apart else ""
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
        printed=None if stated.word or math.isnan(stated.value) else stated.value,
        decimals=stated.decimals,
        low=_finite(stated.interval[0]),
        high=_finite(stated.interval[1]),
        headline=claim.about.headline,
        unit=stated.unit,
        recomputed=None,
        verdict=FAILED,
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
    if "baseline_system" not in rows or "subject_system" not in rows:
        return ()
    both = rows[rows["subject_system"].notna() & rows["baseline_system"].notna()]
    found = (describe_differences(take_role(row, "subject"), take_role(row, "baseline")) for _, row in both.iterrows())
    return tuple(dict.fromkeys(difference for differences in found for difference in differences))


def _list_unnamed(claim: Claim, rows: pd.DataFrame) -> tuple[str, ...]:
    if claim.about.named is None:
        return ()
    first = rows[rows["also"].isna()] if "also" in rows else rows
    names = (difference.partition(":")[0] for difference in _list_differences(first))
    return tuple(dict.fromkeys(name for name in names if name not in claim.about.named))


def _list_result(role: str, row: pd.Series, runs: pd.DataFrame) -> Iterable[Evidence]:
    scope = f"MLPerf Training {row['round']}, {row['division']}, {row['benchmark']}"
    size = f"{int(row['accelerators_total']):,} accelerators"
    result = f"{scope}: {row['submitter']}, {row['system_name']}, {size}, {row['availability']}"
    pinned = {"role": role, "result": result, "commit": row["commit"]}
    for _, run in runs.iterrows():
        lines = (0, 0) if run["problem"] else (int(run["start_line"]), int(run["stop_line"]))
        what = f"run {run['run']}: " + (run["not_counted"] or f"{run['time_to_train_min']:.4f} min on the clock")
        yield _cite(row["repository"], what=what, path=run["path"], blob=run["blob"], lines=lines, **pinned)
    if row["scaling_path"] and len(runs):
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
        "rests_on": tuple(given["rests_on"]),
    }
    return Finding(**{**given, **nested})
