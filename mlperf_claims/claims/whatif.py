"""Ask what a derived claim would come to, and when its verdict would change, under other assumptions."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from mlperf_claims.claims.articles import Claim, NoClaims
from mlperf_claims.claims.formulas import Formula, FormulaError
from mlperf_claims.claims.kinds import Book, find_operand, work_out
from mlperf_claims.claims.schema import Derived

LONGEST_EXPANDED = 5_000  # characters of a formula that other claims' formulas are written into


def list_breaks(claims: Iterable[Claim], book: Book) -> pd.DataFrame:
    """List, for every derived claim and assumption it rests on, over which values of it the printed figure holds.

    Returns: one row per (claim, reading, assumption): `claim`, `stated`, `reading`, `assumption`, `unit`,
        `assumed`, `from` and `to` (nan where it holds nowhere between a hundredth and a hundred times of it).
    """
    rows = []
    for claim, reading, text in _list_formulas(claims, book):
        for name in Formula(text, longest=LONGEST_EXPANDED).names:
            assumed = book.article.assumptions[name]
            values = {one: assumption.value for one, assumption in book.article.assumptions.items()}
            low, high = find_breaks(text, name, values, claim.stated.interval)
            facts = {"claim": claim.id, "stated": claim.stated.text, "reading": reading, "assumption": name}
            rows.append(facts | {"unit": assumed.unit, "assumed": assumed.value, "from": low, "to": high})
    columns = ["claim", "stated", "reading", "assumption", "unit", "assumed", "from", "to"]
    return pd.DataFrame(rows, columns=columns)


@dataclass(frozen=True)
class Lead:
    """The derived claim whose assumptions a reader is asked to move, and the assumption that is drawn."""

    claim: str
    formula: str  # over the names of assumptions alone, of the deciding reading
    assumptions: Mapping[str, float]  # that are in it
    interval: tuple[float, float]  # that the printed figure stands for
    printed_unit: str
    assumption: str
    unit: str
    assumed: float
    title: str


def find_lead(claims: Iterable[Claim], book: Book) -> Lead:
    """Find the claim on assumptions that the article leads with, or else its last; NoClaims if it has none."""
    given = book.article.assumptions
    found = {}
    for claim, _, text in _list_formulas(claims, book):
        if names := Formula(text, longest=LONGEST_EXPANDED).names:
            found.setdefault(claim.id, (claim, text, names))
    if not found:
        raise NoClaims("No printed figure here rests on an assumption.")
    claim, text, names = next((one for one in found.values() if one[0].about.headline), list(found.values())[-1])
    values = {name: given[name].value for name in names}
    low, high = find_breaks(text, names[0], values, claim.stated.interval)
    holds = f"holds from {low:,.1f} to {high:,.1f} {given[names[0]].unit}" if low == low else "holds at none of them"
    return Lead(
        claim=claim.id,
        formula=text,
        assumptions=values,
        interval=claim.stated.interval,
        printed_unit=claim.stated.unit,
        assumption=names[0],
        unit=given[names[0]].unit,
        assumed=values[names[0]],
        title=f"{claim.stated.text} ({claim.id}) {holds}",
    )


def draw_curves(lead: Lead, book: Book) -> pd.DataFrame:
    """Work out the lead claim over a range of its first assumption, a quarter to four times of it.

    Returns: one row per (reading, value of the assumption): `reading`, `assumption`, `value`.
    """
    steps = [lead.assumed * 2 ** (step / 8) for step in range(-16, 17)]
    rows = [
        {"reading": reading, "assumption": at, "value": formula.work_out({**lead.assumptions, lead.assumption: at})}
        for _, reading, text in _list_formulas([book.article.claim(lead.claim)], book)
        for formula in [Formula(text, longest=LONGEST_EXPANDED)]
        for at in steps
    ]
    return pd.DataFrame(rows, columns=["reading", "assumption", "value"])


def describe_formulas(claims: Iterable[Claim], book: Book) -> pd.DataFrame:
    """Write out the formulas of derived claims, and in numbers.

    Returns: one row per formula: `claim`, `read_as` ("" for the first), `formula`, `numbers`, `value`.
    """
    rows = []
    for claim in claims:
        for name, about in {"": claim.about, **claim.also}.items():
            try:
                value = next(iter(work_out(about, claim.stated, book).readings.values()))
            except (ValueError, LookupError, ArithmeticError):  # its finding says why
                continue
            formula = Formula(about.formula)
            first = {one: next(iter(find_operand(one, about, book).values())) for one in formula.names}
            numbers = formula.write({one: f"{number:,.6g}" for one, number in first.items()})
            facts = {"claim": claim.id, "read_as": name, "formula": formula.write({one: one for one in first})}
            rows.append(facts | {"numbers": numbers, "value": value})
    return pd.DataFrame(rows, columns=["claim", "read_as", "formula", "numbers", "value"])


def _list_formulas(claims: Iterable[Claim], book: Book) -> Iterator[tuple[Claim, str, str]]:
    """Yield each derived claim that can be worked out, each of its readings, and its formula over assumptions alone."""
    for claim in claims:
        if not isinstance(claim.about, Derived):
            continue
        try:
            readings = work_out(claim.about, claim.stated, book).readings
            found = [(reading, expand(claim, book, reading=reading)) for reading in readings]
        except (ValueError, LookupError, ArithmeticError):  # its finding says why
            continue
        yield from ((claim, reading, text) for reading, text in found)


def expand(claim: Claim, book: Book, *, reading: str) -> str:
    """Write a derived claim's formula with a number for every name but those of assumptions.

    Args:
        reading: which of its operands' readings the numbers are.
    Raises: FormulaError if it grows beyond LONGEST_EXPANDED, or nests too deeply to be read again.
    """
    return Formula(_expand(claim.about, claim, book, reading), longest=LONGEST_EXPANDED).text


def _expand(about: Derived, claim: Claim, book: Book, reading: str) -> str:
    formula = Formula(about.formula)
    written = {}
    for name in formula.names:
        inner = book.names.get(name)
        if name in book.article.assumptions:
            written[name] = name
        elif inner is not None and isinstance(inner.about, Derived):
            written[name] = _expand(*_read_as(inner, book, reading))
        else:
            operand = find_operand(name, about, book)
            value = operand.get(reading, next(iter(operand.values())))
            written[name] = repr(value) if value >= 0 else f"({value!r})"
    text = formula.write(written, signs=False)
    if len(text) > LONGEST_EXPANDED:
        raise FormulaError(f"{claim.id}: written out it has {len(text)} characters, expected {LONGEST_EXPANDED}")
    return text


def _read_as(claim: Claim, book: Book, reading: str) -> tuple[Derived, Claim, Book, str]:
    """Return which words of a claim stand for it under a reading, and which of their own readings."""
    readings = book.answer(claim).readings
    if reading in readings:
        for name, about in claim.also.items():
            if reading == name or reading.startswith(f"{name}, "):
                return about, claim, book, reading.removeprefix(name).removeprefix(", ")
        return claim.about, claim, book, reading
    return claim.about, claim, book, next(iter(readings))


def find_breaks(
    text: str, name: str, assumptions: Mapping[str, float], interval: tuple[float, float]
) -> tuple[float, float]:
    """Find over which values of one assumption a formula stays within an interval, the others as they are.

    Args:
        text: as `expand` writes it.
        name: of the assumption; values from a hundredth to a hundred times of it are tried.
    Returns: (from, to) of the stretch nearest to the assumed value; nan, nan where there is none.
    """
    formula, assumed, (low, high) = Formula(text, longest=LONGEST_EXPANDED), assumptions[name], interval

    def value(at: float) -> float:
        try:
            return formula.work_out({**assumptions, name: at})
        except ValueError:  # a division by zero on the way
            return math.nan

    steps = [assumed * 10 ** (step / 200) for step in range(-400, 401)]
    holding = [low <= value(at) < high for at in steps]
    stretches = [
        list(group) for holds, group in itertools.groupby(range(len(steps)), key=lambda n: holding[n]) if holds
    ]
    if not stretches:
        return math.nan, math.nan
    nearest = min(stretches, key=lambda stretch: min(abs(at - 400) for at in stretch))

    def edge(inside: int, outside: int) -> float:
        if not 0 <= outside < len(steps):
            return 0.0 if outside < 0 else math.inf
        holds, fails = steps[inside], steps[outside]
        for _ in range(60):
            middle = (holds + fails) / 2
            holds, fails = (middle, fails) if low <= value(middle) < high else (holds, middle)
        return holds

    return edge(nearest[0], nearest[0] - 1), edge(nearest[-1], nearest[-1] + 1)
