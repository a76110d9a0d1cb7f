"""Tests of `kinds`: what each kind of claim comes to, worked out by hand on a few made-up results."""

from dataclasses import replace

import msgspec
import pandas as pd
import pytest
from conftest import make_article, make_claim

from mlperf_claims.claims.findings import judge_claim
from mlperf_claims.claims.formulas import FormulaError
from mlperf_claims.claims.kinds import Book, FigureError
from mlperf_claims.results.select import Selection, SelectionError

ROWS = [  # round, benchmark, submitter, system, accelerator, maker, accelerators, nodes, score, clock, samples/min
    ("v5.0", "tiny", "Ann", "a8", "New N1", "Ann", 8, 1, 40.0, 36.0, 10.0),
    ("v5.0", "tiny", "Ann", "a16", "New N1", "Ann", 16, 2, 25.0, 20.0, 18.0),
    ("v5.0", "tiny", "Bob", "b8", "Old O1", "Old Co", 8, 2, 80.0, 54.0, 5.5),
    ("v5.0", "tiny", "Cid+Dan", "c16", "Old O2", "Old Co", 16, 4, 50.0, 45.0, None),
    ("v5.0", "big", "Ann", "a8", "New N1", "Ann", 8, 1, 100.0, 100.0, None),  # this benchmark counts epochs
    ("v5.0", "big", "Bob", "b32", "Old O1", "Old Co", 32, 8, 90.0, 120.0, None),
    ("v4.1", "tiny", "Bob", "b4", "Old O1", "Old Co", 4, 1, 160.0, 160.0, 3.0),
]
COLUMNS = ["round", "benchmark", "submitter", "system", "accelerator", "maker", "accelerators_total", "nodes"]
COLUMNS += ["official_min", "wall_clock_min", "samples_per_min"]
SCOPE = {"round": "v5.0", "benchmark": "tiny", "division": "closed"}


def make_results(rows=ROWS):
    """Results as `load_submissions` gives them, all of one division."""
    frame = pd.DataFrame(rows, columns=COLUMNS)
    texts = {"framework": "F", "repository": "", "commit": "", "system_path": "s", "system_blob": "b"}
    frame = frame.assign(division="closed", organization=frame["submitter"], availability="onprem", **texts)
    frame = frame.assign(system_name="Box (" + frame["nodes"].astype(str) + "x Rack)", scaling_path="", scaling_blob="")
    counts = {"logs": 3, "logs_absent": 0, "runs_not_counted": 1, "scaling_factor": 1.0, "no_score": ""}
    return frame.assign(**counts).astype({"accelerators_total": "Int64", "nodes": "Int64", "samples_per_min": float})


RUNS = pd.DataFrame(
    [("v5.0", who, what, "tiny", str(n), minutes, "") for who, what, runs in
     [("Ann", "a8", (38.0, 44.0)), ("Bob", "b8", (76.0, 88.0))] for n, minutes in enumerate(runs)],
    columns=["round", "organization", "system", "benchmark", "run", "normalised_min", "not_counted"],
).assign(problem="", start_line=1, stop_line=2, time_to_train_min=1.0, path="p", blob="b")  # fmt: skip


@pytest.fixture
def answer():
    """A function: what a claim of a kind comes to; its selections are within the scope."""

    def work_out(kind, stated, *others, results=None, assumptions=None, **keys):
        roles = ("subject", "baseline", "field")
        scoped = {key: Selection(**value).within(SCOPE) if key in roles else value for key, value in keys.items()}
        claim = make_claim("one", kind=kind, stated=stated, **scoped)
        article = make_article(claim, *others, assumptions=assumptions or {})
        return Book(article, make_results() if results is None else results, RUNS).answer(claim)

    return work_out


A8, A16, B8 = ({"system": name} for name in ("a8", "a16", "b8"))


@pytest.mark.parametrize(
    ("stated", "keys", "value"),
    [
        ("40 min", {"subject": A8}, 40.0),
        ("2400 s", {"subject": A8}, 2400.0),
        ("0.67 hours", {"subject": A8}, 40 / 60),
        ("8 GPUs", {"subject": A8, "measure": "accelerators"}, 8.0),
        ("2 nodes", {"subject": A16, "measure": "nodes"}, 2.0),
        ("4 GPUs", {"subject": {"submitter": "Cid"}, "measure": "accelerators", "per": "node"}, 4.0),  # 16 in 4 nodes
        ("55 min", {"subject": {"accelerator": ["N1", "O1", "O2"], "benchmark": "tiny"}, "take": "mean"}, 48.75),
        ("25 min", {"subject": {"submitter": "Ann"}, "take": "best"}, 25.0),
        ("40 min", {"subject": {"submitter": "Ann"}, "take": "worst"}, 40.0),
        ("16", {"subject": {"submitter": "Ann"}, "measure": "accelerators", "take": "best"}, 16.0),
        ("25 min", {"subject": {"submitter": "Ann", "pick": "fastest"}}, 25.0),
        ("25 min", {"subject": {"submitter": "Ann", "pick": "largest"}}, 25.0),
    ],
)
def test_value_is_a_measure_in_the_printed_unit(answer, stated, keys, value):
    """Of one result, or the best, worst or mean of several; times convert."""
    assert next(iter(answer("value", stated, **keys).readings.values())) == pytest.approx(value)


def test_clock_stands_beside_a_time(answer):
    """It is given in the same unit, and does not count; single runs span the spread."""
    found = answer("value", "0.67 h", subject=A8)
    assert found.readings == pytest.approx({"official score": 40 / 60, "wall clock": 36 / 60})
    assert found.beside == {"wall clock"}
    assert found.spread == pytest.approx((38 / 60, 44 / 60))


@pytest.mark.parametrize(
    ("stated", "keys", "value"),
    [
        ("2x", {}, 2.0),  # 80 ÷ 40
        ("100%", {}, 100.0),  # a gain
        ("100% faster", {}, 100.0),
        ("half the time", {}, 0.5),
        ("50% of the time", {}, 50.0),
        ("50% less time", {}, 50.0),
        ("2x", {"per": "accelerator"}, 2.0),
        ("2x", {"subject": A16, "per": "accelerator"}, 1.6),  # 3.2 with twice as many
        ("2x", {"subject": A16, "per": "node"}, 3.2),  # two nodes each
        ("2x", {"subject": A16, "measure": "accelerators"}, 2.0),
        ("100%", {"subject": A16, "measure": "accelerators"}, 100.0),
        ("2x", {"measure": "accelerators", "per": "node"}, 2.0),  # 8 in one node against 8 in two
        ("2x", {"subject": {"submitter": "Ann"}, "baseline": {"maker": "Old Co"}, "each": "size"}, 2.0),  # 2 and 2
        ("2x", {"subject": {"submitter": "Ann", "benchmark": "any", "pick": "largest"},
                "baseline": {"submitter": "Bob", "benchmark": "any"}, "each": "benchmark"}, 0.9),  # big 0.9, tiny 3.2
        ("2x", {"subject": {"submitter": "Ann", "benchmark": "any", "pick": "largest"},
                "baseline": {"submitter": "Bob", "benchmark": "any"}, "each": "benchmark", "take": "best"}, 3.2),
        ("2x", {"subject": {"submitter": "Ann", "benchmark": "any", "pick": "largest"},
                "baseline": {"submitter": "Bob", "benchmark": "any"}, "each": "benchmark", "take": "mean"}, 2.05),
        ("4x", {"baseline": {"round": "v4.1", "submitter": "Bob"}}, 4.0),  # across rounds
    ],
)  # fmt: skip
def test_ratio_is_printed_as_times_gain_share_or_saving(answer, monkeypatch, stated, keys, value):
    """Performance grows when time falls; sizes are as they are; per what, at each of what, of several the worst."""
    monkeypatch.setattr("mlperf_claims.results.select.incomparable", lambda *pair: "")
    found = answer("ratio", stated, **{"subject": A8, "baseline": B8, **keys})
    assert next(iter(found.readings.values())) == pytest.approx(value)


def test_ratio_has_a_reading_for_score_clock_and_pace(answer):
    """Each is judged; the ratio per accelerator stands beside; runs against runs give the spread."""
    found = answer("ratio", "3x", subject=A16, baseline=B8)
    assert found.readings == pytest.approx(
        {"official score": 3.2, "wall clock": 2.7, "samples per minute": 18 / 5.5, "per accelerator": 1.6}
    )
    assert found.beside == {"per accelerator"}
    assert answer("ratio", "2x", subject=A8, baseline=B8).spread == pytest.approx((76 / 44, 88 / 38))


def test_reading_that_logs_do_not_allow_is_left_out(answer):
    """Where a benchmark counts epochs there are no samples per minute, and the others judge on."""
    found = answer(
        "ratio", "0.9x", subject={"system": "a8", "benchmark": "big"}, baseline={"system": "b32", "benchmark": "big"}
    )
    assert list(found.readings) == ["official score", "wall clock", "per accelerator"]
    found = answer("efficiency", "50%", subject={"submitter": "Cid"}, baseline=B8)
    assert list(found.readings) == ["official score", "wall clock"]


def test_efficiency_is_speed_over_growth(answer):
    """40 to 25 minutes is 1.6 times as fast with twice as many: 80 %; 90 % on the clock and in samples."""
    found = answer("efficiency", "80%", subject=A16, baseline=A8)
    assert found.readings == pytest.approx({"official score": 80.0, "wall clock": 90.0, "samples per minute": 90.0})


ALL = {"benchmark": "any"}


@pytest.mark.parametrize(
    ("stated", "keys", "value", "fails"),
    [
        ("fastest", {"subject": A16, "field": {}}, 1.0, False),
        ("fastest", {"subject": A8, "field": {}}, 2.0, False),  # the word is judged: second is not first
        ("second", {"subject": A8, "field": {}}, 2.0, False),
        ("largest", {"subject": A16, "field": {}, "measure": "accelerators"}, 1.0, False),  # shared with c16
        ("32 GPUs", {"subject": {"system": "b32", **ALL}, "field": ALL, "measure": "accelerators"}, 32.0, False),
        ("32 GPUs", {"subject": A16, "field": ALL, "measure": "accelerators"}, 32.0, True),  # another holds it
        ("25 min", {"subject": A16, "field": {}}, 25.0, False),
        ("16 GPUs", {"subject": {"submitter": "Cid"}, "field": {"except": {"submitter": "Ann"}},
                     "measure": "accelerators"}, 16.0, False),
        ("2 of 2", {"subject": {"submitter": "Ann"}, "field": {}, "each": "size"}, 2.0, False),
        ("all", {"subject": {"submitter": "Ann", **ALL}, "field": ALL, "each": "benchmark"}, 1.0, False),  # not big
        ("3 of 3", {"subject": {"submitter": "Ann", **ALL}, "field": ALL, "each": "benchmark"}, 1.0, True),  # of 2
    ],
)  # fmt: skip
def test_rank_is_a_place_a_figure_or_a_number_of_firsts(answer, stated, keys, value, fails):
    """A place among all, the figure of whoever holds the first, or at how many sizes or benchmarks it is first."""
    keys = {key: rename(value) if key in ("subject", "field") else value for key, value in keys.items()}
    found = answer("rank", stated, **keys)
    first = next(iter(found.readings))
    assert (found.readings[first], first in found.failing) == (value, fails)


def rename(selection):
    """`except` is a word of Python's."""
    given = {("besides" if key == "except" else key): value for key, value in selection.items()}
    return given | ({"besides": Selection(**given["besides"])} if "besides" in given else {})


def test_rank_on_the_clock_counts(answer):
    """Ann's eight are behind on big by score (100 to 90) and ahead on the clock (100 to 120)."""
    found = answer("rank", "fastest", subject={"system": "a8", "benchmark": "big"}, field={"benchmark": "big"})
    assert found.readings == {"official score": 2.0, "wall clock": 1.0}


@pytest.mark.parametrize(
    ("keys", "value", "fails"),
    [
        ({"subject": {"submitter": "Ann"}, "field": {"accelerator": "N1"}}, 1.0, False),
        ({"subject": {"submitter": "Bob"}, "field": {"accelerator": "Old"}}, 2.0, True),  # Cid has some too
        ({"subject": {"submitter": "Bob"}, "field": {"accelerator": "Old"}, "by": "maker"}, 1.0, False),
        ({"subject": A8, "field": {"accelerator": "N1"}, "by": "system"}, 2.0, True),  # a16
        ({"subject": {"submitter": "Ann", **ALL}, "field": ALL, "each": "benchmark"}, 2.0, True),  # Bob has both too
        ({"subject": {"maker": "Ann", **ALL}, "field": {**ALL, "round": "v5.0"}, "each": "benchmark", "by": "maker"},
         2.0, True),
        ({"subject": {"submitter": "Ann"}, "field": {"submitter": "Ann"}, "each": "benchmark"}, 1.0, False),
    ],
)  # fmt: skip
def test_only_counts_who_else_does_it(answer, keys, value, fails):
    """By submitter, maker or system; with each, only those with results on every benchmark of the field."""
    found = answer("only", "only", **keys)
    assert (next(iter(found.readings.values())), bool(found.failing)) == (value, fails)


def test_first_looks_into_earlier_rounds(answer):
    """Nobody had N1 before v5.0; O1 was there in v4.1."""
    assert answer(
        "first", "first", subject={"accelerator": "N1"}, field={"accelerator": "N1", "round": "any"}
    ).readings == {"rounds since v4.1": 1.0}
    found = answer("first", "first", subject={"system": "b8"}, field={"accelerator": "O1", "round": "any"})
    assert (found.readings["rounds since v4.1"], len(found.failing)) == (2.0, 1)


@pytest.mark.parametrize(
    ("stated", "keys", "value"),
    [
        ("4", {"of": "results", "subject": {}}, 4.0),
        ("3", {"of": "submitters", "subject": {}}, 3.0),
        ("2", {"of": "makers", "subject": {}}, 2.0),
        ("2", {"of": "benchmarks", "subject": ALL}, 2.0),
        ("5", {"of": "systems", "subject": ALL}, 5.0),  # a8 is one system on two benchmarks
        ("80", {"of": "accelerators", "subject": ALL}, 80.0),  # 8 + 16 + 8 + 16 + 32
        ("8", {"of": "runs", "subject": {}}, 8.0),  # two of three count, of four results
        ("4", {"of": "results", "subject": {"accelerators": "at least 8"}}, 4.0),
        ("4x", {"of": "results", "subject": {}, "baseline": {"round": "v4.1"}}, 4.0),
        ("300%", {"of": "results", "subject": {}, "baseline": {"round": "v4.1"}}, 300.0),
    ],
)
def test_count_is_a_number_or_its_growth(answer, stated, keys, value):
    """Results, submitters and the like; over another selection's count, as times or as a gain."""
    assert next(iter(answer("count", stated, **keys).readings.values())) == value


def test_partners_of_a_joint_submission_are_a_reading(answer):
    """Three submitters as they are named, four if each partner counts."""
    assert answer("count", "3", of="submitters", subject={}).readings == {
        "submitters": 3.0,
        "each partner counted": 4.0,
    }


def test_derived_carries_the_readings_of_claims_on(answer):
    """Accelerators times a speed-up, by score, clock and pace; ids have _ for -."""
    speedup = make_claim("speed-up", stated="2x", subject=Selection(system="a8").within(SCOPE),
                         baseline=Selection(system="b8").within(SCOPE))  # fmt: skip
    found = answer("derived", "16", speedup, formula="subject.accelerators * speed_up", subject=A8)
    assert found.readings == pytest.approx(
        {"official score": 16.0, "wall clock": 12.0, "samples per minute": 8 * 10 / 5.5}
    )
    assert (found.rests_on, found.spread) == (("speed-up",), pytest.approx((8 * 76 / 44, 8 * 88 / 38)))
    assert answer("derived", "4", speedup, formula="speed_up.stated * 2").readings == {"as derived": 4.0}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("subject.accelerators / subject.nodes", 8.0),
        ("subject.units_named", 2.0),  # Box (2x Rack)
        ("subject.time_to_train / baseline.time_to_train", 25 / 80),
        ("subject.samples_per_min", 18.0),
    ],
)
def test_derived_knows_measures(answer, formula, value):
    """What a formula may say of its subject and baseline."""
    found = answer("derived", "8", formula=formula, subject=A16, baseline=B8)
    assert next(iter(found.readings.values())) == pytest.approx(value)


def judge_all(*claims, results=None, **given):
    book = Book(make_article(*claims, **given), make_results() if results is None else results, RUNS)
    return {claim.id: judge_claim(claim, book) for claim in claims}


def scoped(id_, kind="value", stated="40 min", **roles):
    return make_claim(id_, kind=kind, stated=stated, **{r: Selection(**s).within(SCOPE) for r, s in roles.items()})


def test_each_claim_stands_alone():
    """What stands in the way of one is its reason alone; the others keep their verdicts."""
    none = scoped("none", subject={"submitter": "Anna"})
    many = scoped("many", subject={"submitter": "Ann"})
    same = scoped("same", kind="ratio", stated="1x", subject=A8, baseline=A8)
    apart = scoped("apart", kind="ratio", stated="1x", subject=A8, baseline={"system": "b32", "benchmark": "big"})
    later = scoped("later", subject={"round": "v9.9", "system": "a8"})
    found = judge_all(scoped("good", subject=A8), none, many, same, apart, later)
    verdicts = {id_: finding.verdict for id_, finding in found.items()}
    failed = dict.fromkeys(["none", "many", "same", "apart"], "failed")
    assert verdicts == {"good": "confirmed", **failed, "later": "not checked here"}
    assert "did you mean 'Ann'?" in found["none"].because
    assert "meets 2 results, expected exactly one" in found["many"].because
    assert "meet the same result" in found["same"].because
    assert "different benchmarks" in found["apart"].because
    assert "training_results_v9.9" in found["later"].because
    assert "make data" in found["later"].because


def test_incompatible_versions_are_refused_with_the_reason(monkeypatch):
    """Times across rounds compare only where the rules say so; sizes always do."""
    monkeypatch.setattr("mlperf_claims.results.select.incomparable", lambda *pair: "another target")
    old = {"round": "v4.1", "submitter": "Bob"}
    times = scoped("times", kind="ratio", stated="4x", subject=A8, baseline=old)
    found = judge_all(times)["times"]
    assert (found.verdict, found.because) == ("failed", "another target")


def test_result_without_a_score_is_no_time():
    """Its reason is said; its size can still be claimed about."""
    results = make_results()
    results.loc[results["system"] == "a8", ["no_score", "official_min"]] = ["2 runs do not count", None]
    found = judge_all(scoped("time", subject=A8), results=results)
    assert "without a score: 2 runs do not count" in found["time"].because


def test_claim_on_a_failed_one_says_on_which():
    """A derived claim whose operand fails, fails with its id and reason; a division by zero is named."""
    bad = scoped("bad", subject={"submitter": "Zed"})
    derived = make_claim("on-bad", kind="derived", stated="5", formula="bad * 2", subject=None, baseline=None)
    zero = make_claim("zero", kind="derived", stated="5", formula="1 / (2 - 2)", subject=None, baseline=None)
    found = judge_all(bad, derived, zero)
    assert "it rests on bad: " in found["on-bad"].because
    assert "2 - 2 is zero" in found["zero"].because


def test_whatever_goes_wrong_is_one_claim_s_alone(monkeypatch):
    """Also an error that nobody thought of."""
    monkeypatch.setattr("mlperf_claims.claims.kinds._count", lambda *given: 1 / 0)
    found = judge_all(scoped("good", subject=A8), make_claim("odd", kind="count", of="results", stated="3"))
    assert (found["good"].verdict, found["odd"].because) == ("confirmed", "ZeroDivisionError: division by zero")


def test_subject_outside_its_field_is_an_error(answer):
    """A place in a field needs a place there."""
    with pytest.raises(SelectionError, match="meets nothing in the field"):
        answer("rank", "first", subject=A8, field={"submitter": "Bob"})


@pytest.mark.parametrize(
    ("stated", "keys", "value"),
    [
        ("50% of the GPUs", {"subject": B8, "baseline": A16, "measure": "accelerators"}, 50.0),
        ("30% fewer GPUs", {"subject": B8, "baseline": A16, "measure": "accelerators"}, 50.0),
        ("half", {"subject": B8, "baseline": A16, "measure": "accelerators"}, 0.5),
        ("50% of the performance", {"subject": B8, "baseline": A8}, 50.0),
        ("twice the time", {"subject": B8, "baseline": A8}, 2.0),
        ("twice as long", {"subject": B8, "baseline": A8}, 2.0),
        ("200% of the time", {"subject": B8, "baseline": A8}, 200.0),
        ("half the performance", {"subject": B8, "baseline": A8}, 0.5),
    ],
)
def test_part_is_of_what_the_words_say(answer, stated, keys, value):
    """Of the time, which grows as performance falls, or of anything else."""
    assert next(iter(answer("ratio", stated, **keys).readings.values())) == pytest.approx(value)


@pytest.mark.parametrize(
    ("stated", "measure", "take", "value"),
    [
        # Ann's 8 and 16 over Bob's 8: 2 and 3.2 times as fast, 1 and 2 times as large
        ("faster", "time_to_train", None, 2.0),
        ("slower", "time_to_train", None, 3.2),  # were it 0.9 and 1.1, slower would fail at 1.1
        ("under 2x", "time_to_train", None, 3.2),
        ("half the time", "time_to_train", None, 0.5),
        ("half the time", "time_to_train", "best", 1 / 3.2),
        ("larger", "accelerators", None, 1.0),
        ("smaller", "accelerators", None, 2.0),
        ("90% of the GPUs", "accelerators", None, 200.0),
        ("10% fewer", "accelerators", None, -100.0),
        ("10% fewer", "accelerators", "best", 0.0),
    ],
)
def test_worst_of_several_is_the_one_that_fails_the_words_first(answer, stated, measure, take, value):
    """The least for more and faster, the most for less and slower; the best is at the other end."""
    subject = {"submitter": "Ann"}
    found = answer("ratio", stated, subject=subject, baseline=B8, measure=measure, take=take or "worst")
    assert next(iter(found.readings.values())) == pytest.approx(value)


@pytest.mark.parametrize("unit", ["s", "sec", "seconds", "min", "minutes", "h", "hr", "hours", "d", "days", "Min"])
def test_every_unit_of_time_converts(answer, unit):
    """40 minutes are 2,400 s, two thirds of an hour, a thirty-sixth of a day."""
    wanted = {"s": 2400.0, "m": 40.0, "h": 40 / 60, "d": 40 / 1440}[unit[0].lower()]
    assert answer("value", f"2 {unit}", subject=A8).readings["official score"] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("stated", "verdict", "keys"),
    [
        ("0.67 hours", "confirmed", {}),
        ("0.68 hours", "understated", {}),
        ("0.66 hours", "overstated", {}),  # a time shorter than it was
        ("just under 41 min", "confirmed", {}),
        ("nearly 40 min", "overstated", {}),  # it is not below
        ("over 40 min", "understated", {}),  # longer than it was is to the claimant's disfavour
        ("at least 40 min", "confirmed", {}),
        ("40 min", "confirmed", {"better": "high"}),
        ("41 min", "overstated", {"better": "high"}),  # of a competitor
    ],
)
def test_time_is_judged_in_the_unit_printed(stated, verdict, keys):
    """By its digits and words, and in whose favour it is."""
    claim = make_claim("one", kind="value", stated=stated, subject=Selection(**A8).within(SCOPE), **keys)
    assert judge_claim(claim, Book(make_article(claim), make_results(), RUNS)).verdict == verdict


def test_first_is_asked_of_the_field_that_the_subject_is_of(answer):
    """A field without it would make anybody the first."""
    with pytest.raises(SelectionError, match="meets nothing in the field"):
        answer("first", "first", subject={"submitter": "Ann"}, field={"accelerator": "O1", "round": "any"})
    found = answer("first", "first", subject=A8, field={"accelerator": "N1", "round": "v4.1"})  # of that round alone
    assert found.readings == {"rounds since v4.1": 1.0}


def test_others_of_the_same_round_are_another_reading_of_first(answer):
    """Bob and Cid+Dan both have the old maker's in v5.0; here nobody did before, but for Bob's own."""
    results = make_results(ROWS[:-1])
    found = answer("first", "first", subject=B8, field={"maker": "Old Co"}, results=results)
    assert found.readings == {"rounds since v5.0": 1.0, "others of its own round counted": 2.0}
    assert found.failing == {"others of its own round counted"}


def test_nothing_is_counted_unless_its_name_is_wrong(answer):
    """None is a number; a name that no result has is a mistake."""
    assert answer("count", "0", of="results", subject={"accelerators": 64}).readings == {"results": 0.0}
    with pytest.raises(SelectionError, match="no submitter 'Anna' in data/, did you mean 'Ann'"):
        answer("count", "0", of="results", subject={"submitter": "Anna"})
    with pytest.raises(FigureError, match="meets no results, and something is divided"):
        answer("count", "2x", of="results", subject={}, baseline={"accelerators": 64})


def test_growth_of_partners_is_a_reading_where_either_side_has_some(answer):
    """Three submitters over one; four partners over one. The other way about, a third and a quarter."""
    one = {"round": "v4.1"}
    found = answer("count", "3x", of="submitters", subject={}, baseline=one)
    assert found.readings == {"submitters": 3.0, "each partner counted": 4.0}
    found = answer("count", "3x", of="submitters", subject=one, baseline={})
    assert found.readings == pytest.approx({"submitters": 1 / 3, "each partner counted": 1 / 4})


def test_size_without_rivals_is_won(answer):
    """At each size nobody else is near, and so nobody is faster."""
    found = answer("rank", "all", subject={"submitter": "Ann"}, field={"submitter": "Ann"}, each="size")
    assert (found.readings["official score"], found.total) == (2.0, 2)


def test_other_reading_must_not_take_the_name_of_one(answer):
    """It would stand in its place."""
    claim = make_claim("two", subject=Selection(**A8).within(SCOPE), baseline=Selection(**B8).within(SCOPE))
    claim = replace(claim, also={"official score": claim.about})
    book = Book(make_article(claim), make_results(), RUNS)
    assert list(book.answer(replace(claim, also={"too": claim.about})).readings)[4:] == [
        f"too, {name}" for name in ("official score", "wall clock", "samples per minute")
    ]
    single = replace(claim, also={"wall clock": make_claim("x", kind="count", of="results", stated="3").about})
    found = judge_claim(replace(single, about=msgspec.structs.replace(single.about, id="three")), book)
    assert "two readings are called 'wall clock'" in found.because


def make_derived(id_, formula, **keys):
    return make_claim(id_, kind="derived", stated="5", formula=formula, subject=None, baseline=None, **keys)


def test_derived_is_decided_by_the_first_reading_of_what_it_rests_on(answer):
    """In whatever order its names come: no other reading of one of them may come first."""
    racks = make_derived("racks", "6 / 2")
    racks = replace(racks, also={"as named": make_derived("racks", "8 / 2").about})
    assert answer("derived", "6", racks, formula="racks * 2").readings == {"as derived": 6.0, "as named": 8.0}
    timed = make_claim("timed", subject=Selection(**A8).within(SCOPE), baseline=Selection(**B8).within(SCOPE))
    found = answer("derived", "6", racks, timed, formula="racks * timed")
    assert next(iter(found.readings.items())) == ("official score", 6.0)
    assert found.readings["as named"] == 8.0


def test_reading_that_divides_by_zero_is_left_out(answer):
    """As one that the logs do not allow; the deciding one is an error."""
    timed = make_claim("timed", subject=Selection(**A16).within(SCOPE), baseline=Selection(**B8).within(SCOPE))
    found = answer("derived", "6", timed, formula="1 / (timed - 2.7)")  # 2.7 on the clock
    assert list(found.readings) == ["official score", "samples per minute"]
    with pytest.raises(FormulaError, match=r"timed - 3\.2 is zero"):
        answer("derived", "6", timed, formula="1 / (timed - 3.2)")


def test_spread_of_many_claims_takes_no_end_of_time(answer):
    """Of up to ten, each edge with each; beyond, and where something is divided by zero on the way, there is none."""
    timed = [
        make_claim(f"t{n}", kind="value", stated="40 min", subject=Selection(**A8).within(SCOPE)) for n in range(24)
    ]
    assert answer("derived", "80", *timed, formula="t0 + t1").spread == pytest.approx((76, 88))
    assert answer("derived", "960", *timed, formula=" + ".join(f"t{n}" for n in range(24))).spread is None
    assert answer("derived", "6", *timed, formula="1 / (t0 - 38)").spread is None


def test_claims_that_share_what_they_rest_on_do_not_multiply_it(answer):
    """Each of twenty rests on the two before it; the comparison below them is behind each but once."""
    timed = [
        make_claim(f"c{n}", kind="value", stated="40 min", subject=Selection(**A8).within(SCOPE)) for n in range(2)
    ]
    tower = [make_derived(f"c{n}", f"c{n - 1} + c{n - 2}") for n in range(2, 20)]
    found = answer("derived", "5", *timed, *tower, formula="c19 + c18")
    assert found.readings["official score"] == 40.0 * 10_946  # a Fibonacci number
    assert len(found.rows) == 2  # through c19 and through c18


def test_tower_as_high_as_is_allowed_is_worked_out(answer):
    """Forty claims upon each other fit the stack."""
    tower = [make_derived("c0", "1"), *(make_derived(f"c{n}", f"c{n - 1} + 1") for n in range(1, 40))]
    assert answer("derived", "41", *tower, formula="c39 + 1").readings == {"as derived": 41.0}
