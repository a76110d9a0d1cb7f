"""What the report hands to machines: claims.json, claims.csv and schema.org reviews."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mlperf_claims.claims.articles import Article
from mlperf_claims.claims.findings import Finding, explain, format_recomputed
from mlperf_claims.claims.verdicts import VERDICTS

SCHEMA = "claims.schema.json"  # beside claims.json; it says what each key holds
LINE_COLUMNS = ("id", "kind", "stated", "recomputed", "unit", "verdict", "robust")


def describe_claims(article: Article, judged: Sequence[Finding]) -> dict[str, Any]:
    """Return the content of claims.json."""
    names = ("name", "title", "publisher", "published", "source", "round", "benchmark", "division")
    about = {name: getattr(article, name) for name in names}
    return {"$schema": SCHEMA, "article": about, "claims": [_describe_claim(finding) for finding in judged]}


def format_csv(judged: Sequence[Finding]) -> str:
    """Return the content of claims.csv: a line per claim, its readings, spread and evidence joined by `; `."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*LINE_COLUMNS, "readings", "spread", "evidence"])
    for finding in judged:
        claim = _describe_claim(finding)
        readings = "; ".join(f"{reading['name']}: {reading['value']!r}" for reading in claim["readings"])
        spread = "" if finding.spread is None else f"{finding.spread[0]!r} to {finding.spread[1]!r}"
        evidence = "; ".join(one.url or one.path for one in finding.evidence)
        writer.writerow([*(claim[column] for column in LINE_COLUMNS), readings, spread, evidence])
    return stream.getvalue()


def _describe_claim(finding: Finding) -> dict[str, Any]:
    given = asdict(finding)
    spread = None if finding.spread is None else {"low": finding.spread[0], "high": finding.spread[1]}
    first = ("id", "kind", "says", "stated", "recomputed", "unit", "verdict", "robust", "readings")
    return (
        {name: given[name] for name in first}
        | {"spread": spread}
        | {
            name: given[name]
            for name in ("headline", "printed", "decimals", "differences", "unnamed", "because", "rests_on", "evidence")
        }
    )


def review_claims(article: Article, judged: Sequence[Finding], *, reviewer: str) -> dict[str, Any]:
    """Return a schema.org ClaimReview for each verdict.

    The rating is the verdict's word. It has no number: no scale would be fair to both a figure printed
    too low and one that no log can answer.
    """
    appearance = {"@type": "Article", "headline": article.title, "datePublished": article.published}
    if article.source.startswith("https://"):
        appearance["url"] = article.source
    claimed = {
        "@type": "Claim",
        "author": {"@type": "Organization", "name": article.publisher},
        "datePublished": article.published,
        "appearance": appearance,
    }
    reviews = [
        {
            "@type": "ClaimReview",
            "@id": f"#claim-{finding.id}",
            "url": f"#claim-{finding.id}",
            "author": {"@type": "Organization", "name": reviewer},
            "claimReviewed": f"{finding.says}: {finding.stated}",
            "itemReviewed": claimed,
            "reviewRating": {
                "@type": "Rating",
                "alternateName": finding.verdict,
                "ratingExplanation": VERDICTS[finding.verdict],
            },
            "reviewBody": explain(finding) or f"“{finding.stated}” is recomputed as {format_recomputed(finding)}.",
        }
        for finding in judged
    ]
    return {"@context": "https://schema.org", "@graph": reviews}
