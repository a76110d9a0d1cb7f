"""Every claim of AMD's article on Training v5.1, worked out from the CSVs alone."""

from pathlib import Path

from worked import Reviewed, entries, family, hold, judge, need, official, one, pace, speedups, total

ARTICLE = Reviewed("amd-training-v5.1")
pytestmark = need("v5.0", "v5.1")
LORA = "llama2_70b_lora"


def find(chip):
    """AMD's own entry of eight; its partners have others of the same size."""
    return one(round_="v5.1", benchmark=LORA, submitter="AMD", chip=chip, size=8)


SPEEDUPS = [  # by official score; clock; samples per minute
    # 27.969 / 10.185 = 2.7462; 2.7461; 2.7462: four thousandths short of what would be printed as 2.8
    ("speedup-mi300x", "MI300X", 2.75, 2.85, "overstated overstated overstated"),
    # 21.049 / 10.185 = 2.0668; 2.0354; 2.0668
    ("speedup-mi325x", "MI325X", 2.05, 2.15, "confirmed overstated confirmed"),
]


@family(("claim", "chip", "low", "high", "verdicts"), SPEEDUPS)
def test_speedup(claim, chip, low, high, verdicts):
    """A speed-up is the baseline's minutes over the subject's; a smaller one than printed is overstated."""
    found = [judge(ratio, low, high) for ratio in speedups(find("MI355X"), find(chip))]
    ARTICLE.agree(claim, found, verdicts.split())


TIMES = [  # by official score; the clock stands beside, and counts neither for nor against an official time
    ("time-mi300x", "MI300X", 26.6, 28),  # 27.969; 27.875. "Nearly" is 5 % below the figure, and not above it
    ("time-mi355x", "MI355X", 10, 10.5),  # 10.1847; 10.1506. "Just over" is 5 % above the figure
    ("time-mi355x-exact", "MI355X", 10.175, 10.185),  # 10.1847
]


@family(("claim", "chip", "low", "high"), TIMES)
def test_time(claim, chip, low, high):
    """A time is the mean of the eight runs left, times the stored factor; all three are as printed."""
    ARTICLE.agree(claim, [judge(official(find(chip)), low, high, flatters="low")], ["confirmed"])


def test_half_the_time():
    """10.185 / 21.049 = 0.484; 0.491 by the clock; 0.484 by samples: within a half, and above 0.45."""
    shares = [1 / ratio for ratio in speedups(find("MI355X"), find("MI325X"))]
    found = [judge(share, 0.45, 0.5, flatters="low") for share in shares]
    ARTICLE.agree("half-the-time", found, ["confirmed"] * 3)


def test_mean_b200():
    """Of eleven entries 9.766, less than printed; 9.888 of nine, without FP4; 9.854 of ten, without the fastest.

    The time is a competitor's: a longer one than the logs give is in the claimant's favour.
    """
    field = entries(round_="v5.1", benchmark=LORA, chip="B200-SXM", size=8)
    quickest = min(field, key=official)
    assert (len(field), quickest["submitter"], round(official(quickest), 3)) == (11, "Dell", 8.886)
    in_fp4 = sorted(field, key=pace)[-2:]  # 362 and 358 samples a minute; of the others none more than 328
    assert {row["system"] for row in in_fp4} == {"nebius_b200_n1", "1xXE9680Lx8B200-SXM-180GB"}
    assert pace(sorted(field, key=pace)[-3]) < 328
    kept = [field, [row for row in field if row not in in_fp4], [row for row in field if row is not quickest]]
    means = [sum(map(official, rows)) / len(rows) for rows in kept]
    found = [judge(mean, 9.845, 9.855, flatters="high") for mean in means]
    ARTICLE.agree("mean-b200", found, ["overstated", "understated", "confirmed"])


def test_first_mi350():
    """Ten results of v5.1 are on MI350X or MI355X, AMD's and its partners'; none of an earlier round is."""
    series = [row for row in entries() if "MI350X" in row["accelerator"] or "MI355X" in row["accelerator"]]
    assert sorted(map(total, series)) == [8] * len(series)
    ARTICLE.agree("first-mi350", hold({row["round"] for row in series} == {"v5.1"}), ["confirmed"])


def test_every_claim_is_worked_out():
    """Each of the 8 claims is named in this file, in a row or in a test."""
    assert len(ARTICLE.claims()) == 8
    ARTICLE.check_complete(Path(__file__).read_text(encoding="utf-8"))
