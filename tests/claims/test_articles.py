"""Tests of `articles`: what a printed figure stands for, and which article files are refused."""

import math

import pytest

from mlperf_claims.claims.articles import ArticleError, load_article, load_benchmarks, parse_stated

ARTICLE = """\
title: Box beats box
publisher: A newspaper
published: 2026-01-02
round: v5.0
benchmark: tiny
division: closed
assumptions:
  chips_per_rack: {value: 8, unit: chips per rack, because: the article says so}
claims:
  - id: time
    says: The box trains in this time
    kind: time_to_train
    stated: 1 min
    subject: {submitter: Org, accelerators: 8}
  - id: faster
    says: >
      The box is
      faster
    kind: speedup
    headline: true
    stated: 2.1x
    subject: {submitter: Org}
    baseline: {submitter: Other, round: v4.1}
"""
IDS = """
time-2496 time-2048 time-1536 time-1024 time-512
speedup-2496 speedup-2048 speedup-1536 speedup-1024 speedup-512 speedup-same-size speedup-vs-fastest-h100
scaling-efficiency racks-used gpus-per-rack h100-equivalents h100-racks rack-reduction
largest-blackwell only-other-cloud-gb200 size-vs-cloud next-largest size-vs-next fastest-five-sizes
runs-above-1000 largest-by-coreweave v31-size v30-gpt3-time v30-gpt3-size
inference-v50-tokens inference-v50-vs-h200 inference-v50-first-gb200
goodput verified carina-standing related-deepseek-v60 related-endpoints related-exemplar
"""


@pytest.fixture
def load(tmp_path):
    """A function: load ARTICLE after replacing one text in it, or with lines added."""

    def load_changed(old="", new="", *, added=""):
        assert old in ARTICLE
        text = (ARTICLE.replace(old, new, 1) if old else ARTICLE) + added
        (tmp_path / "paper.yaml").write_text(text, encoding="utf-8")
        return load_article("paper", folder=tmp_path)

    return load_changed


@pytest.mark.parametrize(
    ("text", "value", "unit", "relation", "decimals"),
    [
        ("2.1x", 2.1, "x", "exactly", 1),  # unit without a space
        ("91%", 91, "%", "exactly", 0),
        ("27.33 min", 27.33, "min", "exactly", 2),  # unit after a space
        ("over 34x", 34, "x", "over", 0),
        ("Over 34x", 34, "x", "over", 0),  # a relation may begin the sentence
        ("over\u00a034x", 34, "x", "over", 0),  # a no-break space, as web pages have it
        ("more  than 5,000", 5000, "", "over", 0),  # two spaces
        ("under 11 min", 11, "min", "under", 0),
        ("around 156 racks", 156, "racks", "around", 0),
        ("3,584 H100", 3584, "H100", "exactly", 0),  # the comma groups thousands, 100 is no figure
        ("1,234,567.5 tokens/s", 1234567.5, "tokens/s", "exactly", 1),
        ("72 GPUs, one rack", 72, "GPUs, one rack", "exactly", 0),  # this comma groups nothing
        ("more than 5,000", 5000, "", "over", 0),  # two words of relation, no unit
        ("5 of 5", 5, "of 5", "exactly", 0),  # the first number is the figure
        ("2.10x", 2.1, "x", "exactly", 2),  # a printed zero is a digit
        (" 64 ", 64, "", "exactly", 0),
    ],
)
def test_stated_text_gives_its_parts(text, value, unit, relation, decimals):
    """A printed figure is value, unit, relation and the number of its decimals; its text is kept."""
    stated = parse_stated(text)
    assert (stated.value, stated.unit, stated.relation, stated.decimals) == (value, unit, relation, decimals)
    assert stated.text == text


@pytest.mark.parametrize(
    ("text", "low", "inside", "unit"),
    [
        ("several", 2.0, 3.0, ""),  # three at least
        ("larger", 1.0, 1.01, "x"),  # as a ratio: the same size is not larger
    ],
)
def test_word_that_binds_a_figure_has_an_interval(text, low, inside, unit):
    """Some words are read as a figure, by a table that says so."""
    stated = parse_stated(text)
    assert stated.is_word
    assert stated.unit == unit
    assert stated.interval[0] > low
    assert stated.interval[0] <= inside < stated.interval[1]


@pytest.mark.parametrize("text", ["many", "first", "yes", "among the largest", ""])
def test_stated_text_without_figure_is_nan(text):
    """Words without a figure have no value, rather than 0."""
    assert math.isnan(parse_stated(text).value)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("2.1x", [2.05, 2.1, 2.1499999], [2.0499999, 2.15]),  # half a unit of the last digit, upper edge out
        ("2.10x", [2.095, 2.1049], [2.0949, 2.105]),  # a printed zero narrows it
        ("91%", [90.5, 91.49], [90.49, 91.5]),
        ("4.8x", [4.75, 4.8499], [4.7499, 4.85]),
        ("3,584 H100", [3583.5, 3584], [3583, 3584.5]),
        ("over 34x", [34.0001, 1e9], [34, 33.9]),  # the figure itself is not over itself
        ("more than 5,000", [5000.5], [5000]),
        ("at least 3 runs", [3, 4], [2.99]),  # the figure itself is at least itself
        ("under 11 min", [10.999, 0], [11, 11.5]),
        ("up to 96%", [96, 50], [96.6]),  # "up to" reaches the figure
        ("around 100 racks", [95, 100, 105], [94.99, 105.01]),  # 5 % of 100, both edges in
        ("around 156 racks", [148.2, 163.8], [148.19, 163.81]),  # 5 % of 156 is 7.8
    ],
)
def test_interval_follows_the_printed_digits(text, inside, outside):
    """A value is in the interval exactly if the printed digits and words stand for it."""
    low, high = parse_stated(text).interval
    assert [value for value in inside if not low <= value < high] == []
    assert [value for value in outside if low <= value < high] == []


@pytest.mark.parametrize(
    "text",
    [
        "2.1–2.2x",  # a range has two figures
        "10-20 min",
        "1,5x",  # a comma for decimals would read as 1
        "2,49 GPUs",  # broken grouping would read as 2
        "2 496 GPUs",  # grouping by spaces would read as 2
        "2\u202f496 GPUs",  # so would a narrow space, as French and SI texts have it
    ],
)
def test_stated_text_is_not_misread_as_its_first_digits(text):
    """A figure written in a way that is not understood is no figure, or an error, but never another figure."""
    try:
        value = parse_stated(text).value
    except ArticleError:
        return
    assert math.isnan(value) or value == 2496


def test_claims_are_loaded_in_order(load):
    """Claims keep the file's order, text on one line, and defaults that the article gives."""
    article = load()
    assert [claim.id for claim in article.claims] == ["time", "faster"]
    assert article.claim("faster").says == "The box is faster"
    assert article.claim("faster").headline
    assert article.claim("time").stated.value == 1
    assert article.published == "2026-01-02"


def test_selection_inherits_the_scope_of_the_article(load):
    """Round, benchmark and division come from the article unless the selection has its own."""
    scope = {"benchmark": "tiny", "division": "closed"}
    fields = load().claim("faster").fields
    assert fields["subject"] == {"round": "v5.0", **scope, "submitter": "Org"}
    assert fields["baseline"] == {"round": "v4.1", **scope, "submitter": "Other"}


def test_claim_flatters_as_its_kind_does(load):
    """A shorter time is in the claimant's favour, and a higher speed-up."""
    article = load()
    assert (article.claim("time").flatters, article.claim("faster").flatters) == ("low", "high")


def test_benchmarks_are_those_selected_from(load, tmp_path):
    """Each round and benchmark of a subject or a baseline is listed once."""
    load()
    assert load_benchmarks(tmp_path) == {("v5.0", "tiny"), ("v4.1", "tiny")}


RACKS = "  - {id: racks, says: s, kind: racks_used, stated: 1 rack, subject: {}, active_per_rack: chip_per_rack}\n"
EQUAL = "  - {id: equal, says: s, kind: equivalent_accelerators, stated: 9 chips, subject: {}, speedup: %s}\n"


@pytest.mark.parametrize(
    ("old", "new", "added", "message"),
    [
        ("title:", "titel:", "", "unknown key 'titel', did you mean 'title'"),
        ("    says: The box trains in this time\n", "", "", "claim 'time': no says"),
        ("    stated: 1 min", "    sated: 1 min", "", "unknown key 'sated', did you mean 'stated'"),
        ("id: faster", "id: time", "", "claim id 'time' is there 2 times"),
        ("title:", "title: a\ntitle:", "", "key 'title' is there twice"),  # YAML itself takes the last
        ("{submitter: Org}", "{submitter: Org, submitter: Other}", "", "key 'submitter' is there twice"),
        ("kind: speedup", "kind: speed", "", "unknown kind 'speed', did you mean 'speedup'"),
        ("kind: time_to_train\n    stated: 1 min", "kind: a\n    stated: 1", "", "stated is 1, expected text"),
        ("    subject: {submitter: Org}\n", "", "", "claim 'faster': no subject"),  # its kind needs one
        ("{submitter: Org}", "{submiter: Org}", "", "subject: unknown key 'submiter', did you mean 'submitter'"),
        ("{submitter: Org}", "Org", "", "subject is 'Org', expected keys"),
        ("stated: 1 min", "stated: 64", "", "stated is 64, expected text .put it in quotes"),
        ("id: time", "id: 5", "", "id is 5, expected text"),
        ("headline: true", "headline: maybe", "", "headline is 'maybe', expected true or false"),
        ("headline: true", "pairs: same sise", "", "pairs is 'same sise', expected same size"),
        ("", "", RACKS, "active_per_rack is 'chip_per_rack', expected the name of an assumption"),
        ("", "", EQUAL % "fast", "speedup is 'fast', expected the id of a claim"),
        ("", "", EQUAL % "time", "speedup is 'time', expected"),  # a time compares nothing
        ("unit: chips per rack, ", "", "", "assumption chips_per_rack: no unit"),
        (ARTICLE, "claims: [", "", "expected YAML"),
        (ARTICLE, "- a list", "", "found list, expected keys title"),
        (ARTICLE, "", "", "expected keys title"),  # an empty file
        ("  - id: time", "  - only text\n  - id: time", "", "claim 1 is 'only text', expected keys"),
        ("published: 2026-01-02", "published: 2026-02-30", "", "paper.yaml: "),  # YAML takes it for a date
        ("kind: speedup", "kind: [speedup]", "", "unknown kind"),
        ("id: faster", "id: [a]", EQUAL.replace("equal", "[a]") % "faster", r"id is \['a'\], expected text"),
        ("round: v5.0", "round: 5.0", "", "round is 5.0, expected text"),  # would select nothing
        ("accelerators: 8", "accelerators: '2,496'", "", "accelerators is '2,496', expected"),
        ("accelerators: 8", "pick: slowest", "", "pick is 'slowest', expected fastest"),
        (ARTICLE, "claims: " + "[" * 9000, "", "expected YAML"),  # deeper than the parser's stack
    ],
)
def test_broken_article_is_refused(load, old, new, added, message):
    """An article that is not as it should be is refused, in words that name the file and the spot."""
    with pytest.raises(ArticleError, match=message) as raised:
        load(old, new, added=added)
    assert "paper.yaml" in str(raised.value)


def test_every_problem_is_listed_at_once(load):
    """One error lists the problems of the article, of an assumption and of both claims."""
    changed = ARTICLE.replace("title:", "titel:").replace("value: 8", "valu: 8").replace("1 min", "1")
    with pytest.raises(ArticleError) as raised:
        load(ARTICLE, changed.replace("headline: true", "headline: maybe"))
    lines = str(raised.value).splitlines()
    for word in ("'titel'", "no title", "'valu'", "stated is 1", "headline is 'maybe'"):
        assert sum(word in line for line in lines) == 1


def test_unknown_article_suggests_the_nearest(load, tmp_path):
    """A misspelt article name is answered with the nearest one there is."""
    load()
    with pytest.raises(ArticleError, match=r"no article 'papr' in .*, did you mean 'paper'"):
        load_article("papr", folder=tmp_path)


def test_empty_name_takes_the_default_article(load, tmp_path):
    """The article named in the file `default` is the one loaded when none is named."""
    load()
    (tmp_path / "default").write_text("paper\n", encoding="utf-8")
    assert load_article(folder=tmp_path).name == "paper"


def test_unknown_claim_suggests_the_nearest(load):
    """A misspelt claim id is answered with the nearest one there is."""
    with pytest.raises(ArticleError, match="no claim 'fastr', did you mean 'faster'"):
        load().claim("fastr")


@pytest.mark.parametrize(("instead", "expected"), [(None, 8), (16, 16), (0.5, 0.5)])
def test_assumption_holds_unless_a_reader_gives_another(load, instead, expected):
    """An assumption is the article's own value, or the reader's."""
    assert load().assume("chips_per_rack", instead) == expected


@pytest.mark.parametrize("instead", [0, -1, math.inf, math.nan, True, "16"])
def test_assumption_must_be_a_number_above_0(load, instead):
    """Racks of no accelerators, of endless many or of text are refused, and the unit is named."""
    with pytest.raises(ArticleError, match=r"expected a number above 0 \(chips per rack"):
        load().assume("chips_per_rack", instead)


def test_unknown_assumption_suggests_the_nearest(load):
    """A misspelt assumption is answered with the nearest one the article makes."""
    with pytest.raises(ArticleError, match="no assumption 'chips', did you mean 'chips_per_rack'"):
        load().assume("chips")


def test_committed_article_makes_every_claim_in_order():
    """The audited article holds the 38 claims that were transcribed from it, in its order."""
    article = load_article("coreweave-blackwell-record")
    assert [claim.id for claim in article.claims] == IDS.split()
    assert len(article.claims) == 38
