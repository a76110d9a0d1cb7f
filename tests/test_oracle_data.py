"""Tests of `collect` over the real results repositories, where a copy of them is at hand."""

import pytest

from mlperf_claims import paths
from mlperf_claims.read.collect import collect, open_sources

RAW = paths.ROOT.parent / "shared" / "raw"
pytestmark = pytest.mark.skipif(not RAW.is_dir(), reason=f"the real logs are not at {RAW}")


@pytest.fixture(scope="module")
def collected():
    """The tables of all the rounds, without evaluations: no test here asks for them."""
    return collect(open_sources(RAW), evaluations={})


@pytest.mark.parametrize(
    ("round_", "logs", "results"),
    [  # counted in the repositories
        *(("v3.0", 2771, 260), ("v3.1", 2208, 209), ("v4.0", 2448, 205)),
        *(("v4.1", 1319, 154), ("v5.0", 1717, 201), ("v5.1", 1679, 185)),
    ],
)
def test_every_log_and_result_of_a_round_is_read(collected, round_, logs, results):
    """No log is lost and none is invented, and each is listed under its result."""
    of_round = [row for row in collected.tables["results"] if row["round"] == round_]
    assert len(of_round) == results
    absent = sum(row["logs_absent"] for row in of_round)
    assert sum(row["round"] == round_ for row in collected.tables["runs"]) + absent == logs
    assert sum(row["logs"] for row in of_round) == logs
