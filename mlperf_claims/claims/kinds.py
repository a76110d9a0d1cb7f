"""Work out what each kind of claim comes to, under every reading of its words."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, singledispatch

import msgspec
import pandas as pd

from mlperf_claims.claims.articles import Article, Claim
from mlperf_claims.claims.formulas import Formula, FormulaError
from mlperf_claims.claims.schema import (
    Count,
    Derived,
    Efficiency,
    First,
    Kind,
    Only,
    Rank,
    Ratio,
    Unverifiable,
    Value,
)
from mlperf_claims.claims.stated import TIMES, Stated
from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.results.benchmarks import order_round
from mlperf_claims.results.select import (
    Selection,
    SelectionError,
    check_comparable,
    check_known,
    check_score,
    find_nearest,
    find_series,
    narrow,
    pick,
    prefix,
    select_one,
    select_some,
    split_submitter,
)
from mlperf_claims.results.training import accelerators_for

# The readings of a time: what the rules define, that without its factor, and how fast the machines work meanwhile
OFFICIAL, CLOCK, PACE = "official score", "wall clock", "samples per minute"
TIME_COLUMNS = {OFFICIAL: "official_min", CLOCK: "wall_clock_min"}
SIZE_COLUMNS = {"accelerators": "accelerators_total", "nodes": "nodes"}
PLAIN = "as derived"  # the one reading of a formula whose names have no readings of their own
PER_ACCELERATOR = "per accelerator"  # stands beside a ratio that does not claim it
MOST_SPREADS = 10  # claims whose spreads a formula combines, each edge with each
ENTRANTS = {  # what `by` counts: the columns that tell one from another
    "submitter": ["submitter"],
    "maker": ["maker"],
    "system": ["organization", "system"],
    "organization": ["organization"],
}
COUNTED = {  # what `of` counts, where it is the number of different values
    "submitters": ["submitter"],
    "systems": ["round", "organization", "system"],
    "benchmarks": ["benchmark"],
    "makers": ["maker"],
}


class FigureError(ValueError):
    """A claim that the results do not allow to be worked out."""


@dataclass(frozen=True)
class Answer:
    """What a claim comes to.

    `rows` has one row per comparison behind it: `subject_…` and maybe `baseline_…` columns of the
    results, and a column for each reading that every comparison has.
    """

    readings: Mapping[str, float]  # in the stated unit, the deciding one first; never nan
    rows: pd.DataFrame
    failing: frozenset[str] = frozenset()  # readings under which the claim does not hold, whatever its figure
    beside: frozenset[str] = frozenset()  # readings that stand beside for context
    spread: tuple[float, float] | None = None  # what single runs allow
    unit: str | None = None  # where it is not the stated one
    total: int | None = None  # of how many
    of_logs: bool = True  # whether the evidence is the logs, or the system descriptions alone
    rests_on: tuple[str, ...] = ()  # ids of the claims whose figures it uses


@dataclass(frozen=True)
class Book:
    """An article beside the results that its claims are worked out from."""

    article: Article
    results: pd.DataFrame
    runs: pd.DataFrame
    _answers: dict[str, Answer] = field(default_factory=dict)

    def answer(self, claim: Claim, *, also: bool = True) -> Answer:
        """Return what a claim comes to, worked out once; raises what stands in its way.

        Args:
            also: or only the first reading of its words.
        """
        if not also:
            return work_out(claim.about, claim.stated, self)
        if claim.id not in self._answers:
            self._answers[claim.id] = _answer(claim, self)
        return self._answers[claim.id]

    def runs_of(self, result: pd.Series) -> pd.DataFrame:
        """Return the logs of a result."""
        return self.runs.iloc[self._places.get(tuple(result[list(RESULT_KEY)]), [])]

    @cached_property
    def _places(self) -> Mapping[tuple, Sequence[int]]:
        return self.runs.groupby(list(RESULT_KEY)).indices

    @cached_property
    def names(self) -> Mapping[str, Claim]:
        """The claims by the names that formulas call them."""
        return {claim.id.replace("-", "_"): claim for claim in self.article.claims}


def _answer(claim: Claim, book: Book) -> Answer:
    """Work out a claim, and beside it every other reading of its words."""
    first = work_out(claim.about, claim.stated, book)
    readings, failing, rows = dict(first.readings), set(first.failing), [first.rows]
    for name, about in claim.also.items():
        other = work_out(about, claim.stated, book)
        counting = {one: value for one, value in other.readings.items() if one not in other.beside}
        for one, value in counting.items():
            label = f"{name}, {one}" if len(counting) > 1 else name
            if label in readings:
                raise FigureError(f"two readings are called {label!r}, expected another name in also")
            readings[label] = value
            failing |= {label} if one in other.failing else set()
        rows.append(other.rows.assign(also=name))
    return replace(first, readings=readings, failing=frozenset(failing), rows=pd.concat(rows, ignore_index=True))


@singledispatch
def work_out(about: Kind, stated: Stated, book: Book) -> Answer:
    """Work out one reading of a claim's words; raises SelectionError, FormulaError or FigureError."""
    raise FigureError(f"{about.id}: no figure follows from a claim of this kind")


@work_out.register
def _(about: Unverifiable, stated: Stated, book: Book) -> Answer:
    raise FigureError(about.because)


@work_out.register
def _(about: Value, stated: Stated, book: Book) -> Answer:
    met = select_some(book.results, about.subject) if about.take else select_one(book.results, about.subject)
    is_time = about.measure == "time_to_train"
    if is_time:
        _check_scores(met, about.subject)
    columns = TIME_COLUMNS if is_time else {f"in {about.measure}": SIZE_COLUMNS[about.measure]}
    if about.per and is_time:
        raise FigureError(f"per is {about.per}, expected none: a time is not shared out")
    in_unit = 1 / TIMES[stated.unit.lower()] if is_time else 1.0
    rows = pd.DataFrame([prefix("subject", row) for _, row in met.iterrows()])
    for name, column in columns.items():
        rows[name] = [_number(row[column]) * in_unit / _divisor(row, about.per) for _, row in met.iterrows()]
    taken = {name: _take(rows[name], about.take, better="low" if is_time else "high") for name in columns}
    spread = None
    if is_time and len(met) == 1 and (minutes := _list_run_minutes(met.iloc[0], book)):
        spread = (min(minutes) * in_unit, max(minutes) * in_unit)
    beside = frozenset({CLOCK}) if is_time else frozenset()
    return Answer(_known(taken), rows, beside=beside, spread=spread, of_logs=is_time)


@work_out.register
def _(about: Ratio, stated: Stated, book: Book) -> Answer:
    pairs = list(_pair(about, book))
    rows = pd.DataFrame([prefix("subject", one) | prefix("baseline", other) for one, other in pairs])
    ratios = pd.DataFrame([_compare(one, other, about) for one, other in pairs])
    is_time = about.measure == "time_to_train"
    take, better = about.take or "worst", _better_side(stated, is_time=is_time)
    known = [name for name in ratios if ratios[name].notna().all()]
    taken = {name: _take(ratios[name], take, better=better) for name in known}
    spread = None
    if is_time:
        spreads = [_spread(one, other, about, book) for one, other in pairs]
        edges = [_take([edge[at] for edge in spreads], take, better=better) for at in (0, 1)]
        spread = tuple(sorted(_print(edge, stated, about.measure) for edge in edges))
        single = {name: ratio for name, ratio in taken.items() if name != PER_ACCELERATOR}
        taken = {**single, PER_ACCELERATOR: taken[PER_ACCELERATOR]} if PER_ACCELERATOR in taken else single
    readings = {name: _print(ratio, stated, about.measure) for name, ratio in taken.items()}
    rows = rows.join(ratios)
    beside = frozenset({PER_ACCELERATOR})
    return Answer(_known(readings), rows, beside=beside, spread=_finite(spread), of_logs=is_time)


@work_out.register
def _(about: Efficiency, stated: Stated, book: Book) -> Answer:
    pair = Ratio(id=about.id, says=about.says, stated=about.stated, subject=about.subject, baseline=about.baseline)
    one, other = next(_pair(pair, book))
    growth = _number(one["accelerators_total"]) / _number(other["accelerators_total"])
    ratios = {name: value for name, value in _compare(one, other, pair).items() if name != PER_ACCELERATOR}
    shares = {name: 100 * ratio / growth for name, ratio in ratios.items()}
    rows = pd.DataFrame([prefix("subject", one) | prefix("baseline", other) | shares | {"growth_x": growth}])
    low, high = (100 * edge / growth for edge in _spread(one, other, pair, book))
    return Answer(_known(shares), rows, spread=_finite((low, high)))


@work_out.register
def _(about: Rank, stated: Stated, book: Book) -> Answer:
    is_time = about.measure == "time_to_train"
    subject, others = _field(about.subject, about.field, book, scored=is_time)
    columns = TIME_COLUMNS if is_time else {f"in {about.measure}": SIZE_COLUMNS[about.measure]}
    better = "low" if is_time else "high"
    contests = list(_contest(about, subject, others, book))
    if is_time:
        for own, rivals in contests:
            _check_contest(own, rivals)
    rows = pd.DataFrame(
        [
            _best_row("subject", own, columns, better) | _best_row("baseline", rivals, columns, better)
            for own, rivals in contests
        ]
    )
    places = {name: [_place(own[c], rivals[c], better) for own, rivals in contests] for name, c in columns.items()}
    if about.each:
        total = len(contests)
        wins = {name: float(sum(place == 1 for place in found)) for name, found in places.items()}
        rows = rows.assign(**{f"place, {name}": found for name, found in places.items()})
        failing = frozenset(wins) if stated.total not in (None, total) else frozenset()
        return Answer(wins, rows, failing, unit=f"of {total}", total=total, of_logs=is_time)
    first = {name: found[0] for name, found in places.items()}
    if stated.unit == "place":
        return Answer({name: float(place) for name, place in first.items()}, rows, of_logs=is_time)
    own, rivals = contests[0]
    held = pd.concat([own, rivals])
    in_unit = 1 / TIMES.get(stated.unit.lower(), 1.0) if is_time else 1.0
    figures = {name: _take(held[column], "best", better=better) * in_unit for name, column in columns.items()}
    failing = frozenset(name for name, place in first.items() if place != 1)
    beside = frozenset({CLOCK}) if is_time else frozenset()
    return Answer(_known(figures), rows, failing, beside, of_logs=is_time)


@work_out.register
def _(about: Only, stated: Stated, book: Book) -> Answer:
    subject, others = _field(about.subject, about.field, book, scored=False)
    own = _entrants(subject, about.by)
    if about.each:
        wanted = set(subject["benchmark"]) | set(others["benchmark"])
        missing = wanted - set(subject["benchmark"])
        if missing:
            raise FigureError(f"{about.subject} has no result on {', '.join(sorted(missing))}, and so is not on each")
        others = _keep(others, [covered >= wanted for covered in _covers(others, about.by)])
    rivals = _leave_out(others, own, about.by)
    found = len(_entrants(rivals, about.by))
    reading = f"counting {about.by}s"
    rows = _set_beside(subject, _largest_of_each(rivals, about.by))
    failing = frozenset({reading}) if found else frozenset()
    if stated.word:
        unit = about.by if not found else f"{about.by}s"
        return Answer({reading: 1.0 + found}, rows, failing, unit=unit, of_logs=False)
    return Answer({reading: _number(subject["accelerators_total"].max())}, rows, failing, of_logs=False)


@work_out.register
def _(about: First, stated: Stated, book: Book) -> Answer:
    subject = select_some(book.results, about.subject)
    began = min(map(order_round, subject["round"]))
    field_ = narrow(book.results, about.field)
    if not subject.index.isin(narrow(book.results, msgspec.structs.replace(about.field, round=None)).index).any():
        raise SelectionError(
            f"{about.subject} meets nothing in the field {about.field}, expected its own results there"
        )
    others = field_[~field_.index.isin(subject.index)]
    when = [order_round(round_) for round_ in others["round"]]
    earlier = _keep(others, [at < began for at in when])
    rivals = _leave_out(_keep(others, [at == began for at in when]), _entrants(subject, about.by), about.by)
    oldest = min(book.results["round"], key=order_round)
    found = len(_entrants(earlier, about.by))
    readings = {f"rounds since {oldest}": 1.0 + found}
    if len(rivals):
        readings["others of its own round counted"] = 1.0 + found + len(_entrants(rivals, about.by))
    rows = _set_beside(subject, pd.concat([_largest_of_each(earlier, about.by), _largest_of_each(rivals, about.by)]))
    failing = frozenset(name for name, place in readings.items() if place > 1)
    return Answer(readings, rows, failing, unit="place", of_logs=False)


@work_out.register
def _(about: Count, stated: Stated, book: Book) -> Answer:
    met = _meet(about.subject, book)
    counts = _count(met, about.of)
    rows = pd.DataFrame([prefix("subject", row) for _, row in met.iterrows()])
    if about.baseline is not None:
        other = _meet(about.baseline, book)
        below = _count(other, about.of)
        if not all(below.values()):
            raise FigureError(f"{about.baseline} meets no {about.of}, and something is divided by their number")
        pair = {"": counts, "below": below}
        counts = {
            name: _print(_read(pair, name)[""] / _read(pair, name)["below"], stated, about.of)
            for name in {**counts, **below}
        }
        rows = pd.concat([rows, pd.DataFrame([prefix("baseline", row) for _, row in other.iterrows()])])
    return Answer(counts, rows, of_logs=about.of == "runs")


@work_out.register
def _(about: Derived, stated: Stated, book: Book) -> Answer:
    formula = Formula(about.formula)
    operands = {name: find_operand(name, about, book) for name in formula.names}
    # each operand's own deciding reading first: none may be decided by another reading of what it rests on
    firsts = [name for operand in operands.values() if (name := next(iter(operand)))]
    names = dict.fromkeys([*(firsts or [PLAIN]), *(name for operand in operands.values() for name in operand if name)])
    deciding, *others = names
    readings = {deciding: formula.work_out(_read(operands, deciding))}
    readings |= {name: _work_out_or_nan(formula, _read(operands, name)) for name in others}
    if math.isnan(readings[deciding]):
        unknown = [name for name, operand in operands.items() if math.isnan(next(iter(operand.values())))]
        raise FigureError(f"{', '.join(unknown)} is not known for these results, and {about.formula} needs it")
    used = tuple(name for name in formula.names if name in book.names)
    answers = {name: book.answer(book.names[name]) for name in used}
    spreads = {name: answer.spread for name, answer in answers.items() if answer.spread}
    first = _read(operands, deciding)
    corners = itertools.product(*spreads.values()) if 0 < len(spreads) <= MOST_SPREADS else ()
    edges = [_work_out_or_nan(formula, first | dict(zip(spreads, corner, strict=True))) for corner in corners]
    own: dict = {}
    for role in (role for role in ("subject", "baseline") if getattr(about, role) is not None):
        own |= prefix(role, select_one(book.results, getattr(about, role)).iloc[0])
    rests_on = [book.names[name].id for name in used]
    below = [answer.rows.assign(rests_on=id_) for id_, answer in zip(rests_on, answers.values(), strict=True)]
    rows = pd.concat([pd.DataFrame([own] if own else []), *below], ignore_index=True)
    # what a claim rests on twice, through two others, is behind it once: without this they would multiply
    keys = [f"{role}_{name}" for role in ("subject", "baseline") for name in RESULT_KEY]
    rows = rows.drop_duplicates([name for name in (*keys, "rests_on", "also") if name in rows], ignore_index=True)
    is_timed = any(name.endswith(("time_to_train", "samples_per_min", "subject_time")) for name in formula.names)
    return Answer(
        _known(readings),
        rows,
        spread=_finite((min(edges), max(edges))) if edges and not any(map(math.isnan, edges)) else None,
        of_logs=is_timed or any(answer.of_logs for answer in answers.values()),
        rests_on=tuple(rests_on),
    )


def _work_out_or_nan(formula: Formula, values: Mapping[str, float]) -> float:
    try:
        return formula.work_out(values)
    except FormulaError:  # a division by zero, under a reading that does not decide
        return math.nan


def find_operand(name: str, about: Derived, book: Book) -> dict[str, float]:
    """Return what a name in a formula stands for under each reading; under "" where there is but one."""
    if name in book.article.assumptions:
        return {"": book.article.assumptions[name].value}
    if name in book.names:
        claim = book.names[name]
        try:
            answer = book.answer(claim)
        except (ValueError, LookupError, ArithmeticError) as error:
            raise type(error)(f"it rests on {claim.id}: {error}") from error
        counting = {one: value for one, value in answer.readings.items() if one not in answer.beside}
        return {"" if one == PLAIN else one: value for one, value in counting.items()}
    role, _, part = name.partition(".")
    if part == "stated":
        return {"": book.names[role].stated.value}
    result = select_one(book.results, getattr(about, role)).iloc[0]
    match part:
        case "time_to_train":
            check_score(result, getattr(about, role))
            return {name: _number(result[column]) for name, column in TIME_COLUMNS.items()}
        case "accelerators" | "nodes":
            return {"": _number(result[SIZE_COLUMNS[part]])}
        case "samples_per_min":
            return {"": _number(result["samples_per_min"])}
        case "units_named":
            match = re.search(r"(\d+)x\b", result["system_name"])
            return {"": float(match[1]) if match else math.nan}
        case "accelerators_at_subject_time":
            subject = select_one(book.results, about.subject).iloc[0]
            check_comparable(subject, result)
            series = find_series(book.results, result)
            return {
                name: accelerators_for(series, _number(subject[column]), score=column)
                for name, column in TIME_COLUMNS.items()
            }
    raise FigureError(f"{about.id}: formula has {name!r}, which is no measure")


def _read(operands: Mapping[str, Mapping[str, float]], reading: str) -> dict[str, float]:
    """Return the value of each operand under a reading; the deciding one where it has no such."""
    return {name: operand.get(reading, next(iter(operand.values()))) for name, operand in operands.items()}


def _pair(about: Ratio, book: Book) -> Iterator[tuple[pd.Series, pd.Series]]:
    """Yield what a ratio compares: one pair, or one or more for each size or benchmark that both sides have."""
    several = about.each or about.take
    choose = select_some if several else select_one
    plain = [_unpicked(selection) if about.each else selection for selection in (about.subject, about.baseline)]
    subjects, baselines = (choose(book.results, selection) for selection in plain)
    column = {"size": "accelerators_total", "benchmark": "benchmark", None: None}[about.each]
    groups = [(subjects, baselines)]
    if column:
        shared = sorted(set(subjects[column]) & set(baselines[column]))
        if not shared:
            raise SelectionError(f"{about.subject} and {about.baseline} share no {about.each}")
        groups = [
            (
                pick(subjects[subjects[column] == at], about.subject),
                pick(baselines[baselines[column] == at], about.baseline),
            )
            for at in shared
        ]
    is_time = about.measure == "time_to_train"
    for own, others in groups:
        for (_, one), (_, other) in itertools.product(own.iterrows(), others.iterrows()):
            if is_time:
                check_score(one, about.subject)
                check_score(other, about.baseline)
                check_comparable(one, other)
            if one.name == other.name:
                raise SelectionError(f"{about.subject} and {about.baseline} meet the same result, expected two")
            yield one, other


def _unpicked(selection: Selection) -> Selection:
    return Selection(**{name: getattr(selection, name) for name in selection.__struct_fields__ if name != "pick"})


def _compare(one: pd.Series, other: pd.Series, about: Ratio) -> dict[str, float]:
    """Return subject over baseline under each reading: performance for times, which grow worse; sizes as they are."""
    if about.measure != "time_to_train":
        column = SIZE_COLUMNS[about.measure]
        share = _divisor(one, about.per) / _divisor(other, about.per)
        return {f"in {about.measure}": _quotient(one[column], other[column]) / share}
    ratios = {name: _quotient(other[column], one[column]) for name, column in TIME_COLUMNS.items()}
    ratios[PACE] = _quotient(one["samples_per_min"], other["samples_per_min"])
    if about.per:
        return {name: ratio * _divisor(other, about.per) / _divisor(one, about.per) for name, ratio in ratios.items()}
    ratios[PER_ACCELERATOR] = ratios[OFFICIAL] * _quotient(other["accelerators_total"], one["accelerators_total"])
    return ratios


def _spread(one: pd.Series, other: pd.Series, about: Ratio, book: Book) -> tuple[float, float]:
    """Return the lowest and the highest ratio between single runs, each normalised by its own convergence."""
    own, others = _list_run_minutes(one, book), _list_run_minutes(other, book)
    share = _divisor(other, about.per) / _divisor(one, about.per)
    if not own or not others:
        return math.nan, math.nan
    return min(others) / max(own) * share, max(others) / min(own) * share


def _list_run_minutes(result: pd.Series, book: Book) -> list[float]:
    """Return the minutes of a result's counted runs, each normalised by its own convergence."""
    runs = book.runs_of(result)
    return [float(minutes) for minutes in runs.loc[runs["not_counted"] == "", "normalised_min"]]


def _print(ratio: float, stated: Stated, measure: str) -> float:
    """Return a ratio as the claim prints it: 2.1x, 110% more, half the time, 52% less."""
    share = 1 / ratio if measure == "time_to_train" else ratio
    match stated.ratio_form:
        case "gain":
            return 100 * (ratio - 1)
        case "share":
            return share
        case "share in %":
            return 100 * share
        case "part in %":
            return 100 * ratio
        case "saved":
            return 100 * (1 - share)
    return ratio


def _better_side(stated: Stated, *, is_time: bool) -> str:
    """Return which side of a ratio, of performance or of size, the words claim: low for slower, fewer, a part."""
    smaller = stated.ratio_form in ("share", "share in %", "part in %", "saved") and not is_time
    return "low" if smaller or (stated.relation in ("under", "at most") and stated.ratio_form == "times") else "high"


def _field(subject: Selection, field_: Selection, book: Book, *, scored: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the subject's results within a field, and those of the field that are not the subject's."""
    among = select_some(book.results, field_)
    own = select_some(book.results, subject)
    own = own[own.index.isin(among.index)]
    if own.empty:
        raise SelectionError(f"{subject} meets nothing in the field {field_}, expected its own results there")
    others = among[~among.index.isin(own.index)]
    if scored:
        if (own["no_score"] != "").all():
            check_score(own.iloc[0], subject)
        own, others = own[own["no_score"] == ""], others[others["no_score"] == ""]
    return own, others


def _contest(
    about: Rank, subject: pd.DataFrame, others: pd.DataFrame, book: Book
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield the subject's results beside those of others: all of them, or at each size or benchmark."""
    match about.each:
        case "benchmark":
            for benchmark in sorted({*subject["benchmark"], *others["benchmark"]}):
                yield subject[subject["benchmark"] == benchmark], others[others["benchmark"] == benchmark]
        case "size":
            rivals = others[~others["submitter"].isin(set(subject["submitter"]))]
            for size in sorted(set(subject["accelerators_total"])):
                yield subject[subject["accelerators_total"] == size], find_nearest(rivals, size)
        case _:
            yield subject, others


def _check_contest(own: pd.DataFrame, rivals: pd.DataFrame) -> None:
    seen = pd.concat([own, rivals]).drop_duplicates(["round", "benchmark"])
    for _, row in seen.iloc[1:].iterrows():
        check_comparable(seen.iloc[0], row)


def _place(own: pd.Series, rivals: pd.Series, better: str) -> int:
    """Return the place of the best of its own values among those of rivals; 0 where it has none."""
    if own.dropna().empty:
        return 0
    best = _take(own, "best", better=better)
    return 1 + int(((rivals < best) if better == "low" else (rivals > best)).sum())


def _best_row(role: str, met: pd.DataFrame, columns: Mapping[str, str], better: str) -> dict:
    column = next(iter(columns.values()))
    return prefix(role, met.sort_values(column, ascending=better == "low", kind="stable").iloc[0]) if len(met) else {}


def _largest_of_each(met: pd.DataFrame, by: str) -> pd.DataFrame:
    return met.sort_values("accelerators_total", ascending=False, kind="stable").drop_duplicates(ENTRANTS[by])


def _set_beside(subject: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return the largest of the subject's results beside each of the others; alone where there are none."""
    own = _best_row("subject", subject, SIZE_COLUMNS, "high")
    return pd.DataFrame([own | prefix("baseline", row) for _, row in others.iterrows()] or [own])


def _keys(met: pd.DataFrame, by: str) -> list[tuple]:
    return list(met[ENTRANTS[by]].itertuples(index=False, name=None))


def _keep(met: pd.DataFrame, kept: Sequence[bool]) -> pd.DataFrame:
    return met[pd.Series(kept, index=met.index, dtype=bool)]


def _leave_out(met: pd.DataFrame, entrants: set[tuple], by: str) -> pd.DataFrame:
    """Return the results of other entrants than these."""
    return _keep(met, [key not in entrants for key in _keys(met, by)])


def _entrants(met: pd.DataFrame, by: str) -> set[tuple]:
    return set(_keys(met, by))


def _covers(met: pd.DataFrame, by: str) -> list[set[str]]:
    """Return, for each result, the benchmarks that its entrant has results on."""
    found: dict[tuple, set[str]] = {}
    for key, benchmark in zip(_keys(met, by), met["benchmark"], strict=True):
        found.setdefault(key, set()).add(benchmark)
    return [found[key] for key in _keys(met, by)]


def _meet(selection: Selection, book: Book) -> pd.DataFrame:
    """Return the results that are counted: perhaps none, but not by a name that no result has."""
    met = pick(narrow(book.results, selection), selection)
    if met.empty:
        check_known(book.results, selection)
    return met


def _count(met: pd.DataFrame, of: str) -> dict[str, float]:
    """Count what is asked for among results; submitters as they are named, and each partner of a joint one."""
    match of:
        case "results":
            return {"results": float(len(met))}
        case "runs":
            return {"runs that count": float((met["logs"] - met["logs_absent"] - met["runs_not_counted"]).sum())}
        case "accelerators":
            systems = met.drop_duplicates(COUNTED["systems"])
            return {"over all systems": float(systems["accelerators_total"].sum())}
    counts = {of: float(len(met.drop_duplicates(COUNTED[of])))}
    if of == "submitters":
        partners = {partner for name in met["submitter"] for partner in split_submitter(name)}
        counts |= {"each partner counted": float(len(partners))} if len(partners) != counts[of] else {}
    return counts


def _check_scores(met: pd.DataFrame, selection: Selection) -> None:
    for _, row in met.iterrows():
        check_score(row, selection)


def _take(values: Iterable[float], take: str | None, *, better: str = "high") -> float:
    """Return the worst, the best or the mean of values; the one there is, where none is asked."""
    found = [float(value) for value in values if not pd.isna(value)]
    if not found:
        return math.nan
    match take:
        case "mean":
            return sum(found) / len(found)
        case "best":
            return min(found) if better == "low" else max(found)
        case "worst":
            return max(found) if better == "low" else min(found)
    return found[0]


def _known(readings: Mapping[str, float]) -> dict[str, float]:
    """Leave out the readings that not every result allows; the deciding one must be there."""
    first = next(iter(readings), "")
    if not first or math.isnan(readings[first]):
        raise FigureError(f"{first or 'the figure'} is not known for these results")
    return {name: value for name, value in readings.items() if not math.isnan(value)}


def _finite(spread: Sequence[float] | None) -> tuple[float, float] | None:
    return (spread[0], spread[1]) if spread and all(map(math.isfinite, spread)) else None


def _number(value: object) -> float:
    return math.nan if pd.isna(value) else float(value)


def _quotient(one: object, other: object) -> float:
    above, below = _number(one), _number(other)
    return above / below if below else math.nan


def _divisor(row: pd.Series, per: str | None) -> float:
    """Return what a figure is shared out over: 1, accelerators or nodes; nan where there are none."""
    count = 1.0 if per is None else _number(row["accelerators_total" if per == "accelerator" else "nodes"])
    return count or math.nan
