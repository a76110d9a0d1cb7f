"""Every claim of NVIDIA's article on Training v5.0, worked out from the CSVs alone."""

from pathlib import Path

from worked import (
    Reviewed,
    clock,
    entries,
    family,
    fastest,
    first_by,
    hold,
    judge,
    maker_of,
    need,
    official,
    one,
    speedups,
    total,
)

ARTICLE = Reviewed("nvidia-training-v5.0")
pytestmark = need("v4.1", "v5.0")
LLAMA, LORA, IMAGES = "llama31_405b", "llama2_70b_lora", "stable_diffusion"
BENCHMARKS = {"bert", "dlrm_dcnv2", LORA, LLAMA, "retinanet", "rgat", IMAGES}


def find(submitter, chip, size, benchmark, round_="v5.0"):
    return one(round_=round_, benchmark=benchmark, submitter=submitter, chip=chip, size=size)


CARINA = ("CoreWeave + IBM + NVIDIA", "GB200")
OWN = {"round_": "v5.0", "submitter": "NVIDIA"}
CARINA_512 = {"round_": "v5.0", "benchmark": LLAMA, "submitter": CARINA[0], "size": 512}
H100_512 = {**OWN, "benchmark": LLAMA, "chip": "H100", "size": 512}
TIMES = [  # by official score; the clock stands beside, and counts neither for nor against an official time
    ("time-405b", OWN | {"benchmark": LLAMA}, 20.75, 20.85),  # 20.807, of 8,192 H100; 19.64 on the clock
    ("time-lora", OWN | {"benchmark": LORA}, 0.555, 0.565),  # 0.5603, without a factor
    ("time-stable-diffusion", OWN | {"benchmark": IMAGES}, 1.035, 1.045),  # 1.0389, without a factor
    # 121.093; 104.95. NVIDIA's own 512 Blackwell, in the same round, took 121.757
    ("time-405b-blackwell-512", CARINA_512, 121.085, 121.095),
    ("time-405b-hopper-512", H100_512, 269.115, 269.125),  # 269.122; 230.68
]


@family(("claim", "subject", "low", "high"), TIMES)
def test_time(claim, subject, low, high):
    """A time is the mean of the runs left, times the stored factor; all five are as printed."""
    ARTICLE.agree(claim, [judge(official(fastest(**subject)), low, high, flatters="low")], ["confirmed"])


SPEEDUPS = [  # by official score; clock; samples per minute
    # 269.122 / 121.093 = 2.222; 2.198; 2.222
    ("speedup-405b-512", [(*CARINA, 512)], ("NVIDIA", "H100", 512, LLAMA, "v5.0"), 2.15, 2.25, "confirmed " * 3),
    # B200: 27.928 / 11.275 = 2.477; 2.485; 2.448. GB200: 27.928 / 11.145 = 2.506; 2.506; 2.506
    (
        "speedup-lora-8",
        [("NVIDIA", "B200-SXM", 8), ("NVIDIA", "GB200", 8)],
        ("NVIDIA", "H100", 8, LORA, "v4.1"),
        *(2.45, 2.55, "confirmed confirmed overstated" + " confirmed" * 3),
    ),
]


@family(("claim", "subjects", "baseline", "low", "high", "verdicts"), SPEEDUPS)
def test_speedup(claim, subjects, baseline, low, high, verdicts):
    """A speed-up is the baseline's minutes over the subject's; a smaller one than printed is overstated."""
    ratios = [x for own in subjects for x in speedups(find(*own, baseline[3]), find(*baseline))]
    ARTICLE.agree(claim, [judge(ratio, low, high) for ratio in ratios], verdicts.split())


def test_stable_diffusion_per_gpu():
    """Eight against eight: 33.967 / 12.856 = 2.642, and 2.114 in samples; over H200 2.372, 2.372, 2.075."""
    blackwell = find("NVIDIA", "GB200", 8, IMAGES)
    hopper = [find("NVIDIA", chip, 8, IMAGES, "v4.1") for chip in ("H100", "H200")]
    found = [judge(x, 2.55, 2.65) for other in hopper for x in speedups(blackwell, other)]
    expected = ["confirmed", "confirmed", "overstated", *["overstated"] * 3]
    ARTICLE.agree("stable-diffusion-per-gpu", found, expected)


def test_blackwell_per_gpu():
    """Of four benchmarks of both rounds BERT gains 1.60, DLRM 1.73, LoRA 2.51, images 2.642; two have no samples."""
    best = {official: [], clock: []}
    for baseline in entries(round_="v4.1", submitter="NVIDIA", chip="H100", size=8):
        for own in entries(**OWN, chip="Blackwell", size=8, benchmark=baseline["benchmark"]):
            for score in best:
                best[score].append(score(baseline) / score(own))
    assert len(best[official]) == 4 * 2  # GB200 and B200
    found = [judge(max(ratios), 2.55, 2.65) for ratios in best.values()]
    ARTICLE.agree("blackwell-per-gpu", found, ["confirmed"] * 2)


def test_fastest_on_every_benchmark():
    """On DLRM the fastest is Supermicro's 0.713 on GB200, before NVIDIA's 0.773; the other six are NVIDIA's own."""
    field = entries(round_="v5.0")
    assert {row["benchmark"] for row in field} == BENCHMARKS
    won = {official: 0, clock: 0}
    for benchmark in BENCHMARKS:
        among = entries(round_="v5.0", benchmark=benchmark)
        for score in won:
            won[score] += first_by(score, [row for row in among if maker_of(row) == "NVIDIA"], among)
    best = [fastest(round_="v5.0", benchmark=benchmark)["submitter"] for benchmark in sorted(BENCHMARKS)]
    assert sorted(best) == ["NVIDIA"] * 6 + ["Supermicro"]
    found = [judge(count, 6.5, 7.5) for count in won.values()]
    ARTICLE.agree("fastest-on-every-benchmark", found, ["confirmed"] * 2)


def test_only_on_every_benchmark():
    """AMD's accelerators have results of BERT and LoRA, Google's of Stable Diffusion."""
    on = {}
    for row in entries(round_="v5.0"):
        on.setdefault(maker_of(row), set()).add(row["benchmark"])
    assert on == {"NVIDIA": BENCHMARKS, "AMD": {"bert", LORA}, "TPU": {IMAGES}}
    everywhere = [maker for maker, benchmarks in on.items() if benchmarks == BENCHMARKS]
    ARTICLE.agree("only-on-every-benchmark", hold(everywhere == ["NVIDIA"]), ["confirmed"])


def test_scaling_efficiency():
    """4.43 times as fast with 4.875 times as many is 90.87 %, more than printed; 79.8 by the clock, 92.2 in samples."""
    large, small = (find(*CARINA, size, LLAMA) for size in (2496, 512))
    shares = [100 * x * total(small) / total(large) for x in speedups(large, small)]
    found = [judge(share, 89.5, 90.5) for share in shares]
    ARTICLE.agree("scaling-efficiency", found, ["understated", "overstated", "understated"])


def test_no_data():
    """No log says which operations are counted; what would be needed is named, and no public source."""
    claim = ARTICLE.claims()["tflops-per-gpu"]
    assert claim["kind"] == "unverifiable"
    assert "source" not in claim
    assert "would" in claim["because"]
    assert ARTICLE.verdicts()["tflops-per-gpu"] == ("no public data", "")


def test_every_claim_is_worked_out():
    """Each of the 13 claims is named in this file, in a row or in a test."""
    assert len(ARTICLE.claims()) == 13
    ARTICLE.check_complete(Path(__file__).read_text(encoding="utf-8"))
