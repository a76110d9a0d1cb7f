"""Every claim of NVIDIA's article on Training v5.1, worked out from the CSVs alone."""

from pathlib import Path

from worked import (
    Reviewed,
    clock,
    entries,
    family,
    fastest,
    first_by,
    hold,
    inf,
    judge,
    maker_of,
    need,
    official,
    one,
    speedups,
    total,
)

ARTICLE = Reviewed("nvidia-training-v5.1")
pytestmark = need("v3.0", "v3.1", "v4.0", "v4.1", "v5.0", "v5.1")
LLAMA, SMALL, LORA, IMAGES = "llama31_405b", "llama31_8b", "llama2_70b_lora", "flux1"
BENCHMARKS = {"dlrm_dcnv2", IMAGES, LORA, LLAMA, SMALL, "retinanet", "rgat"}
OWN = {"round_": "v5.1", "submitter": "NVIDIA"}
BEFORE = {"round_": "v5.0", "benchmark": LLAMA}

TIMES = [  # by official score; the clock stands beside, and counts neither for nor against an official time
    ("time-405b", OWN | {"benchmark": LLAMA}, 9.5, 10.5),  # 9.9946, of 5,120 GB200, without a factor
    ("time-405b-2560", OWN | {"benchmark": LLAMA, "size": 2560}, 18.785, 18.795),  # 18.7938, without a factor
    ("time-8b", OWN | {"benchmark": SMALL, "chip": "Ultra"}, 5.15, 5.25),  # 5.2187, of 512 GB300; 5.164 by the clock
    ("time-flux", OWN | {"benchmark": IMAGES, "size": 1152}, 12.45, 12.55),  # 12.5135, without a factor
]


@family(("claim", "subject", "low", "high"), TIMES)
def test_time(claim, subject, low, high):
    """A time is the mean of the runs left, times the stored factor; all four are as printed."""
    entry = fastest(**subject)
    ARTICLE.agree(claim, [judge(official(entry), low, high, flatters="low")], ["confirmed"])


GB300_512 = OWN | {"benchmark": LLAMA, "chip": "GB300", "size": 512}
GB300_8 = OWN | {"benchmark": LORA, "chip": "GB300", "size": 8}
H200_512 = {"round_": "v5.1", "benchmark": LLAMA, "chip": "H200", "size": 512}
H200_8 = {"round_": "v5.1", "benchmark": LORA, "chip": "H200", "size": 8}
H100_512 = BEFORE | {"submitter": "NVIDIA", "chip": "H100", "size": 512}
H100_8 = {"round_": "v4.1", "benchmark": LORA, "submitter": "NVIDIA", "chip": "H100", "size": 8}
SHORT = "overstated " * 3
SPEEDUPS = [  # by official score; clock; samples per minute; then the same by the other reading
    # H100 of v5.0: 269.122 / 64.605 = 4.166; 3.571; 4.285. H200 of v5.1: 237.606 / 64.605 = 3.678; 3.245; 3.894
    ("speedup-405b-gb300", GB300_512, [H100_512, H200_512], 4, inf, "confirmed overstated confirmed " + SHORT),
    # H100 of v4.1: 27.928 / 5.971 = 4.677; 4.840; 4.623. H200 of v5.1, Dell's: 23.369 / 5.971 = 3.914; 3.975; 3.914
    ("speedup-lora-gb300", GB300_8, [H100_8, H200_8], 4.5, 5, "confirmed " * 3 + SHORT),
    # 27.335 / 9.995 = 2.735; 2.7005; 2.727
    ("speedup-405b-vs-v50", TIMES[0][1], [BEFORE | {"chip": "Blackwell"}], 2.65, 2.75, "confirmed " * 3),
    # 27.335 / 18.794 = 1.4545; 1.4361; 1.4502, and so much faster in percent
    ("speedup-405b-2560", TIMES[1][1], [BEFORE | {"size": 2496}], 1.445, 1.455, "confirmed overstated confirmed"),
]


@family(("claim", "subject", "baselines", "low", "high", "verdicts"), SPEEDUPS)
def test_speedup(claim, subject, baselines, low, high, verdicts):
    """A speed-up is the baseline's minutes over the subject's; a smaller one than printed is overstated."""
    ratios = [x for baseline in baselines for x in speedups(fastest(**subject), fastest(**baseline))]
    ARTICLE.agree(claim, [judge(ratio, low, high) for ratio in ratios], verdicts.split())


def test_sizes():
    """The fastest run has 5,120, which are 2.051 times the 2,496 of the fastest Blackwell entry of v5.0."""
    size, before = (total(fastest(**wanted)) for wanted in (TIMES[0][1], BEFORE | {"chip": "Blackwell"}))
    assert (size, before) == (5120, 2496)
    ARTICLE.agree("size-405b", [judge(size, 5000.5, inf)], ["confirmed"])
    ARTICLE.agree("size-405b-vs-v50", [judge(size / before, 2, inf)], ["confirmed"])


def test_fastest_on_every_benchmark():
    """All seven are NVIDIA's own: nearest is Wiwynn's LoRA, 0.430 with 576 against 0.403 with 512."""
    assert {row["benchmark"] for row in entries(round_="v5.1")} == BENCHMARKS
    won = []
    for is_own in (lambda row: maker_of(row) == "NVIDIA", lambda row: row["submitter"] == "NVIDIA"):
        for score in (official, clock):
            fields = [entries(round_="v5.1", benchmark=benchmark) for benchmark in BENCHMARKS]
            won.append(sum(first_by(score, list(filter(is_own, among)), among) for among in fields))
    found = [judge(count, 6.5, 7.5) for count in won]
    ARTICLE.agree("fastest-on-every-benchmark", found, ["confirmed"] * 4)


def test_only_on_every_benchmark():
    """AMD's have results of LoRA and Llama 3.1 8B; of submitters, the University of Florida has all seven too."""
    on = {}
    for row in entries(round_="v5.1"):
        for who in (f"maker {maker_of(row)}", row["submitter"]):
            on.setdefault(who, set()).add(row["benchmark"])
    everywhere = {who for who, benchmarks in on.items() if benchmarks == BENCHMARKS}
    assert everywhere == {"maker NVIDIA", "NVIDIA", "University-of-Florida"}
    assert on["maker AMD"] == {LORA, SMALL}
    makers = [who for who in everywhere if who.startswith("maker")]
    ARTICLE.agree("only-on-every-benchmark", hold(makers == ["maker NVIDIA"]), ["confirmed"])


def test_only_flux():
    """Five submitters have results of FLUX.1, all on NVIDIA's accelerators."""
    field = entries(round_="v5.1", benchmark=IMAGES)
    assert len({row["submitter"] for row in field}) == 5
    ARTICLE.agree("only-flux", hold({maker_of(row) for row in field} == {"NVIDIA"}), ["confirmed"])


RECORDS = [  # by official score; clock; the same by entries of NVIDIA itself
    ("record-rgat", "rgat", "confirmed " * 4),  # 0.8374 in v5.0 and, from the same logs, in v5.1
    ("record-retinanet", "retinanet", "confirmed " * 4),  # 1.388, in both rounds
    # Supermicro's 0.713 of v5.0, on GB200; NVIDIA's own best is 0.770
    ("record-dlrm", "dlrm_dcnv2", "confirmed confirmed contradicted contradicted"),
]


@family(("claim", "benchmark", "verdicts"), RECORDS)
def test_record(claim, benchmark, verdicts):
    """In all the rounds since v3.0 no other maker's accelerators are faster."""
    among = entries(benchmark=benchmark)
    groups = [entries(benchmark=benchmark, maker="NVIDIA"), entries(benchmark=benchmark, submitter="NVIDIA")]
    found = hold(*(first_by(score, own, among) for own in groups for score in (official, clock)))
    ARTICLE.agree(claim, found, verdicts.split())


def test_retinanet_before_its_present_name():
    """As SSD, until v4.1, RetinaNet was trained in 0.778 minutes, by NVIDIA's 2,528 H100: no other's record either."""
    best = fastest(benchmark="ssd")
    assert (best["submitter"], total(best), round(official(best), 3)) == ("NVIDIA", 2528, 0.778)


def test_partners():
    """Fifteen besides NVIDIA; MangoBoost, MiTAC, AMD and Supermicro with MangoBoost have only AMD's."""
    submitters = {row["submitter"] for row in entries(round_="v5.1") if maker_of(row) == "NVIDIA"} - {"NVIDIA"}
    ARTICLE.agree("partners", [judge(len(submitters), 14.5, 15.5)], ["confirmed"])


def test_subjects_are_one_entry():
    """None of the sizes compared is met twice by the same submitter."""
    assert [one(**wanted)["submitter"] for wanted in (GB300_512, GB300_8, H100_512, H100_8)] == ["NVIDIA"] * 4


def test_every_claim_is_worked_out():
    """Each of the 17 claims is named in this file, in a row or in a test."""
    assert len(ARTICLE.claims()) == 17
    ARTICLE.check_complete(Path(__file__).read_text(encoding="utf-8"))
