"""Every claim of the audited article, worked out a second time from the CSVs alone.

Of `mlperf_claims` only the place of the files is used. Each row gives the values that the printed digits
stand for, the verdict under each reading, the deciding one first, and the figures it rests on.
"""

import csv
import math
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from mlperf_claims import paths

ARTICLE = paths.ARTICLES / "coreweave-blackwell-record.yaml"
CARINA = "CoreWeave + IBM + NVIDIA"
BOTH_2023 = "NVIDIA+CoreWeave"
KEY = ("round", "organization", "system", "benchmark")
inf = math.inf


@cache
def read(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def entries(*, submitter="", chip="", size=0, round_="v5.0", benchmark="llama31_405b"):
    """The closed results of a round, of one benchmark or with "" of any, narrowed by what else is given."""
    return [
        row
        for row in read(paths.TRAINING / "results.csv")
        if (row["round"], row["division"]) == (round_, "closed")
        and benchmark in ("", row["benchmark"])
        and submitter in ("", row["submitter"])
        and chip in row["accelerator"]
        and size in (0, total(row))
    ]


def total(entry):
    return int(entry["nodes"]) * int(entry["accelerators_per_node"])


def minutes(run):
    return (int(run["stop_ms"]) - int(run["start_ms"])) / 60_000


def middle(entry):
    """Of three successful runs the one that is neither the fastest nor the slowest."""
    runs = [run for run in read(paths.TRAINING / "runs.csv") if all(run[key] == entry[key] for key in KEY)]
    assert [run["status"] for run in runs] == ["success"] * 3
    return sorted(runs, key=minutes)[1]


def clock(entry):
    return minutes(middle(entry))


def official(entry):
    return clock(entry) * float(entry["scaling_factor"] or 1)


def fastest(**wanted):
    return min(entries(**wanted), key=official)


def judge(value, low, high, *, flatters="high"):
    if low <= value < high:
        return "confirmed"
    return "overstated" if (value < low) == (flatters == "high") else "understated"


def reviewed(claim):
    (row,) = (row for row in read(ARTICLE.with_suffix(".verdicts.csv")) if row["claim"] == claim)
    return row["verdict"], row["robust"]


def agree(claim, found, expected):
    """The verdicts are those of the row, and the reviewed ones say the same of the first and of all."""
    assert found == expected.split()
    assert reviewed(claim) == (found[0], "yes" if len(set(found)) == 1 else "no")


def family(names, rows):
    """A test for each row, named by its claim."""
    return pytest.mark.parametrize(names, rows, ids=[row[0] for row in rows])


GPT3_2023 = {"submitter": BOTH_2023, "round_": "v3.0", "benchmark": "gpt3"}
TIMES = [  # by official score; the clock stands beside, and counts neither for nor against an official time
    ("time-2496", {"submitter": CARINA, "size": 2496}, 27.325, 27.335, "confirmed"),  # 27.3347; 26.99 on the clock
    ("time-2048", {"submitter": CARINA, "size": 2048}, 32.55, 32.65, "confirmed"),  # 32.629; 31.99
    ("time-1536", {"submitter": CARINA, "size": 1536}, 42.455, 42.465, "confirmed"),  # 42.4629; 36.40
    ("time-1024", {"submitter": CARINA, "size": 1024}, 62.05, 62.15, "confirmed"),  # 62.066; 53.20
    ("time-512", {"submitter": CARINA, "size": 512}, 121.05, 121.15, "confirmed"),  # 121.093; 104.95
    ("v30-gpt3-time", GPT3_2023, -inf, 11, "confirmed"),  # 10.940, without a factor
]


@family(("claim", "subject", "low", "high", "verdicts"), TIMES)
def test_time(claim, subject, low, high, verdicts):
    """A time is the middle run's, times the stored factor; a longer one than printed is overstated."""
    entry = fastest(**subject)
    agree(claim, [judge(official(entry), low, high, flatters="low")], verdicts)
    assert clock(entry) <= official(entry)


def speedups(subject, baseline):
    """Official score, clock, samples per minute; the ratio per accelerator counts neither for nor against a claim."""
    ratio, on_clock = (score(baseline) / score(subject) for score in (official, clock))
    samples = float(middle(subject)["converged_at"]) / float(middle(baseline)["converged_at"])
    return [ratio, on_clock, samples * on_clock]


H200, NVIDIA_H100 = {"chip": "H200"}, {"submitter": "NVIDIA", "chip": "H100"}
SPEEDUPS = [  # Carina's size, baseline; by official score; clock; samples per minute
    # 57.543 / 27.335 = 2.105; 1.866; 2.136
    ("speedup-2496", 2496, NVIDIA_H100 | {"size": 2560}, 2.05, 2.15, "confirmed overstated confirmed"),
    # 70.195 / 32.629 = 2.1513; 1.88; 2.194
    ("speedup-2048", 2048, NVIDIA_H100 | {"size": 2048}, 2.145, 2.155, "confirmed overstated understated"),
    # 121.093 / 42.463 = 2.8517; 2.883; 2.8517
    ("speedup-1536", 1536, TIMES[4][1], 2.845, 2.855, "confirmed understated confirmed"),
    # 124.496 / 62.066 = 2.006, with equal factors
    ("speedup-1024", 1024, H200 | {"size": 1024}, 1.5, 2.5, "confirmed confirmed confirmed"),
    # 244.594 / 121.093 = 2.020; 1.998
    ("speedup-512", 512, H200 | {"size": 512}, 1.5, 2.5, "confirmed confirmed confirmed"),
]


@family(("claim", "size", "baseline", "low", "high", "verdicts"), SPEEDUPS)
def test_speedup(claim, size, baseline, low, high, verdicts):
    """A speed-up is the baseline's minutes over the subject's; a smaller one than printed is overstated."""
    ratios = speedups(fastest(submitter=CARINA, size=size), fastest(**baseline))
    agree(claim, [judge(ratio, low, high) for ratio in ratios], verdicts)


def test_speedup_same_size():
    """At each shared size, 512 twice, 1,024 and 2,048, by more than two; 1.88 on the clock at 2,048."""
    pairs = [
        speedups(own, hopper)
        for own in entries(submitter=CARINA)
        for hopper in entries(chip="H100", size=total(own)) + entries(chip="H200", size=total(own))
    ]
    assert len(pairs) == 4
    smallest = [min(ratios) for ratios in zip(*pairs, strict=True)]
    agree("speedup-same-size", [judge(x, 2, inf) for x in smallest], "confirmed overstated confirmed")


def test_speedup_vs_fastest_h100():
    """The fastest H100 entry has 8,192 and needs 20.8 minutes: 0.761; at 2,048 it is 2.1513."""
    readings = speedups(fastest(submitter=CARINA, size=2496), fastest(chip="H100"))
    readings += speedups(fastest(submitter=CARINA, size=2048), fastest(chip="H100", size=2048))[:1]
    expected = "overstated overstated overstated confirmed"
    agree("speedup-vs-fastest-h100", [judge(ratio, 2.145, 2.155) for ratio in readings], expected)


def test_scaling_efficiency():
    """4.43 times as fast with 4.875 times as many is 90.87 %; 79.8 on the clock, 92.2 in samples per minute."""
    ratio, on_clock, in_pace = speedups(*(fastest(submitter=CARINA, size=size) for size in (2496, 512)))
    shares = [100 * x / (2496 / 512) for x in (ratio, on_clock, in_pace)]
    agree("scaling-efficiency", [judge(x, 90.5, 91.5) for x in shares], "confirmed overstated understated")


def read_curve(time, score):
    """H100 that train in this time: a power law between NVIDIA's neighbouring sizes."""
    points = sorted((total(entry), score(entry)) for entry in entries(**NVIDIA_H100))
    for (small, slow), (large, quick) in pairwise(points):
        if quick <= time <= slow:
            return small * (slow / time) ** (math.log(large / small) / math.log(slow / quick))
    raise AssertionError(f"{time} minutes are on no stretch of the curve")


RACKS = [  # by official score; clock; samples per minute; curve, official; curve, clock; as printed
    # 2.1513 × 2,496 = 5,370; 4,694; 5,476; 5,996; 5,531
    ("h100-equivalents", 1, 5000, inf, "confirmed overstated confirmed confirmed confirmed"),
    # ÷ 32: 167.8; 146.7; 171.1; 187.4; 172.8; 156.25, of 156 within 5 %
    ("h100-racks", 32, 148.2, 163.8, "understated overstated understated understated understated confirmed"),
    # ÷ 39: 4.30; 3.76; 4.39; 4.80; 4.43; 4.01
    ("rack-reduction", 32 * 39, 3.5, 4.5, "confirmed confirmed confirmed understated confirmed confirmed"),
]


@family(("claim", "each", "low", "high", "verdicts"), RACKS)
def test_racks(claim, each, low, high, verdicts):
    """Equivalents are the speed-up at 2,048 times 2,496, or the H100 that are as fast; racks hold 32."""
    rates = speedups(fastest(submitter=CARINA, size=2048), fastest(chip="H100", size=2048))
    ours = fastest(submitter=CARINA, size=2496)
    equivalents = [2496 * rates[0], 2496 * rates[1], 2496 * rates[2]]
    equivalents += [read_curve(score(ours), score) for score in (official, clock)]
    equivalents += [5000] if each > 1 else []  # the printed figure, carried on into racks
    agree(claim, [judge(number / each, low, high) for number in equivalents], verdicts)


def test_own_racks():
    """The system is named `Carina (39x NVIDIA GB200 NVL72)`, and 39 racks of 64 are 2,496."""
    (entry,) = entries(submitter=CARINA, size=2496)
    named = int(entry["system_name"].removeprefix("Carina (").split("x")[0])
    used = [judge(racks, 38.5, 39.5, flatters="low") for racks in (named, total(entry) / 64)]
    agree("racks-used", used, "confirmed confirmed")
    agree("gpus-per-rack", [judge(total(entry) / named, 63.5, 64.5)], "confirmed")


def judge_rank(ranked, holder, low, high):
    """The largest of the ranked has the accelerators printed, and is the holder's alone."""
    first = max(map(total, ranked))
    holders = {row["submitter"] for row in ranked if total(row) == first}
    return judge(first, low, high) if holders == {holder} else "contradicted"


def test_largest_and_next():
    """Of all v5.0 Blackwell results the largest has 2,496; of other submitters NVIDIA's 512 is the next."""
    field = entries(chip="Blackwell", benchmark="")
    others = [row for row in field if row["submitter"] != CARINA]
    agree("largest-blackwell", [judge_rank(field, CARINA, 2495.5, 2496.5)], "confirmed")
    agree("next-largest", [judge_rank(others, "NVIDIA", 511.5, 512.5)], "confirmed")
    agree("size-vs-next", [judge(2496 / max(map(total, others)), 4.75, 4.85)], "understated")  # 4.875


def test_only_other_cloud():
    """Oracle alone has GB200 in a cloud too, but in systems of 4, 8 and 72: one submitter, three systems."""
    field = entries(chip="GB200", benchmark="")
    others = [row for row in field if row["availability"] == "Available cloud" and row["submitter"] != CARINA]
    size = judge(max(map(total, others)), 71.5, 72.5)
    found = [size if len({row[by] for row in others}) == 1 else "contradicted" for by in ("submitter", "system")]
    agree("only-other-cloud-gb200", found, "confirmed contradicted")
    agree("size-vs-cloud", [judge(2496 / max(map(total, others)), 34, inf)], "confirmed")  # 34.67


def test_fastest_at_five_sizes():
    """At each size no other entry as large, nor the next smaller or larger, is as fast, by either time."""
    rivals = [row for row in entries() if row["submitter"] != CARINA]
    won = {official: 0, clock: 0}
    for own in entries(submitter=CARINA):
        below = max(size for size in map(total, rivals) if size <= total(own))
        above = min(size for size in map(total, rivals) if size >= total(own))
        near = [row for row in rivals if total(row) in (below, above)]
        for score in won:
            won[score] += all(score(own) < score(row) for row in near)
    agree("fastest-five-sizes", [judge(count, 4.5, 5.5) for count in won.values()], "confirmed confirmed")


def test_runs_above_1000():
    """Four sizes above 1,000 with three successful runs each are twelve, and several is three at least."""
    large = [middle(entry) for entry in entries(submitter=CARINA) if total(entry) > 1000]  # of three each
    agree("runs-above-1000", [judge(3 * len(large), 3, inf)], "confirmed")


def test_largest_by_coreweave():
    """2,496 are 0.70 of 3,584, so not larger; 1.50 times as much in H100 of equal speed, 1.31 by the clock."""
    rates = speedups(fastest(submitter=CARINA, size=2048), fastest(chip="H100", size=2048))
    found = ["confirmed" if 2496 * rate > 3584 else "contradicted" for rate in (1, *rates[:2])]
    agree("largest-by-coreweave", found, "contradicted confirmed confirmed")


def test_sizes_of_2023():
    """CoreWeave's one v3.1 entry has 3,584 H100, and so has the fastest of its v3.0 entries of GPT-3."""
    (resnet,) = entries(submitter=BOTH_2023, chip="H100", round_="v3.1", benchmark="")
    agree("v31-size", [judge(total(resnet), 3583.5, 3584.5)], "confirmed")
    agree("v30-gpt3-size", [judge(total(fastest(**GPT3_2023, chip="H100")), 3500, inf)], "confirmed")


ELSEWHERE = ("inference-v50-tokens", "inference-v50-vs-h200", "inference-v50-first-gb200", "goodput", "verified")
ELSEWHERE += ("carina-standing", "related-deepseek-v60", "related-endpoints", "related-exemplar")


@pytest.mark.parametrize("claim", ELSEWHERE)
def test_unverifiable(claim):
    """No training log answers it, and the article's file says what would; with a source, that is public."""
    (given,) = (row for row in yaml.safe_load(ARTICLE.read_text(encoding="utf-8"))["claims"] if row["id"] == claim)
    assert given["kind"] == "unverifiable"
    assert "would" in given["because"]
    assert reviewed(claim) == ("not checked here" if "source" in given else "no public data", "")


def test_every_claim_is_worked_out():
    """Each of the 38 claims is named in this file, in a row or in a test."""
    claims = [row["id"] for row in yaml.safe_load(ARTICLE.read_text(encoding="utf-8"))["claims"]]
    text = Path(__file__).read_text(encoding="utf-8")
    assert len(claims) == 38
    assert [claim for claim in claims if f'"{claim}"' not in text] == []
