"""Tests of `problems`: units, texts, names, formulas and amounts that an article may not have."""

import datetime
import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mlperf_claims.claims.articles import ArticleError, load_article
from mlperf_claims.claims.problems import find_problems
from mlperf_claims.claims.schema import KINDS

HEAD = {"title": "Box", "publisher": "News", "published": "2026-01-02", "round": "v5.0", "benchmark": "tiny"}
KEYS = {  # what each kind needs, and a figure that fits it
    "value": {"stated": "2 min", "subject": {}},
    "ratio": {"stated": "2x", "subject": {}, "baseline": {}},
    "efficiency": {"stated": "90%", "subject": {}, "baseline": {}},
    "rank": {"stated": "fastest", "subject": {}, "field": {}},
    "only": {"stated": "only", "subject": {}, "field": {}},
    "first": {"stated": "first", "subject": {}, "field": {}},
    "count": {"stated": "3", "of": "results", "subject": {}},
    "derived": {"stated": "5 racks", "formula": "2 + 3"},
    "unverifiable": {"stated": "2x", "because": "no logs"},
}


def claim(kind="ratio", id_="fast", **keys):
    given = {"id": id_, "says": "It is fast", "kind": kind, **KEYS[kind], **keys}
    return {key: value for key, value in given.items() if value is not None}


def find(*claims, **head):
    """The texts of all problems of an article."""
    return [text for _, text in find_problems(HEAD | {"claims": list(claims)} | head)]


@pytest.fixture
def refuse(tmp_path):
    """A function: the lines of the error that loading a text ends in, within ten seconds of work."""

    def load_text(text):
        (tmp_path / "paper.yaml").write_text(text, encoding="utf-8")
        start = time.process_time()
        with pytest.raises(ArticleError) as raised:
            load_article("paper", folder=tmp_path)
        assert time.process_time() - start < 10
        return str(raised.value).splitlines()

    return load_text


@pytest.mark.parametrize("kind", KINDS)
def test_kind_needs_no_more_than_its_keys(kind):
    """A claim with the keys of its kind has no problem; without one of them it has one, which names it."""
    assert find(claim(kind)) == []
    for key in KEYS[kind]:
        (found,) = find(claim(kind, **{key: None}))
        assert f"claim 'fast': no {key}, expected " in found


NODES = {"measure": "nodes"}


@pytest.mark.parametrize(
    ("kind", "stated", "keys"),
    [
        *[("value", f"2 {unit}", {}) for unit in ("s", "seconds", "min", "minutes", "h", "hr", "Hours", "d", "days")],
        *[("value", text, NODES) for text in ("2", "2 nodes", "over 2 boxes", "several")],
        *[("ratio", text, {}) for text in ("2x", "2X", "2 ×", "2 times", "103%", "45% faster", "twice", "half")],
        *[("ratio", text, {}) for text in ("half the time", "48% of the time", "30% less time", "twice as long")],
        *[("ratio", text, NODES) for text in ("30% fewer nodes", "48% of the nodes", "more", "smaller", "a third")],
        *[("efficiency", text, {}) for text in ("90%", "over 90 %", "90% of linear")],
        *[("rank", text, {}) for text in ("first", "2nd", "second", "a record", "10.2 min")],
        *[("rank", text, NODES) for text in ("largest", "512 boxes", "512")],
        *[("rank", text, {"each": "size"}) for text in ("5 of 5", "four of five", "all", "all seven", "every one")],
        *[("only", text, {}) for text in ("only", "the only", "sole", "72 GPUs, one rack")],
        *[("first", text, {}) for text in ("first", "the first", "1st")],
        *[("count", text, {}) for text in ("3", "three", "several", "15 organizations", "at least 3")],
        *[("count", text, {"baseline": {}}) for text in ("2x", "50% more", "doubled", "more")],
        *[("derived", text, {}) for text in ("5 racks", "4x", "30 min", "about 5")],
        *[("unverifiable", text, {}) for text in ("yes", "among the ten largest", "$3–5 million", "1,5x")],
    ],
)
def test_figure_fits_its_kind(kind, stated, keys):
    """Every unit of a kind's measure is accepted; what no log can judge may be any line."""
    assert find(claim(kind, stated=stated, **keys)) == []


@pytest.mark.parametrize(
    ("kind", "stated", "keys", "words"),
    [
        *[("value", f"2 {unit}", {}, "expected a time: s, min, h") for unit in ("weeks", "x", "%", "GPUs", "ms")],
        ("value", "2 min", NODES, "expected a number of nodes"),
        ("value", "2x", NODES, "expected a number of nodes"),
        ("value", "first", NODES, "expected a number of nodes"),
        *[("ratio", text, {}, "expected a ratio") for text in ("2 min", "2", "2 racks", "first", "several")],
        *[("ratio", text, {}, "expected a ratio") for text in ("30% slower", "2x slower", "30% less performance")],
        *[("ratio", text, {}, "expected a figure") for text in ("all", "yes", "much faster")],
        *[("efficiency", text, {}, "expected %") for text in ("0.9", "2x", "30% less time", "48% of the time")],
        *[("rank", text, {}, "expected a place") for text in ("yes", "all", "2x", "10 chips", "5 of 5", "12")],
        ("rank", "10 min", NODES, "expected a place (first, largest)"),
        *[("rank", text, {"each": "size"}, "expected how many: 5 of 5") for text in ("5", "first", "5x", "10 min")],
        *[("only", text, {}, "expected only") for text in ("first", "2x", "2 min", "yes", "all")],
        *[("first", text, {}, "expected first") for text in ("second", "3", "2nd", "only")],
        *[("count", text, {}, "or a baseline") for text in ("2x", "50%", "more", "2 min", "first")],
        *[("count", text, {"baseline": {}}, "expected a ratio") for text in ("3", "3 submitters", "several")],
        *[("derived", text, {}, "expected a figure") for text in ("all", "cheap")],
        ("value", "2 min", {"per": "node"}, "a time is not shared out"),
        ("ratio", "2x", {"also": {"in nodes": {"measure": "chips"}}}, "measure is 'chips'"),
        ("value", "2 min", {"also": {"in nodes": NODES}}, "also in nodes: stated is '2 min', its unit is 'min'"),
        ("unverifiable", "2x\nor so", {}, "expected one line"),
    ],
)
def test_figure_of_another_unit_is_refused(kind, stated, keys, words):
    """It would otherwise be judged as what it is not: 2.6 hours as 2.6 minutes."""
    (found,) = find(claim(kind, stated=stated, **keys))
    assert words in found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"subject": {"benchmark": ["any", "tiny"]}}, "expected any alone"),
        ({"subject": {"round": ["any", "v5.0"]}}, "round is 'any'"),
        ({"baseline": {"except": {"round": "5.0"}}}, "baseline: except: round is '5.0'"),
        ({"also": {"x": {}}}, "also x is {}"),
        ({"also": {"x": {"id": "other"}}}, "also x: id is the claim's own"),
        ({"also": {"x": {"baseline": {"round": "5.0"}}}}, "also x: baseline: round is '5.0'"),
        ({"also": {"x": {"baseline": {"accelerators": "many"}}}}, "also x: baseline: accelerators is 'many'"),
        ({"subject": {"accelerators": 0}}, "accelerators is 0"),
        ({"subject": {"accelerators": -8}}, "accelerators is -8"),
        ({"subject": {"accelerators": True}}, "accelerators is True"),
        ({"subject": {"accelerators": 10**400}}, "accelerators is 1000"),
        ({"subject": {"accelerators": f"over {10**400}"}}, "accelerators is 'over 1000"),
        ({"subject": {"submitter": []}}, "submitter is []"),
        ({"stated": "9" * 400 + "x"}, "1 to 200 printable"),
        ({"stated": "9" * 100 + "x"}, "expected one figure"),
        ({"id": "a" * 81}, "small letters"),
        ({"id": "fast\n"}, "id is 'fast\\n'"),
        ({"id": "fäst"}, "small letters"),
    ],
)
def test_value_out_of_bounds_has_one_problem(change, words):
    """In selections, other readings, sizes, figures and ids."""
    (found,) = find(claim(**change))
    assert words in found


def test_address_is_one_of_the_web():
    """A reader follows it from the report, so it cannot be a script."""
    for source in ("javascript:alert(1)", "www.example.org", "https://a b", 'https://a"b'):
        assert ["source is " in text for text in find(claim(), source=source)] == [True]
        assert ["source is " in text for text in find(claim("unverifiable", source=source))] == [True]
    assert find(claim("unverifiable", source="https://example.org/a_b?c=d#e"), source="http://example.org") == []


MARKS = ["\u202e", "\u2066", "\u200f", "\u061c", "\u200b", "\ufeff", "\x07", "\x00", "\x85", "\u2028", "\ud800"]
TEXTS = {  # where a text that is shown may stand
    "title": lambda text: HEAD | {"title": text},
    "publisher": lambda text: HEAD | {"publisher": text},
    "says": lambda text: claim(says=text),
    "stated": lambda text: claim(stated=text),
    "because": lambda text: claim("unverifiable", because=text),
    "formula": lambda text: claim("derived", formula=text),
    "submitter": lambda text: claim(subject={"submitter": text}),
    "submitters": lambda text: claim(subject={"submitter": ["Ann", text]}),
    "left out": lambda text: claim(subject={"except": {"system": text}}),
    "also": lambda text: claim(also={text: {"subject": {}}}),
    "key": lambda text: claim(**{text: 1}),
    "assumption": lambda text: HEAD | {"assumptions": {text: {"value": 1, "unit": "u", "because": "b"}}},
    "unit": lambda text: HEAD | {"assumptions": {"rack": {"value": 1, "unit": text, "because": "b"}}},
}


@pytest.mark.parametrize("mark", MARKS, ids=ascii)
@pytest.mark.parametrize("place", TEXTS)
def test_hidden_character_is_refused_wherever_a_text_is_shown(place, mark):
    """No control, surrogate or bidi character; the one problem shows it by its code."""
    given = TEXTS[place](f"2{mark}x")
    found = find(claim(), **given) if "title" in given else find(given)
    assert len(found) == 1, found
    assert mark not in found[0]


@pytest.mark.parametrize("place", set(TEXTS) - {"formula", "key", "assumption"})
def test_text_of_spaces_is_refused(place):
    """It says nothing."""
    given = TEXTS[place]("  ")
    assert len(find(claim(), **given) if "title" in given else find(given)) == 1


def test_prose_may_be_folded_and_names_may_not():
    """Sentences run over lines of the file; names, units and figures do not."""
    for place in ("title", "publisher", "says", "because"):
        given = TEXTS[place]("two\nlines")
        assert (find(claim(), **given) if "title" in given else find(given)) == []
    for place in ("submitter", "also", "unit", "stated"):
        given = TEXTS[place]("two\nlines")
        assert len(find(claim(), **given) if "title" in given else find(given)) == 1


@pytest.mark.parametrize("name", ["Rack", "per rack", "a.b", "1st", "räck", "_x", ""])
def test_assumption_has_a_name_that_a_formula_can_say(name):
    """Small letters, digits and _, a letter first."""
    (found,) = find(claim(), assumptions={name: {"value": 1, "unit": "u", "because": "b"}})
    assert "expected a name of small letters" in found


def derived(id_, formula, **keys):
    return claim("derived", id_, formula=formula, **keys)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("open", "which no log gives, expected open.stated"),
        ("words.stated * 2", "what claim 'words' states is no figure"),
        ("subject.accelerators", "the claim has no subject"),
        ("zed.stated", "formula has 'zed.stated'"),
        ("a.b.c", "expected only names, numbers"),
        ("open.stated ** 2", "expected only names, numbers"),
        ("2 # a comment", "has '#'"),
        ("1,024 / 8", "has ','"),
    ],
)
def test_formula_that_cannot_be_worked_out_is_refused(formula, words):
    """Whatever it names must have a figure; all of that shows before anything runs."""
    (found,) = find(
        claim("unverifiable", "open"), claim("unverifiable", "words", stated="yes"), derived("worth", formula)
    )
    assert words in found


def test_printed_figure_of_any_claim_can_be_carried_on():
    """Also of one that no log can judge."""
    assert find(claim("unverifiable", "open"), derived("worth", "open.stated * 2")) == []


@pytest.mark.parametrize(
    ("claims", "ways"),
    [
        ([derived("a", "a")], ["a → a"]),
        ([derived("a", "b"), derived("b", "c * 2"), derived("c", "a / 2")], ["a → b → c → a"]),
        ([derived("a", "b"), derived("b", "b + 1")], ["b → b"]),  # a rests on what fails, and has no fault of its own
        ([derived("a", "1", also={"x": {"formula": "b"}}), derived("b", "a")], ["a → b → a"]),  # by another reading
        ([derived("a", "b.stated"), derived("b", "a.stated")], []),  # printed figures rest on nothing
        ([derived("a", "b + c"), derived("b", "c"), derived("c", "2")], []),  # twice the same is no circle
    ],
)
def test_circle_is_shown_once_with_its_way(claims, ways):
    """Direct, through others, or through another reading."""
    assert [text.rpartition("rests on itself: ")[2] for text in find(*claims)] == ways


def test_tower_of_claims_has_a_bound():
    """Forty claims may rest on one another, and more would not fit the stack."""
    tower = [derived(f"c{n}", f"c{n + 1} + 1") for n in range(40)]
    assert find(*tower, derived("c40", "1")) == []
    (found,) = find(derived("top", "c0"), *tower, derived("c40", "1"))
    assert "'top' rests on 41 claims in a row" in found


def test_bad_selections_are_all_named_at_once():
    """Each with its claim and key; a good claim between them is not."""
    bad = [claim(id_=f"c{n}", subject={"submiter": "Ann"}) for n in range(3)]
    found = find(bad[0], claim(id_="good"), *bad[1:])
    assert [text.partition(":")[0] for text in found] == ["claim 'c0'", "claim 'c1'", "claim 'c2'"]
    assert all("did you mean 'submitter'" in text for text in found)


def write(claims):
    return yaml.safe_dump(HEAD | {"published": datetime.date(2026, 1, 2), "claims": claims}, sort_keys=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [" + "[]," * 60_000 + "]", "more than 50,000 values"),
        ("a0: &a0 {k: x}\na1: &a1 {<<: *a0, <<: *a0}\n", "key '<<' is there twice"),  # merges multiply too
        ("a: &a [*a]\n", "expected YAML"),
        (write([{f"key{n}": 1 for n in range(20_000)}]), "no kind"),
        (write([claim(**{f"key{n}": 1 for n in range(5_000)})]), "unknown key 'key0'"),
        (write([{"kind": f"k{n}"} for n in range(4_000)]), "at least 960 more"),
        (write([claim(id_="a" * 100_000)] * 3), "small letters"),
        (write([claim(**{"k" * 500_000: 1})]), "unknown key 'kkk"),
        (write([claim(says="x" * 900_000)]), "says is 'xxx"),
        (write([derived(f"c{n}", f"c{(n + 1) % 1500}") for n in range(1500)]), "rests on itself: c0 → c1 →"),
    ],
    ids=["values", "merges", "circle", "keys", "keys of a claim", "kinds", "ids", "long key", "long text", "formulas"],
)
def test_too_much_of_anything_is_refused_at_once(refuse, text, words):
    """In bounded time, and in a message that can be read."""
    found = "\n".join(refuse(text))
    assert words in found
    assert len(found) < 20_000


NAMES = sorted(
    {*HEAD, *(key for keys in KEYS.values() for key in keys), "id", "kind", "also", "each", "per", "measure"}
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.dates()
    | st.binary(max_size=3)
    | st.sampled_from([*KINDS, *MARKS, "any", "a", "v5.0", "2x", "a + 1", "all", "\ud800"])
    | st.text(max_size=5)
)
names = st.sampled_from([*NAMES, "x"]) | scalars
nested = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.sets(scalars, max_size=2) | st.dictionaries(names, inner, max_size=4)
    ),
    max_leaves=15,
)
claims = st.builds(
    lambda kind, keys: claim(kind) | keys,
    st.sampled_from(sorted(KINDS)),
    st.dictionaries(st.sampled_from(NAMES), nested, max_size=3),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(claims | nested, max_size=3), st.dictionaries(names, nested, max_size=2))
def test_claims_with_any_values_give_problems_and_no_exception(given, head):
    """Whatever stands where another value was wanted, problems are texts with a place."""
    for place, text in find_problems(HEAD | {"claims": given} | head):
        assert isinstance(place, tuple)
        assert text
