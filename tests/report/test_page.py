"""Tests of `report`: every claim with its verdict, nothing from the web, and no text that acts as markup."""

import csv
import json
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser

import pandas as pd
import pytest
from conftest import make_answer, make_article
from conftest import make_claim as claim

from mlperf_claims.claims.findings import MIME, Evidence, judge_answer
from mlperf_claims.report.charts import MIME as CHART
from mlperf_claims.report.page import write_report
from mlperf_claims.report.show import say, show_table

KEYS = ["id", "kind", "stated", "recomputed", "unit", "verdict", "robust", "readings", "spread", "evidence"]
FETCHING = {"src", "srcset", "poster", "data", "background", "action", "formaction", "manifest", "ping"}
VOID = {"meta", "br", "img", "link", "hr", "input", "source", "wbr", "embed", "base", "area", "col", "track"}
RUNTIME = "/* */"
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",  # would end the element that holds a chart's specification
    "<!-- <script>",  # would keep that element from ending
    "</style></pre></code></title><b>",
    '" onmouseover="alert(1)',  # would end an attribute
    "' onmouseover='alert(1)",
    "<img src=https://example.org/x.png onerror=alert(1)>",
    "&lt;b&gt; &amp;",  # shown as it is, and not decoded
    "{{ 7 * 7 }} {% raw %}",  # the language of the page's template
    r"\1 \g<0> \d \n",  # the language of replacements
    "é 数 \u2028 \u202e",
]


class Page(HTMLParser):
    """The elements of a page, in order: tag, attributes and the text inside."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = (tag, dict(attrs), [])
        assert len(element[1]) == len(attrs), f"<{tag}> has an attribute twice"
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open = [element for element in self.open if element is not self.elements[-1]]

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag, f"</{tag}> inside <{self.open[-1][0]}>"
        self.open.pop()

    def handle_data(self, data):
        for _, _, texts in self.open:
            texts.append(data)

    def find(self, tag, **wanted):
        return [
            ("".join(texts), attributes)
            for found, attributes, texts in self.elements
            if found == tag and wanted.items() <= attributes.items()
        ]

    def attributes(self):
        return [(tag, name, value or "") for tag, given, _ in self.elements for name, value in given.items()]


def judge(one, what="run 0: 2.5 min"):
    evidence = Evidence(
        "subject", what, what, "Org/result_0.txt", "b10b", "c0ffee", 3, 9, "https://example.org/a#L3-L9"
    )
    readings = {"official score": 2.1234, "wall clock": 1.875}
    finding = judge_answer(one, make_answer(readings, spread=(1.5, 2.25)), evidence=[evidence])
    return replace(finding, differences=(what,))


def markdown(text):
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def code(*outputs, source="1 + 1"):
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": list(outputs)}


def show(**data):
    return {"output_type": "display_data", "metadata": {}, "data": data}


def publish(*findings):
    return show(**{MIME: {"findings": [asdict(finding) for finding in findings]}})


def chart(text="two points"):
    data = {"values": [{"size": 1, "name": text}, {"size": 2, "name": text}]}
    encoding = {"x": {"field": "size", "type": "quantitative"}, "color": {"field": "name", "type": "nominal"}}
    return show(**{CHART: {"description": text, "title": text, "data": data, "mark": "point", "encoding": encoding}})


def fail(message="no chip"):
    return {"output_type": "error", "ename": "ValueError", "evalue": message, "traceback": [message]}


@pytest.fixture
def build(tmp_path):
    """A function: write a report of claims from notebooks, name: cells; give the page and its failures."""

    def build_report(claims=(), title="Box beats box", **notebooks):
        (tmp_path / "notebooks").mkdir(exist_ok=True)
        for name, cells in notebooks.items():
            (tmp_path / "notebooks" / f"{name}.ipynb").write_text(json.dumps({"cells": cells}))
        failures = write_report(make_article(*claims, title=title), tmp_path, runtime=RUNTIME)
        return Page((tmp_path / "report.html").read_text(encoding="utf-8")), failures

    return build_report


@pytest.fixture
def small(build):
    """A report of two claims, one audited, with all that a notebook can show."""
    table = show_table(pd.DataFrame({"claim": ["fast"], "verdict": ["confirmed"]}), caption="c")
    cells = [
        markdown("# Speed-up\n\ntext\n\n## Answer\n\n## Answer\n\n### Why?"),
        code(publish(judge(claim())), show(**{"text/html": table.data}), chart(), chart()),
        code(show(**{"text/html": pd.DataFrame({"a": [1]})._repr_html_(), "text/plain": "a"})),
        code({"output_type": "stream", "name": "stdout", "text": ["3 rows\n"]}),
    ]
    other = [markdown("# Speed-up\n\n## Answer"), code(fail("no chip\nat all"))]
    return build([claim(), claim("open")], one=cells, two=other)


def test_every_claim_appears_with_a_verdict(small):
    """Each claim has a part of its own with its verdict, audited or not."""
    page, _ = small
    parts = [page.find("article", id=f"claim-{id_}") for id_ in ("fast", "open")]
    assert ["confirmed" in parts[0][0][0], "failed" in parts[1][0][0]] == [True, True]


def test_page_carries_a_review_of_every_claim(small):
    """The page's JSON-LD, which search engines read, has a ClaimReview that leads to each claim's part."""
    page, _ = small
    ((text, _),) = page.find("script", type="application/ld+json")
    graph = json.loads(text)["@graph"]
    assert [(review["@type"], review["url"]) for review in graph] == [
        *(("ClaimReview", f"#claim-{id_}") for id_ in ("fast", "open")),
    ]


def test_claim_shows_what_it_rests_on(small):
    """Stated and recomputed figure, readings, spread and a link to the lines of the log are there."""
    page, _ = small
    ((text, _),) = page.find("article", id="claim-fast")
    wanted = ["2.1x", "2.123x", "wall clock", "1.875x", "overstated", "1.500x to 2.250x", "lines 3 (run_start) to 9"]
    assert [words for words in wanted if words not in text] == []
    assert page.find("a", href="https://example.org/a#L3-L9")


def test_nothing_is_fetched_from_the_web(small):
    """No script, sheet, picture or frame has an address, and no style one either."""
    page, _ = small
    assert [found for found in page.attributes() if found[1] in FETCHING or found[1] == "xlink:href"] == []
    assert {"link", "base", "iframe", "object", "embed", "img", "image", "use"} & {
        tag for tag, *_ in page.elements
    } == set()
    assert re.findall(r"url\(|@import", "".join(text for text, _ in page.find("style"))) == []


def test_page_has_one_h1(small):
    """The article's title is the page's, and the notebooks' titles stand below it."""
    page, _ = small
    assert [text for text, _ in page.find("h1")] == ["Audit of “Box beats box”"]
    assert [text for text, _ in page.find("h2")][:3] == ["Every claim", "Speed-up", "Speed-up"]


def test_every_heading_of_a_table_says_what_it_heads(small):
    """Also in the tables that pandas writes, a heading is of a column or of a row."""
    page, _ = small
    headings = [attributes for _, attributes in page.find("th")]
    assert len(headings) > 10
    assert {attributes.get("scope") for attributes in headings} == {"col", "row"}


def test_anchors_are_unique_and_every_link_meets_one(small):
    """Each id is there once, also of headings alike, and each link within the page has its target."""
    page, _ = small
    ids = [value for _, name, value in page.attributes() if name == "id"]
    links = {value[1:] for tag, name, value in page.attributes() if (tag, name) == ("a", "href") and value[0] == "#"}
    assert sorted(set(ids)) == sorted(ids)
    assert links - set(ids) == set()
    assert {"claim-fast", "notebook-one", "notebook-two-answer"} <= links


def test_headings_go_no_deeper_than_html(build):
    """One level down, the deepest heading of Markdown is still a heading of HTML."""
    page, _ = build([claim()], one=[markdown("# One\n\n###### Deep")])
    assert {tag for tag, *_ in page.elements if re.fullmatch(r"h\d", tag)} <= {"h1", "h2", "h3", "h4", "h5", "h6"}


def test_failed_notebook_is_marked_and_listed(small, tmp_path):
    """A notebook that failed says so where it stands, and in a line of failures.txt."""
    page, failures = small
    assert any("This part failed" in text and "ValueError: no chip" in text for text, _ in page.find("p"))
    lines = (tmp_path / "failures.txt").read_text().splitlines()
    assert lines == failures
    assert lines[0].startswith("two: ValueError: no chip")  # one line for one notebook
    assert lines[1:] == [f"claim open: {lines[0]}"]  # and one for the claim that it may have been about


def test_nothing_failed_is_an_empty_list(build, tmp_path):
    """Make refuses a report that lists a failure, so there must be no line at all."""
    _, failures = build([claim()], one=[markdown("# One"), code(publish(judge(claim())))])
    assert failures == []
    assert (tmp_path / "failures.txt").read_bytes() == b""


def test_same_inputs_give_the_same_bytes(small, build, tmp_path):
    """A second report from the same notebooks is the same, and nothing is left beside it."""
    names = ["claims.csv", "claims.json", "claims.schema.json", "failures.txt", "report.html"]
    first = [(tmp_path / name).read_bytes() for name in names]
    build([claim(), claim("open")])
    assert [(tmp_path / name).read_bytes() for name in names] == first
    assert {path.name for path in tmp_path.iterdir()} == {*names, "notebooks"}


def test_claims_are_there_for_machines(small, tmp_path):
    """claims.json and claims.csv have every claim, in order, with the same keys."""
    given = json.loads((tmp_path / "claims.json").read_text())["claims"]
    with (tmp_path / "claims.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert list(lines[0]) == KEYS
    assert [set(KEYS) - set(one) for one in given] == [set(), set()]
    assert [one["id"] for one in given] == [one["id"] for one in lines] == ["fast", "open"]
    assert [lines[0][key] for key in KEYS[2:7]] == ["2.1x", "2.1234", "x", "confirmed", "False"]
    assert lines[0]["readings"] == "official score: 2.1234; wall clock: 1.875"
    assert (lines[0]["spread"], lines[0]["evidence"]) == ("1.5 to 2.25", "https://example.org/a#L3-L9")
    assert [lines[1][key] for key in ("recomputed", "robust", "readings", "spread")] == [""] * 4


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_shows_as_text(build, text):
    """Wherever a text comes from, it is shown as it is and adds no element, attribute or script."""

    def tags_of(text):
        cells = [
            markdown(f"# One {text}\n\nsay {text}\n"),
            code(publish(judge(claim(says=text), what=text)), chart(text), fail(text), source=f"# {text}"),
            code({"output_type": "stream", "name": "stdout", "text": [text]}, show(**{"text/plain": text})),
            code(show(**{"text/html": show_table(pd.DataFrame({text: [text]}), caption=text).data})),
        ]
        page, _ = build([claim(says=text)], title=text, one=cells)
        return page, [(tag, sorted(set(given) - {"transform", "x2", "y2", "d"})) for tag, given, _ in page.elements]

    page, tags = tags_of(text)
    assert tags == tags_of("harmless")[1]
    shown = [page.find("h1")[0][0], page.find("caption")[1][0], page.find("article", id="claim-fast")[0][0]]
    assert [" ".join(text.split()) in " ".join(where.split()) for where in shown] == [True] * 3
    assert page.find("div", **{"class": "drawn", "aria-label": text})
    assert json.loads(page.find("script", id="spec-1")[0][0])["description"] == text


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "![logo](https://example.org/x.png)", "[a](javascript:1)"]
)
def test_submitter_in_a_sentence_is_not_markup(build, text):
    """A sentence with a submitter's name, rendered as Markdown, fetches and runs nothing."""
    page, _ = build([claim()], one=[code(show(**{"text/markdown": say(f"By {text}.").data}))])
    assert [value for _, name, value in page.attributes() if name in FETCHING or "javascript" in value] == []
    assert len(page.find("script")) == 3  # the reviews for machines, the runtime and the page's own


@pytest.mark.parametrize("name", ["sources", "main", "chart", "claim"])
def test_name_of_a_notebook_clashes_with_no_anchor(build, name):
    """The page has anchors of its own, which no heading takes."""
    cells = [markdown("# Title\n\n## 1\n\n## fast"), code(chart())]
    page, _ = build([claim()], **{name: cells})
    ids = [value for _, name, value in page.attributes() if name == "id"]
    assert sorted(set(ids)) == sorted(ids)


def test_derivation_of_a_notebook_without_a_title_is_found(build):
    """The link from a claim to its derivation has a target even if the notebook has no H1."""
    page, _ = build([claim()], one=[code(publish(judge(claim())))])
    links = {value[1:] for _, name, value in page.attributes() if name == "href" and value[0] == "#"}
    assert links - {value for _, name, value in page.attributes() if name == "id"} == set()


def test_runtime_that_would_end_its_element_is_refused(tmp_path):
    """JavaScript with </script> in it cannot stand inside a page."""
    (tmp_path / "notebooks").mkdir()
    with pytest.raises(ValueError, match="the chart runtime contains </script"):
        write_report(make_article(claim()), tmp_path, runtime="'</SCRIPT>'")
