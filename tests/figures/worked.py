"""Figures worked out a second time from the CSVs alone.

Of `mlperf_claims` only the place of the files is used. Shared by one test file per article.
"""

import csv
import math
from functools import cache

import pytest
import yaml

from mlperf_claims import paths

KEY = ("round", "organization", "system", "benchmark")
MAKERS = ("NVIDIA", "AMD", "TPU", "Intel")  # as the names of their accelerators have them
inf = math.inf


@cache
def read(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@cache
def read_runs():
    """The logs of each result."""
    found = {}
    for run in read(paths.TRAINING / "runs.csv"):
        found.setdefault(tuple(run[key] for key in KEY), []).append(run)
    return found


def need(*rounds):
    """Skip where `data/` does not hold these rounds."""
    held = {row["round"] for row in read(paths.TRAINING / "rounds.csv")}
    missing = ", ".join(sorted(set(rounds) - held))
    return pytest.mark.skipif(bool(missing), reason=f"data/training does not hold {missing}")


def entries(*, round_="", benchmark="", submitter="", chip="", size=0, maker="", system=""):
    """The closed results that have logs, narrowed by what is given; "" and 0 stand for any."""
    return [
        row
        for row in read(paths.TRAINING / "results.csv")
        if row["division"] == "closed"
        and int(row["logs"]) > int(row["logs_absent"])
        and round_ in ("", row["round"])
        and benchmark in ("", row["benchmark"])
        and submitter in ("", row["submitter"])
        and system in ("", row["system"])
        and chip in row["accelerator"]
        and maker in row["accelerator"]
        and size in (0, total(row))
    ]


def total(entry):
    return int(entry["nodes"]) * int(entry["accelerators_per_node"])


def minutes(run):
    """Of a run, from start to stop; one that did not succeed counts as the slowest."""
    return (int(run["stop_ms"]) - int(run["start_ms"])) / 60_000 if run["status"] == "success" else inf


def averaged(entry):
    """The runs left when the fastest and the slowest are dropped; of UNet3D the four at each end."""
    runs = sorted(read_runs()[tuple(entry[key] for key in KEY)], key=minutes)
    dropped = 4 if entry["benchmark"] == "unet3d" else 1
    return runs[dropped : len(runs) - dropped]


def clock(entry):
    runs = averaged(entry)
    return sum(map(minutes, runs)) / len(runs)


def official(entry):
    return clock(entry) * float(entry["scaling_factor"] or 1)


def pace(entry):
    """Samples a minute, over the runs averaged; nan where a log counts in something else."""
    runs = averaged(entry)
    if {run["convergence_unit"] for run in runs} != {"samples_count"}:
        return math.nan
    return sum(float(run["converged_at"]) for run in runs) / sum(map(minutes, runs))


def fastest(**wanted):
    return min(entries(**wanted), key=official)


def one(**wanted):
    """The only entry that meets all this."""
    (found,) = entries(**wanted)
    return found


def speedups(subject, baseline):
    """By official score, clock, and samples a minute where both count samples."""
    ratios = [official(baseline) / official(subject), clock(baseline) / clock(subject), pace(subject) / pace(baseline)]
    return [ratio for ratio in ratios if not math.isnan(ratio)]


def maker_of(entry):
    return next((maker for maker in MAKERS if maker in entry["accelerator"]), "other")


def first_by(score, own, among):
    """Whether none of the field is better than the best of its own."""
    return min(map(score, own)) <= min(map(score, among))


def judge(value, low, high, *, flatters="high"):
    if low <= value < high:
        return "confirmed"
    return "overstated" if (value < low) == (flatters == "high") else "understated"


def hold(*truths):
    """The verdict on words: they hold or they do not."""
    return ["confirmed" if truth else "contradicted" for truth in truths]


class Reviewed:
    """An article's claims and the verdicts reviewed."""

    def __init__(self, name):
        self.path = paths.ARTICLES / f"{name}.yaml"

    def claims(self):
        return {claim["id"]: claim for claim in yaml.safe_load(self.path.read_text(encoding="utf-8"))["claims"]}

    def verdicts(self):
        return {row["claim"]: (row["verdict"], row["robust"]) for row in read(self.path.with_suffix(".verdicts.csv"))}

    def agree(self, claim, found, expected):
        """The verdicts are those of the row, and the reviewed ones say the same of the first and of all."""
        assert found == expected
        assert self.verdicts()[claim] == (found[0], "yes" if len(set(found)) == 1 else "no")

    def check_complete(self, text):
        """Each claim is named in a test, and has a verdict reviewed; no verdict is left over."""
        claims = self.claims()
        assert list(self.verdicts()) == list(claims)
        assert [claim for claim in claims if f'"{claim}"' not in text] == []


def family(names, rows):
    """A test for each row, named by its claim."""
    return pytest.mark.parametrize(names, rows, ids=[row[0] for row in rows])
