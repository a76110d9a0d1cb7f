"""The rules' constants: how a benchmark is scored."""

import csv
from functools import cache
from typing import NamedTuple

from mlperf_claims import paths


class Rule(NamedTuple):
    """How a benchmark is scored."""

    runs: int  # of a result
    dropped: int  # of them, from each end before the mean
    accepted_sooner: int  # samples that it may converge before what the test of significance accepts


@cache
def load_rules() -> dict[str, Rule]:
    """Load `data/benchmarks.csv`: the rule of each benchmark that has one."""
    with paths.BENCHMARKS.open(newline="", encoding="utf-8") as stream:
        return {row["benchmark"]: Rule(*(int(row[name]) for name in Rule._fields)) for row in csv.DictReader(stream)}


def rule_of(benchmark: str) -> Rule:
    """Return the rule of a benchmark, or the general one, which leaves one run to average."""
    return load_rules().get(benchmark, Rule(runs=3, dropped=1, accepted_sooner=0))
