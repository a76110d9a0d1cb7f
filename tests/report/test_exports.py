"""Tests of `exports`: what machines are told is what the report tells people."""

import json

import jsonschema
import pytest
from conftest import make_answer, make_article, make_claim

from mlperf_claims.claims.findings import Evidence, judge_answer, leave_open
from mlperf_claims.claims.verdicts import VERDICTS
from mlperf_claims.report.exports import SCHEMA, describe_claims, review_claims
from mlperf_claims.report.page import PAGE

EVIDENCE = Evidence("subject", "v1, tiny", "run 0", "Org/result_0.txt", "b10b", "c0ffee", 3, 9, "https://example.org/a")


@pytest.fixture
def judged():
    """A claim under two readings, one that no log answers and one that no notebook judges."""
    cheap = make_claim("cheap", says="The box is cheaper", stated="2x", kind="unverifiable", because="no prices")
    later = make_claim("later", says="The box is larger", stated="3x")
    answer = make_answer({"official score": 2.12, "wall clock": 1.87}, spread=(2.0, 2.2), rests_on=("cheap",))
    return [judge_answer(make_claim(), answer, evidence=[EVIDENCE]), *map(leave_open, (cheap, later))]


@pytest.fixture
def article():
    return make_article()


def load_schema():
    return json.loads((PAGE / SCHEMA).read_text(encoding="utf-8"))


def test_claims_json_is_as_its_schema_says(article, judged):
    """What is written passes the published schema, which is itself a valid one."""
    schema = load_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(json.dumps(describe_claims(article, judged))), schema)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda claim: claim.pop("verdict"), "'verdict' is a required property"),
        (lambda claim: claim.update(verdict="true"), "'true' is not one of"),
        (lambda claim: claim.update(recomputed="2.12"), "'2.12' is not of type"),
        (lambda claim: claim.update(more=1), "'more' was unexpected"),
        (lambda claim: claim["readings"][0].pop("value"), "'value' is a required property"),
    ],
)
def test_schema_refuses_what_is_not_as_it_says(article, judged, change, words):
    """The schema is no formality: a key that lacks, is unknown or of another type fails."""
    described = json.loads(json.dumps(describe_claims(article, judged)))
    change(described["claims"][0])
    with pytest.raises(jsonschema.ValidationError, match=words):
        jsonschema.validate(described, load_schema())


def test_schema_knows_every_verdict():
    """The verdicts of the schema are those of the package, in order."""
    assert load_schema()["$defs"]["verdict"]["enum"] == list(VERDICTS)


def test_every_verdict_is_a_claim_review(article, judged):
    """A review names the claim with its figure, whose it is, and the verdict with its meaning and reason."""
    graph = review_claims(article, judged, reviewer="us")["@graph"]
    assert [review["@type"] for review in graph] == ["ClaimReview"] * 3
    assert [review["@id"] for review in graph] == ["#claim-fast", "#claim-cheap", "#claim-later"]
    assert [review["reviewRating"]["alternateName"] for review in graph] == [
        *("confirmed", "no public data", "failed"),
    ]
    assert graph[0]["claimReviewed"] == "The box is faster: 2.1x"
    assert graph[0]["itemReviewed"]["author"]["name"] == "P"
    assert "1.870x" in graph[0]["reviewBody"]
    assert "no prices" in graph[1]["reviewBody"]
