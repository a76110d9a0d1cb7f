"""Tests of `articles` and `problems`: a file becomes typed claims, or every problem in it is named at once."""

import json
import time

import jsonschema
import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mlperf_claims.claims.articles import ArticleError, load_article
from mlperf_claims.claims.problems import find_problems
from mlperf_claims.claims.schema import KINDS, Head
from mlperf_claims.results.select import Selection

HEAD = """\
title: Box beats box
publisher: News
published: 2026-01-02
round: v5.0
benchmark: tiny
"""
ONE = """
  - id: fast
    says: The box is faster
    kind: ratio
    stated: 2.1x
    subject: {submitter: Ann}
    baseline: {submitter: Bob}
"""
GOOD = HEAD + "claims:" + ONE


@pytest.fixture
def load(tmp_path):
    """A function: write an article's text and load it."""

    def load_text(text):
        (tmp_path / "paper.yaml").write_text(text, encoding="utf-8")
        return load_article("paper", folder=tmp_path)

    return load_text


@pytest.fixture
def problems(load):
    """A function: the lines of the error that an article's text raises."""

    def list_problems(text):
        with pytest.raises(ArticleError) as raised:
            load(text)
        return str(raised.value).splitlines()

    return list_problems


def with_claim(**keys):
    """An article with one claim, changed by keys; None takes a key away."""
    claim = yaml.safe_load(ONE)[0] | keys
    given = {key: value for key, value in claim.items() if value is not None}
    return HEAD + yaml.safe_dump({"claims": [given]}, allow_unicode=True)


def test_selections_take_what_they_do_not_say_from_claim_and_article(load):
    """Round, benchmark and division come from the selection, else the claim, else the article; `any` lifts one."""
    text = with_claim(round="v4.1", subject={"submitter": "Ann", "benchmark": "any"}, baseline={"round": "v4.0"})
    about = load(text).claims[0].about
    assert about.subject == Selection(round="v4.1", division="closed", submitter="Ann")
    assert about.baseline == Selection(round="v4.0", benchmark="tiny", division="closed")


def test_other_readings_are_claims_with_other_keys(load):
    """`also` changes the keys it names and keeps the others."""
    (claim,) = load(with_claim(also={"same size": {"subject": {"accelerators": 8}}})).claims
    assert claim.also["same size"].subject.accelerators == 8
    assert claim.also["same size"].baseline == claim.about.baseline


@pytest.mark.parametrize(
    ("keys", "side"),
    [
        ({}, "high"),
        ({"stated": "half the time"}, "low"),
        ({"kind": "value", "stated": "9 min", "baseline": None}, "low"),
        ({"kind": "value", "stated": "9 GPUs", "baseline": None, "measure": "accelerators"}, "high"),
        ({"kind": "value", "stated": "9 min", "baseline": None, "better": "high"}, "high"),  # of a competitor
        ({"kind": "derived", "formula": "1 + 1", "better": "low", "subject": None, "baseline": None}, "low"),
    ],
)
def test_figure_flatters_on_the_side_of_its_measure(load, keys, side):
    """A shorter time and a larger ratio are in the claimant's favour, unless the claim says otherwise."""
    assert load(with_claim(**keys)).claims[0].flatters == side


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"kind": "ratoi"}, ["unknown kind 'ratoi'", "did you mean 'ratio'", "unverifiable"]),
        ({"kind": None}, ["no kind", "value, ratio"]),
        ({"kind": 7}, ["unknown kind 7"]),
        ({"basline": {}}, ["unknown key 'basline'", "did you mean 'baseline'"]),
        ({"baseline": None}, ["no baseline", "compared with"]),
        ({"subject": {"submiter": "Ann"}}, ["subject: unknown key 'submiter'", "did you mean 'submitter'"]),
        ({"subject": "Ann"}, ["subject is 'Ann'", "expected keys"]),
        ({"subject": {"accelerators": "many"}}, ["accelerators is 'many'", 'such as "over 1,000"']),
        ({"subject": {"accelerators": 8.5}}, ["accelerators is 8.5", "whole number"]),
        ({"subject": {"round": "5.0"}}, ["round is '5.0'", "such as v5.0"]),
        ({"subject": {"round": 5.0}}, ["round is 5.0"]),
        ({"subject": {"pick": "best"}}, ["pick is 'best'", "fastest, largest"]),
        ({"subject": {"except": {"rond": "v5.0"}}}, ["except: unknown key 'rond'", "'round'"]),
        ({"each": "sise"}, ["each is 'sise'", "size, benchmark"]),
        ({"take": "most"}, ["take is 'most'", "worst, best, mean"]),
        ({"per": "chip"}, ["per is 'chip'", "accelerator, node"]),
        ({"measure": "speed"}, ["measure is 'speed'", "time_to_train"]),
        ({"stated": 15}, ["stated is 15", "put it in quotes"]),
        ({"headline": "yes"}, ["headline is 'yes'", "true or false"]),
        ({"id": "Fast One"}, ["id is 'Fast One'", "small letters"]),
        ({"id": ""}, ["id is ''"]),
        ({"id": "../x"}, ["id is '../x'"]),
        ({"says": ""}, ["says is ''"]),
        ({"stated": ""}, ["stated is ''"]),
        ({"stated": "nearby 3x"}, ["unknown word 'nearby'", "'nearly'"]),
        ({"stated": "3 racks"}, ["its unit is 'racks'", "expected a ratio"]),
        ({"stated": "quick"}, ["expected a figure"]),
        ({"kind": "value", "baseline": None, "stated": "3 weeks"}, ["its unit is 'weeks'", "s, min, h"]),
        ({"kind": "value", "baseline": None, "stated": "2.6"}, ["its unit is ''", "s, min, h"]),
        ({"kind": "efficiency", "stated": "0.9"}, ["expected %"]),
        ({"kind": "rank", "baseline": None, "field": {}, "stated": "yes"}, ["expected a place"]),
        ({"kind": "rank", "baseline": None, "field": {}, "each": "size", "stated": "5"}, ["expected how many"]),
        ({"kind": "only", "baseline": None, "field": {}, "stated": "yes"}, ["expected only"]),
        ({"kind": "count", "of": "chips", "baseline": None, "stated": "3"}, ["of is 'chips'", "accelerators"]),
        ({"kind": "unverifiable", "subject": None, "baseline": None}, ["no because"]),
        ({"named": ["colour"]}, ["named has 'colour'", "availability"]),
        ({"also": {"x": {"stated": "3x"}}}, ["also x: stated is the claim's own"]),
        ({"also": {"x": {"basline": {}}}}, ["also x", "unknown key 'basline'"]),
    ],
)
def test_problem_is_named_with_line_key_found_wanted_and_nearest(problems, keys, words):
    """One line for one problem, which leads to the spot and says what would do."""
    found = problems(with_claim(**keys))
    assert len(found) == 1, found
    assert found[0].startswith("paper.yaml line ")
    assert [word for word in words if word not in found[0]] == []


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("print(1)", "has 'print(1)'"),
        ("spedup * 2", "did you mean 'speedup'"),
        ("subject.chips", "'subject.chips'"),
        ("baseline.accelerators", "the claim has no baseline"),
        ("subject.accelerators_at_subject_time", "expected baseline.accelerators_at_subject_time"),
        ("worth", "rests on itself: worth → worth"),
        ("other / 2", "rests on itself: worth → other → worth"),
    ],
)
def test_formula_is_checked_before_anything_runs(problems, formula, words):
    """Calls, unknown names and cycles, direct or through another claim, are problems of the file."""
    derived = "  - {id: %s, says: s, kind: derived, stated: '5', formula: %s, subject: {submitter: Ann}}\n"
    text = HEAD + "assumptions: {rack: {value: 8, unit: chips, because: so}}\nclaims:\n"
    text += "  - {id: speedup, says: s, kind: value, stated: 1 min, subject: {submitter: Ann}}\n"
    found = problems(text + derived % ("worth", json.dumps(formula)) + derived % ("other", "worth * rack"))
    assert words in found[0]
    assert len(found) <= 2  # both claims of a cycle rest on themselves


def test_every_problem_is_listed_once_in_order_of_lines(problems):
    """Neither the first problem alone, nor one of them twice."""
    text = GOOD.replace("title: Box beats box\n", "").replace("kind: ratio", "kind: ratoi")
    text += "  - {id: fast, says: 7, kind: value, stated: 9 lightyears, subject: {accelerators: x}}\n"
    found = problems(text)
    assert len(found) == len(set(found)) == 7
    lines = [int(line.split("line ")[1].split(":")[0]) for line in found]
    assert lines == sorted(lines)


def test_assumption_must_be_a_number_above_zero(problems):
    """Nothing can be divided by an assumption of nothing."""
    for value in ("0", "-1", ".nan", ".inf", "many", "true"):
        text = GOOD + f"assumptions:\n  rack: {{value: {value}, unit: chips, because: so}}\n"
        assert "assumption rack: value is" in problems(text)[0], value


def test_assumption_given_by_a_reader_replaces_the_article_s(load):
    """It is checked as the article's own, and an unknown one is named with the nearest."""
    article = load(GOOD + "assumptions: {rack: {value: 8, unit: chips, because: so}}\n")
    assert article.assume({"rack": 4}).assumptions["rack"].value == 4
    for wrong in (0, -1, float("nan"), float("inf"), True):
        with pytest.raises(ArticleError, match="expected a number above 0"):
            article.assume({"rack": wrong})
    with pytest.raises(ArticleError, match="did you mean 'rack'"):
        article.assume({"racks": 4})


def test_claim_and_assumption_of_one_name_are_refused(problems):
    """A formula could not tell them apart."""
    text = GOOD + "assumptions: {fast: {value: 8, unit: chips, because: so}}\n"
    assert "is assumption fast too" in problems(text)[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected keys title"),
        ("- a\n", "found list"),
        ("title: [\n", "expected YAML"),
        ("title: a\ntitle: b\n", "key 'title' is there twice"),
        (GOOD.replace("2026-01-02", "2026-13-41"), "expected YAML"),
        (GOOD + "x: !!python/object:os.system {}\n", "expected YAML"),
        (HEAD, "no claims"),
        (HEAD + "claims: []\n", "claims is []"),
        (HEAD + "claims: [7]\n", "claim 1 is 7"),
    ],
)
def test_file_that_is_no_article_is_refused(problems, text, words):
    """Broken YAML, tags, keys given twice and other shapes end in one message."""
    assert words in "\n".join(problems(text))


def bomb(levels=9, width=9):
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        bomb() + "\n" + GOOD,
        GOOD + "title2: [" + "[" * 5000,
        GOOD + "".join(f"key{n}: 1\n" for n in range(20_000)),
        GOOD + "# " + "x" * 50_000_000,
    ],
    ids=["aliases", "nesting", "unknown keys", "size"],
)
def test_hostile_file_is_refused_at_once(problems, text):
    """Alias bombs, nesting, thousands of problems and size end in a bounded time, in a bounded text."""
    start = time.monotonic()
    found = problems(text)
    assert time.monotonic() - start < 10
    assert len("\n".join(found)) < 20_000


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200f", "\x07", "\x1b[31m"])
@pytest.mark.parametrize("key", ["says", "stated", "because"])
def test_texts_hold_no_control_or_bidi_characters(problems, mark, key):
    """A text could otherwise be shown as something that it does not say."""
    keys = {"kind": "unverifiable", "subject": None, "baseline": None, "because": "b", key: f"a{mark}b"}
    found = "\n".join(problems(with_claim(**keys)))
    assert f"{key} is" in found or "expected YAML" in found
    assert mark not in found  # it is shown as its code


KEYS = ["claims", "id", "kind", "also", "subject", "formula", "stated", "assumptions", "round", "title"]
nested = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(sorted(KINDS)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=25,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), nested, max_size=4))
def test_any_values_give_problems_and_no_exception(content):
    """Whatever YAML can hold is answered with problems."""
    assert list(find_problems(content))


def test_json_schema_says_what_the_loader_accepts(load):
    """A good article passes the schema that editors complete from; a misspelt key does not."""
    schema = msgspec.json.schema(Head)
    good = yaml.safe_load(GOOD) | {"published": "2026-01-02"}
    jsonschema.validate(good, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(good | {"claims": [good["claims"][0] | {"basline": {}}]}, schema)
    assert load(GOOD).claims[0].id == "fast"


def test_unknown_article_suggests_the_nearest(tmp_path):
    """The name of a file that is not there is answered with those that are."""
    (tmp_path / "paper.yaml").write_text(GOOD)
    with pytest.raises(ArticleError, match=r"no article 'papr'.*did you mean 'paper'"):
        load_article("papr", folder=tmp_path)
