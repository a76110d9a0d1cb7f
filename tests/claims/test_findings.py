"""Tests of `findings`: judged claims, the evidence behind them, and how they travel in a notebook."""

import json
import math
from dataclasses import asdict

import pandas as pd
import pytest
from conftest import make_answer, make_article, make_claim

from mlperf_claims.claims import findings
from mlperf_claims.claims.articles import NoClaims
from mlperf_claims.claims.findings import (
    MIME,
    Audit,
    FindingError,
    explain,
    format_interval,
    format_value,
    judge_answer,
    leave_open,
    load_findings,
    read_findings,
    require_rows,
    summarise,
)
from mlperf_claims.claims.kinds import Book
from mlperf_claims.results.select import Selection

SCORE, CLOCK = "official score", "wall clock"


def judge(readings, *, stated="2.1x", id_="c", headline=False, **given):
    return judge_answer(make_claim(id_, stated=stated, headline=headline), make_answer(readings, **given))


def notebook(*judged):
    data = {MIME: {"findings": [asdict(one) for one in judged]}}
    return {"cells": [{"source": "", "outputs": [{"output_type": "display_data", "data": data}]}]}


@pytest.mark.parametrize(
    ("readings", "given", "verdict", "robust"),
    [
        ({SCORE: 2.1}, {}, "confirmed", True),
        ({SCORE: 2.1, CLOCK: 1.9}, {}, "confirmed", False),
        ({SCORE: 2.1, CLOCK: 1.9}, {"beside": frozenset({CLOCK})}, "confirmed", True),  # which does not count
        ({SCORE: 1.9, CLOCK: 1.8}, {}, "overstated", True),
        ({SCORE: 2.1, CLOCK: 2.1}, {"failing": frozenset({CLOCK})}, "confirmed", False),  # another holds the rank
        ({SCORE: 2.1}, {"failing": frozenset({SCORE})}, "contradicted", True),
    ],
)
def test_first_reading_decides_and_the_others_tell_how_firmly(readings, given, verdict, robust):
    """The verdict is the first reading's; robust, if every one that counts gives the same."""
    found = judge(readings, **given)
    assert (found.verdict, found.robust) == (verdict, robust)
    assert found.recomputed == readings[SCORE]


def test_all_is_judged_against_their_number():
    """Three firsts of three benchmarks confirm `all`, two of three contradict it."""
    assert judge({SCORE: 3.0}, stated="all", total=3, unit="of 3").verdict == "confirmed"
    found = judge({SCORE: 2.0}, stated="every one", total=3, unit="of 3")
    assert (found.verdict, found.unit, found.low) == ("contradicted", "of 3", 2.5)


@pytest.mark.parametrize(
    ("keys", "verdict", "because"),
    [
        ({"because": "no prices"}, "no public data", "no prices"),
        (
            {"because": "not read", "source": "https://example.org"},
            "not checked here",
            "not read (https://example.org)",
        ),
    ],
)
def test_claim_beyond_the_logs_says_why(keys, verdict, because):
    """With a public source it is not checked here, without one there are no data."""
    found = leave_open(make_claim(kind="unverifiable", **keys))
    assert (found.verdict, found.because, found.robust) == (verdict, because, None)


def test_findings_travel_in_a_notebook_unchanged():
    """What is published is read back, whatever is in it."""
    judged = [judge({SCORE: 2.1}, spread=(1.9, 2.3), rests_on=("b",)), leave_open(make_claim("open"))]
    assert read_findings(json.loads(json.dumps(notebook(*judged)))) == judged
    assert read_findings({"cells": [{"source": "", "outputs": [{"output_type": "stream", "text": [MIME]}]}]}) == []


def test_every_claim_has_one_finding_in_the_article_s_order(tmp_path):
    """A claim that no notebook judged has failed, and says which notebook did not finish."""
    (tmp_path / "1.ipynb").write_text(json.dumps(notebook(judge({SCORE: 2.1}, id_="c"))))
    error = {"output_type": "error", "ename": "ValueError", "evalue": "no chip"}
    (tmp_path / "2.ipynb").write_text(json.dumps({"cells": [{"source": "", "outputs": [error]}]}))
    article = make_article(make_claim("b"), make_claim("c"))
    found = load_findings(article, tmp_path)
    assert [(one.id, one.verdict) for one in found] == [("b", "failed"), ("c", "confirmed")]
    assert found[0].because == "2: ValueError: no chip"


def test_claim_judged_twice_or_by_nobody_s_article_is_an_error(tmp_path):
    """Both notebooks are named; so is the claim that the article lacks."""
    for name in ("1.ipynb", "2.ipynb"):
        (tmp_path / name).write_text(json.dumps(notebook(judge({SCORE: 2.1}, id_="a"))))
    with pytest.raises(FindingError, match=r"a is judged by 1\.ipynb and by 2\.ipynb"):
        load_findings(make_article(make_claim("a")), tmp_path)
    with pytest.raises(FindingError, match=r"1\.ipynb judges a, which paper does not claim"):
        load_findings(make_article(make_claim("b")), tmp_path)


@pytest.mark.parametrize(
    ("value", "unit", "decimals", "text"),
    [
        (2.1049, "x", 1, "2.105x"),  # two digits more than printed
        (2.1049, "X", 1, "2.105x"),
        (90.868, "%", 0, "90.87%"),
        (45.44, "% faster", 0, "45.44% faster"),
        (39.0, "racks", 0, "39 racks"),  # a whole number has none
        (27.3271, "min", 2, "27.3271 min"),
        (4.0, "xPUs", 0, "4 xPUs"),  # x begins a word here
        (1.0, "place", 0, "1st"),
        (12.0, "place", 0, "12th"),
        (None, "x", 1, "–"),
        (math.nan, "x", 1, "–"),
    ],
)
def test_value_is_shown_finer_than_it_was_printed(value, unit, decimals, text):
    """A figure is shown with its unit and two digits more than the stated one has."""
    assert format_value(value, unit, decimals=decimals) == text


@pytest.mark.parametrize(
    ("readings", "sentence"),
    [
        ({SCORE: 2.1}, ""),
        ({SCORE: 1.9}, "2.1x is overstated at 1.900x (official score)."),
        (
            {SCORE: 2.1, CLOCK: 1.9},
            "2.1x is confirmed at 2.100x (official score), but would be overstated at 1.900x (wall clock).",
        ),
        ({SCORE: 1.9, CLOCK: 1.8}, "2.1x is overstated at 1.900x (official score)."),  # the clock agrees
    ],
)
def test_explanation_says_what_does_not_hold(readings, sentence):
    """A claim that does not hold under every reading is explained, any other needs no sentence."""
    assert explain(judge(readings)) == sentence


def test_open_claim_is_explained_by_its_reason():
    """Its verdict and why."""
    assert explain(leave_open(make_claim(stated="2x"), failed="no chip")) == "“2x”: failed; no chip."


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("2.1x", "2.05 to 2.15"),
        ("2,496", "2,495.5 to 2,496.5"),
        ("over 34x", "over 34"),  # not 34 itself
        ("at least 3", "from 3"),
        ("under 11 min", "under 11"),
        ("around 156 racks", "148.2 to 163.8"),
        ("yes", "–"),
    ],
)
def test_interval_is_shown_as_its_words_bind(stated, shown):
    """What a printed figure stands for is shown by its digits and the word in front."""
    assert format_interval(leave_open(make_claim(stated=stated))) == shown


def test_summary_counts_verdicts_and_names_headlines():
    """Two sentences: how many of the claims hold, and each headline figure, on the clock where that differs."""
    judged = [
        judge({SCORE: 2.11, CLOCK: 1.87}, headline=True),
        judge({SCORE: 2.12}),
        judge({SCORE: 1.0}, stated="9x", headline=True),
        leave_open(make_claim(kind="unverifiable", because="no prices")),
        leave_open(make_claim(kind="unverifiable", because="unread", source="https://example.org")),
        leave_open(make_claim()),
    ]
    first, second = summarise(judged)
    assert first == (
        "Of 6 claims, 3 are judged here: 2 are confirmed and 1 is overstated; "
        "1 could be checked elsewhere, for 1 there are no public data and 1 failed."
    )
    assert second.startswith("Of the headline figures, 2.1x is confirmed")
    assert "2.1x would be 1.870x" in second
    assert summarise([judged[1]]) == ("Of 1 claims, 1 is judged here: 1 is confirmed.",)


def test_part_with_nothing_to_say_ends_in_a_sentence():
    """No rows end a notebook without failing it."""
    with pytest.raises(NoClaims, match="nothing here"):
        require_rows(pd.DataFrame(), "nothing here")
    assert len(require_rows(pd.DataFrame({"a": [1]}), "nothing here")) == 1


def test_evidence_leads_to_the_lines_of_the_logs():
    """Of a judged claim about times: each log with its lines, the system description, at a commit."""
    audit = findings.open_audit("", "value")
    judged = next(one for one in audit.judge() if one.verdict == "confirmed" and one.spread)
    logs = [one for one in judged.evidence if one.what.startswith("run ")]
    assert len(logs) >= 3
    assert all(one.url.endswith(f"#L{one.first_line}-L{one.last_line}") and one.commit in one.url for one in logs)
    assert any(one.what == "system description" for one in judged.evidence)


COMMIT, URL = "c0ffee" * 6 + "0000", "https://example.org/results"
BOX = {
    **{"round": "v5.0", "organization": "Org", "system": "box", "benchmark": "tiny", "submitter": "Org"},
    **{"system_name": "Box", "division": "closed", "availability": "onprem", "accelerator": "X1", "framework": "F"},
    **{"accelerators_total": 2048, "nodes": 256, "official_min": 40.5, "wall_clock_min": 40.0, "no_score": ""},
    **{"samples_per_min": 5.0, "scaling_factor": 1.0125, "scaling_path": "Org/scaling.json", "scaling_blob": "5c"},
    **{"repository": URL, "commit": COMMIT, "system_path": "Org/systems/box.json", "system_blob": "5e", "maker": "X"},
    **{"logs": 3, "logs_absent": 0, "runs_not_counted": 2},
}
OLD = BOX | {"system": "old", "accelerator": "X0", "framework": "G", "official_min": 81.0, "wall_clock_min": 84.0}
OLD |= {"samples_per_min": math.nan, "scaling_path": "", "scaling_blob": "", "system_path": "Org/systems/old.json"}


@pytest.fixture
def audit():
    """A function: an audit of claims about the box, of which one log aborted and one cannot be read."""
    runs = pd.DataFrame(
        [
            ("0", "", "", 40.0, 10, 90),
            ("1", "", "aborted", 3.0, 11, 91),
            ("2", "no run_stop", "no run_stop", None, 0, 0),
        ],
        columns=["run", "problem", "not_counted", "time_to_train_min", "start_line", "stop_line"],
    ).assign(**{key: BOX[key] for key in ("round", "organization", "system", "benchmark")}, blob="b10b")
    runs = runs.assign(path="Org/results/box/result " + runs["run"] + ".txt", normalised_min=runs["time_to_train_min"])

    def open_audit(*claims):
        return Audit(make_article(*claims), claims, Book(make_article(*claims), pd.DataFrame([BOX, OLD]), runs))

    return open_audit


def about(id_, kind, stated, *, headline=False, **keys):
    roles = {role: Selection(system=keys.pop(role)) for role in ("subject", "baseline", "field") if role in keys}
    return make_claim(id_, kind=kind, stated=stated, headline=headline, **roles, **keys)


def test_evidence_is_every_file_once_with_its_lines(audit):
    """Logs with the lines of start and stop, an unreadable one as a whole, factor and description, at the commit."""
    (found,) = audit(about("time", "value", "40.5 min", subject="box")).judge()
    assert [(one.what, one.first_line, one.last_line) for one in found.evidence] == [
        ("run 0: 40.0000 min on the clock", 10, 90),
        ("run 1: aborted", 11, 91),
        ("run 2: no run_stop", 0, 0),
        ("scaling factor 1.012500", 0, 0),
        ("system description", 0, 0),
    ]
    assert found.evidence[0].url == f"{URL}/blob/{COMMIT}/Org/results/box/result%200.txt#L10-L90"
    assert found.evidence[2].url.endswith("/result%202.txt")


def test_claim_about_a_size_rests_on_the_description_alone(audit):
    """Logs say nothing about it."""
    (found,) = audit(about("size", "value", "2,048 chips", measure="accelerators", subject="box")).judge()
    assert [one.what for one in found.evidence] == ["system description"]


def test_evidence_of_a_claim_on_claims_names_the_way(audit):
    """Both results of the comparison, through the claim that compares them; none twice."""
    compared = about("fast", "ratio", "2x", subject="box", baseline="old")
    on_it = make_claim("worth", kind="derived", stated="4", formula="fast + fast", subject=None, baseline=None)
    found = audit(compared, on_it).judge()[1]
    assert list(dict.fromkeys(one.role for one in found.evidence)) == ["subject of fast", "baseline of fast"]
    assert len(found.evidence) == len(set(found.evidence)) == 6
    assert found.rests_on == ("fast",)


def test_differences_that_the_article_does_not_name_are_listed(audit):
    """Of all in which the compared results differ, those that `named` lacks; none where it is not given."""
    compared = [
        about("bare", "ratio", "2x", subject="box", baseline="old"),
        about("some", "ratio", "2x", subject="box", baseline="old", named=["accelerator"]),
        about("none", "ratio", "2x", subject="box", baseline="old", named=[]),
    ]
    found = audit(*compared).judge()
    assert {one.differences for one in found} == {("accelerator: X1 against X0", "software: F against G")}
    assert [one.unnamed for one in found] == [(), ("software",), ("accelerator", "software")]


def test_comparisons_are_laid_beside_each_other(audit):
    """One row each, of the claims that could be worked out; the pair is the one that the article leads with."""
    bad = about("bad", "value", "1 min", subject="zed")
    some = [about("a", "ratio", "2x", subject="box", baseline="old"), bad]
    lead = about("lead", "ratio", "0.5x", subject="old", baseline="box", headline=True)
    opened = audit(*some, lead)
    assert opened.compare()["claim"].tolist() == ["a", "lead"]
    assert opened.compare("lead")[SCORE].tolist() == [0.5]
    assert (opened.find_pair()["claim"], opened.find_scope()["system"].tolist()) == ("lead", ["box", "old"])
    with pytest.raises(NoClaims, match="compares times"):
        audit(bad).find_pair()
    with pytest.raises(NoClaims, match="could be worked out"):
        audit(bad).find_scope()


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_endless_figure_is_no_verdict(audit, value):
    """What overflows on the way is said of that claim, and is no JSON."""
    formula = f"{'-' if value < 0 else ''}1e300 * 1e300"
    (found,) = audit(
        make_claim("big", kind="derived", stated="5", formula=formula, subject=None, baseline=None)
    ).judge()
    assert (found.verdict, found.recomputed) == ("failed", None)
    assert "expected a figure in both" in found.because
