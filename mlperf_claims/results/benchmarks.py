"""The rules' constants: how a benchmark is scored, and over which rounds its results compare."""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mlperf_claims import paths


class Rule(NamedTuple):
    """How a benchmark is scored."""

    runs: int  # of a result
    dropped: int  # of them, from each end before the mean
    accepted_sooner: int  # samples that it may converge before what the test of significance accepts


class Span(NamedTuple):
    """The rounds over which a benchmark did not change."""

    model: str  # the same for two names of one benchmark
    first_round: str
    last_round: str
    source: str


@cache
def load_rules() -> dict[str, Rule]:
    """Load `data/benchmarks.csv`: the rule of each benchmark that has one."""
    return {row["benchmark"]: Rule(*(int(row[name]) for name in Rule._fields)) for row in _load(paths.BENCHMARKS)}


def rule_of(benchmark: str) -> Rule:
    """Return the rule of a benchmark, or the general one, which leaves one run to average."""
    return load_rules().get(benchmark, Rule(runs=3, dropped=1, accepted_sooner=0))


@cache
def load_spans() -> dict[str, Span]:
    """Load `data/comparable.csv`: the rounds within which results of each benchmark compare."""
    return {row["benchmark"]: Span(*(row[name] for name in Span._fields)) for row in _load(paths.COMPARABLE)}


def incomparable(benchmark_a: str, round_a: str, benchmark_b: str, round_b: str) -> str:
    """Say why results of two benchmarks or rounds may not be compared; empty if they may.

    Source: MLCommons' compatibility table: they compare over the rounds in which a benchmark did not change.
    """
    span_a, span_b = load_spans().get(benchmark_a), load_spans().get(benchmark_b)
    if benchmark_a != benchmark_b and (span_a is None or span_b is None or span_a.model != span_b.model):
        return f"{benchmark_a} {round_a} and {benchmark_b} {round_b} are different benchmarks"
    if (benchmark_a, round_a) == (benchmark_b, round_b):
        return ""
    if span_a is None:
        return f"{benchmark_a} is not in {paths.COMPARABLE.name}, so {round_a} is not known to compare with {round_b}"
    held = [order_round(name) for name in span_a[1:3]]
    outside = [name for name in dict.fromkeys((round_a, round_b)) if not held[0] <= order_round(name) <= held[1]]
    if not outside:
        return ""
    _, first, last, source = span_a
    return f"results of {benchmark_a} compare from {first} to {last} ({source}), not with {' and '.join(outside)}"


def order_round(name: str) -> tuple[int, ...]:
    """Return what puts rounds in order of time: v4.1 before v5.0."""
    return tuple(map(int, name.removeprefix("v").split(".")))


def _load(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
