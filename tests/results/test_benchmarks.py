"""Tests of `benchmarks`: which results may be compared with each other."""

import re

import pytest

from mlperf_claims.results.benchmarks import incomparable, load_spans, order_round
from mlperf_claims.results.tables import load_results


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("gpt3", "v3.0"), ("gpt3", "v4.1")),
        (("bert", "v5.0"), ("bert", "v3.0")),  # in any order
        (("llama31_405b", "v5.0"), ("llama31_405b", "v5.1")),
        (("gnn", "v4.1"), ("rgat", "v5.0")),  # one benchmark under two names
        (("ssd", "v3.0"), ("retinanet", "v5.1")),
        (("ncf", "v0.5"), ("ncf", "v0.5")),  # of one round, whatever the table holds
    ],
)
def test_results_of_an_unchanged_benchmark_compare(one, other):
    """Within the rounds in which a benchmark did not change there is no reason against comparing."""
    assert incomparable(*one, *other) == ""


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("bert v4.1", "resnet v4.0", "bert v4.1 and resnet v4.0 are different benchmarks"),
        ("gpt3 v4.1", "llama31_405b v5.0", "gpt3 v4.1 and llama31_405b v5.0 are different benchmarks"),
        ("gpt3 v4.1", "gpt3 v5.0", "results of gpt3 compare from v3.0 to v4.1 (mlcommons/policies, …), not with v5.0"),
        ("ssd v1.1", "ssd v4.0", "results of ssd compare from v2.0 to v5.1 (mlcommons/policies, …), not with v1.1"),
        ("rnnt v1.0", "rnnt v10.0", "…from v1.1 to v3.1 (mlcommons/policies, …), not with v1.0 and v10.0"),
        ("ncf v0.5", "ncf v0.6", "ncf is not in comparable.csv, so v0.5 is not known to compare with v0.6"),
        ("ncf v0.5", "gnmt v0.5", "ncf v0.5 and gnmt v0.5 are different benchmarks"),
    ],
)
def test_what_does_not_compare_has_one_reason(one, other, reason):
    """Another benchmark, and a round in which it was another version, are said in one sentence, with the source."""
    said = incomparable(*one.split(), *other.split())
    assert re.fullmatch(re.escape(reason).replace("…", ".*"), said)


def test_every_benchmark_read_lies_in_its_span():
    """The table covers each benchmark of the results, in every round that has it."""
    results, spans = load_results(), load_spans()
    for benchmark, round_ in sorted(set(zip(results["benchmark"], results["round"], strict=True))):
        span = spans[benchmark]
        assert order_round(span.first_round) <= order_round(round_) <= order_round(span.last_round)
