"""Tests of `findings`: what is judged, what evidence it carries, and how it reaches the report."""

import json
import math

import pandas as pd
import pytest

from mlperf_claims.claims.articles import Article, Claim, parse_stated
from mlperf_claims.claims.findings import (
    MIME,
    FindingError,
    explain,
    format_interval,
    format_recomputed,
    format_value,
    judge_claim,
    judge_claims,
    leave_open,
    list_evidence,
    load_findings,
    publish,
    read_findings,
    summarise,
)
from mlperf_claims.claims.verdicts import NOT_YET, VerdictError

COMMIT, URL = "c0ffee" * 6 + "0000", "https://example.org/results"
KEY = {"round": "v1", "organization": "Org", "system": "box", "benchmark": "tiny"}


def claim(id_="fast", stated="2.1x", kind="speedup"):
    return Claim(id_, "faster", kind, parse_stated(stated))


def article(*claims):
    return Article("paper", "t", "p", "d", "s", "v1", "tiny", "closed", assumptions={}, claims=claims)


def test_first_reading_decides():
    """The verdict is that of the first reading, whatever the others say."""
    finding = judge_claim(claim(), {"official": 2.12, "clock": 1.87})
    assert (finding.recomputed, finding.verdict) == (2.12, "confirmed")
    assert [reading.verdict for reading in finding.readings] == ["confirmed", "overstated"]


@pytest.mark.parametrize(
    ("values", "robust"),
    [
        ([2.12, 2.13], True),
        ([2.12, 1.87], False),
        ([1.87, 1.5], True),  # every reading calls it overstated
        ([1.87, 3.0], False),  # wrong in two directions
        ([2.12], True),  # a single reading agrees with itself
        ([2.12, math.nan], True),  # a reading that the logs do not allow has no say
    ],
)
def test_robust_if_every_reading_agrees(values, robust):
    """A verdict is robust where all the readings that there are give it."""
    readings = {f"reading {number}": value for number, value in enumerate(values)}
    assert judge_claim(claim(), readings).robust is robust


def test_missing_reading_is_left_out():
    """A reading that is nan appears nowhere; the others keep their order."""
    finding = judge_claim(claim(), {"official": 2.12, "clock": math.nan, "samples": 2.2})
    assert [reading.name for reading in finding.readings] == ["official", "samples"]


def test_missing_first_reading_is_an_error():
    """The reading that decides cannot be left out, and the error names the claim."""
    with pytest.raises(FindingError, match="fast: official is nan"):
        judge_claim(claim(), {"official": math.nan, "clock": 2.1})


def test_claim_without_a_figure_is_not_judged():
    """Words are not judged by digits."""
    with pytest.raises(VerdictError, match="'first' against 3"):
        judge_claim(claim(stated="first"), {"count": 3})


@pytest.mark.parametrize("spread", [(math.nan, math.nan), (1.0, math.inf)])
def test_spread_that_is_no_number_is_an_error(spread):
    """NaN and Infinity are no JSON, so a spread of them would break claims.json."""
    with pytest.raises(FindingError, match=r"fast: .*spread"):
        judge_claim(claim(), {"official": 2.1}, spread=spread)


@pytest.fixture
def runs():
    """Three runs of the box: one read, one aborted, one unreadable; and one of another system."""
    frame = pd.DataFrame(
        {
            **{"run": ["0", "1", "2", "0"], "problem": ["", "", "no run_stop", ""]},
            **{"not_counted": ["", "aborted", "no run_stop", ""], "time_to_train_min": [2.5, 3, math.nan, 1]},
            **{"start_line": [10, 11, None, 1], "stop_line": [90, 91, None, 2]},
        }
    ).astype({"start_line": "Int64", "stop_line": "Int64"})
    frame = frame.assign(**KEY, blob="b10b")
    frame.loc[3, "system"] = "other"
    return frame.assign(path="Org/results/" + frame["system"] + "/tiny/result " + frame["run"] + ".txt")


@pytest.fixture
def pair():
    """A claim's row: the box, with a scaling factor, against itself in another round."""
    submission = KEY | {
        **{"submitter": "Org", "system_name": "Box", "division": "closed", "availability": "onprem"},
        **{"accelerator": "X1", "accelerators_total": 2048, "framework": "F"},
        **{"repository": URL, "commit": COMMIT, "system_path": "Org/systems/box.json", "system_blob": "5e"},
        **{"scaling_factor": 1.0125, "scaling_path": "Org/scaling.json", "scaling_blob": "5c"},
    }
    older = submission | {"round": "v0", "scaling_factor": math.nan, "scaling_path": "", "scaling_blob": ""}
    roles = {"subject": submission, "baseline": older}
    return {f"{role}_{name}": value for role, given in roles.items() for name, value in given.items()}


def evidence_of(pair, runs):
    return list_evidence(pd.DataFrame([{"claim": "fast"} | pair]), runs)


def test_evidence_leads_to_the_lines_at_the_pinned_commit(pair, runs):
    """A log is cited with its blob, the lines of run_start and run_stop, and a link to them."""
    first = evidence_of(pair, runs)[0]
    assert (first.first_line, first.last_line, first.blob, first.role) == (10, 90, "b10b", "subject")
    assert first.url == f"{URL}/blob/{COMMIT}/Org/results/box/tiny/result%200.txt#L10-L90"
    assert first.what == "run 0: 2.5000 min on the clock"


def test_evidence_names_why_a_run_does_not_count(pair, runs):
    """An aborted run is cited with its lines, an unreadable one as a whole file."""
    _, aborted, unreadable, *_ = evidence_of(pair, runs)
    assert (aborted.what.rpartition(": ")[2], aborted.first_line) == ("aborted", 11)
    assert (unreadable.what.rpartition(": ")[2], unreadable.first_line) == ("no run_stop", 0)
    assert unreadable.url.endswith("/result%202.txt")


def test_evidence_is_every_file_of_both_submissions(pair, runs):
    """Logs, factor and description of the subject; the baseline of v0 has no logs here and no factor."""
    found = [(one.role, one.path.rpartition("/")[2]) for one in evidence_of(pair, runs)]
    logs = [("subject", f"result {run}.txt") for run in "012"]
    rest = [("subject", "scaling.json"), ("subject", "box.json"), ("baseline", "box.json")]
    assert found == logs + rest


def test_evidence_is_listed_once(pair, runs):
    """Two rows of the same submissions do not cite a file twice."""
    rows = pd.DataFrame([{"claim": "fast"} | pair] * 2)
    assert list_evidence(rows, runs) == evidence_of(pair, runs)


def test_claims_of_a_frame_are_judged_row_by_row(pair, runs):
    """A row's readings, spread and differences become its claim's finding."""
    frame = pd.DataFrame([{"claim": "fast", "ratio": 2.1, "low": 1.9, "high": 2.3} | pair])
    (finding,) = judge_claims(
        article(claim()), frame, readings={"official": "ratio"}, runs=runs, spread=("low", "high")
    )
    assert (finding.id, finding.recomputed, finding.spread) == ("fast", 2.1, (1.9, 2.3))
    assert finding.differences == ("round: v1 against v0",)


def notebook(*findings):
    """An executed notebook that carries findings, as JSON."""
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
        publish(findings)
    outputs = [{"output_type": "display_data", "metadata": {}, "data": data} for data in shown]
    cells = [{"cell_type": "markdown", "source": ""}, {"cell_type": "code", "source": "", "outputs": outputs}]
    return json.loads(json.dumps({"cells": cells}))


def test_published_findings_are_read_back_equal(pair, runs):
    """What a notebook publishes is what the report reads, through JSON."""
    given = {"spread": (1.9, 2.3), "differences": ["a"], "evidence": evidence_of(pair, runs)}
    findings = [judge_claim(claim(), {"official": 2.1, "clock": 1.8}, **given), leave_open(claim("open"))]
    assert read_findings(notebook(*findings)) == findings


def test_other_outputs_carry_no_findings():
    """A notebook that published nothing has no findings."""
    outputs = [{"output_type": "stream", "text": [MIME]}, {"output_type": "display_data", "data": {}}]
    assert read_findings({"cells": [{"outputs": outputs}, {"source": "text"}]}) == []


@pytest.fixture
def write(tmp_path):
    """A function: write a notebook that judges these claims, all at 2.1."""

    def write_notebook(name, *ids):
        findings = [judge_claim(claim(id_), {"official": 2.1}) for id_ in ids]
        (tmp_path / name).write_text(json.dumps(notebook(*findings)))

    return write_notebook


def test_every_claim_has_one_finding_in_the_article_s_order(write, tmp_path):
    """Claims come in the article's order, and those that no notebook judges as not yet audited."""
    write("1.ipynb", "c")
    write("2.ipynb", "a")
    found = load_findings(article(claim("a"), claim("b"), claim("c")), tmp_path)
    assert [(finding.id, finding.verdict) for finding in found] == [
        ("a", "confirmed"),
        ("b", NOT_YET),
        ("c", "confirmed"),
    ]


def test_claim_judged_twice_is_an_error(write, tmp_path):
    """Two notebooks must not judge the same claim; both are named."""
    write("1.ipynb", "a")
    write("2.ipynb", "a")
    with pytest.raises(FindingError, match=r"a is judged by 1\.ipynb and by 2\.ipynb"):
        load_findings(article(claim("a")), tmp_path)


def test_unknown_claim_is_an_error(write, tmp_path):
    """A notebook must not judge what the article does not claim."""
    write("1.ipynb", "z")
    with pytest.raises(FindingError, match=r"1\.ipynb judges z, which paper does not claim"):
        load_findings(article(claim("a")), tmp_path)


@pytest.mark.parametrize(
    ("value", "unit", "decimals", "text"),
    [
        (2.1049, "x", 1, "2.105x"),  # two digits more than printed
        (90.868, "%", 0, "90.87%"),
        (39.0, "racks", 0, "39 racks"),  # a whole number has none
        (5012.4, "", 0, "5,012.40"),
        (2496, "x per chip", 0, "2,496x per chip"),
        (27.3271, "min", 2, "27.3271 min"),
        (4.0, "xPUs", 0, "4 xPUs"),  # x begins a word here
        (None, "x", 1, "–"),
        (math.nan, "x", 1, "–"),
    ],
)
def test_value_is_shown_finer_than_it_was_printed(value, unit, decimals, text):
    """A figure is shown with its unit and two digits more than the stated one has."""
    assert format_value(value, unit, decimals=decimals) == text


def test_recomputed_is_shown_as_finely_as_its_claim_asks():
    """27.33 has two decimals, so four are shown."""
    finding = judge_claim(claim(stated="27.33 min", kind="time_to_train"), {"official": 27.32714})
    assert format_recomputed(finding) == "27.3271 min"


@pytest.mark.parametrize(
    ("readings", "sentence"),
    [
        ({"clock": 2.1}, ""),
        ({"clock": 1.9}, "2.1x is overstated at 1.900x (clock)."),
        (
            {"score": 2.1, "clock": 1.9},
            "2.1x is confirmed at 2.100x (score), but would be overstated at 1.900x (clock).",
        ),
        ({"score": 1.9, "clock": 1.8}, "2.1x is overstated at 1.900x (score)."),  # the clock agrees
    ],
)
def test_explanation_says_what_does_not_hold(readings, sentence):
    """A claim that does not hold under every reading is explained, any other needs no sentence."""
    assert explain(judge_claim(claim(), readings)) == sentence
    assert explain(leave_open(claim())) == ""


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("2.1x", "2.05 to 2.15"),
        ("2,496", "2,495.5 to 2,496.5"),
        ("over 34x", "over 34"),  # not 34 itself
        ("at least 3", "from 3"),
        ("under 11 min", "under 11"),
        ("up to 96%", "up to 96"),  # 96 too
        ("around 156 racks", "148.2 to 163.8"),
        ("first", "–"),
    ],
)
def test_interval_is_shown_as_its_words_bind(stated, shown):
    """What a printed figure stands for is shown by its digits and the word in front."""
    assert format_interval(leave_open(claim(stated=stated))) == shown


def test_explanation_groups_verdicts_and_omits_a_repeated_figure():
    """Readings of one verdict stand together; one that differs by rank alone does not repeat the figure."""
    readings = {"score": 2.1, "clock": 1.9, "each counted": 2.1, "samples": 1.8}
    sentence = explain(judge_claim(claim(), readings, failing=["each counted"]))
    assert sentence == (
        "2.1x is confirmed at 2.100x (score), but would be overstated at 1.900x (clock) and at 1.800x (samples) "
        "and contradicted with each counted."
    )


def headline(id_, stated, readings):
    one = Claim(id_, "faster", "speedup", parse_stated(stated), headline=True)
    return judge_claim(one, readings)


def test_summary_counts_verdicts_and_names_headlines():
    """Two sentences: how many of the claims hold, and each headline figure, on the clock where that differs."""
    unverifiable = leave_open(
        Claim("u", "cheaper", "unverifiable", parse_stated("2x"), fields={"because": "no prices"})
    )
    findings = [
        headline("a", "2.1x", {"official scores": 2.11, "wall clock": 1.87}),
        headline("b", "3x", {"official scores": 3.1, "wall clock": 2.9}),
        headline("c", "9x", {"official scores": 3.0}),
        judge_claim(claim(), {"official scores": 2.12}),
        unverifiable,
    ]
    first, second = summarise(findings)
    assert first == "Of 5 claims, the public logs can answer 4: 3 are confirmed and 1 is overstated."
    assert second == (
        "Of the headline figures, 2.1x and 3x are confirmed and 9x is overstated; "
        "on the wall clock, which no factor evens out, 2.1x would be 1.870x."
    )
    assert summarise([unverifiable]) == ("The public logs can answer none of 1 claims.",)
    assert summarise([findings[3]]) == ("Of the claims, 1 is confirmed.",)
    later = leave_open(claim())
    assert summarise([findings[3], later]) == ("Of the claims, 1 is confirmed and 1 is not yet audited.",)
