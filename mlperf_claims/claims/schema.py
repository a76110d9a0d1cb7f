"""What an article's YAML may say: its keys, and those of every kind of claim."""

import datetime
import difflib
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

from mlperf_claims.results.select import COMPARED, Selection, Text

SCOPE = ("round", "benchmark", "division")  # defaults of every selection, from the claim or the article

Id = Annotated[
    str,
    msgspec.Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80, description="small letters, digits and hyphens"),
]
Address = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s<>\"']+$", max_length=500)]
Measure = Annotated[
    Literal["time_to_train", "accelerators", "nodes"],
    msgspec.Meta(description="what is measured: time_to_train (the faster, the better), accelerators, nodes"),
]
Per = Annotated[
    Literal["accelerator", "node"] | None, msgspec.Meta(description="divide by how many the result has of them")
]
Each = Annotated[Literal["size", "benchmark"] | None, msgspec.Meta(description="one comparison at each of them")]
Take = Annotated[
    Literal["worst", "best", "mean"] | None,
    msgspec.Meta(description="of several: the worst (a claim about each), the best (up to), or their mean"),
]
By = Annotated[
    Literal["submitter", "maker", "system", "organization"],
    msgspec.Meta(description="what counts as one of the field: a submitter, a maker of accelerators, a system"),
]
Subject = Annotated[Selection, msgspec.Meta(description="the results that the claim is about")]
Baseline = Annotated[Selection, msgspec.Meta(description="the results that the subject is compared with")]
Field = Annotated[Selection, msgspec.Meta(description="the results among which the subject stands")]
Better = Annotated[Literal["high", "low"], msgspec.Meta(description="which figure would be in the claimant's favour")]


class Kind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """What every claim says, whatever its kind."""

    id: Id
    says: Annotated[Text, msgspec.Meta(description="what is claimed, in our words, understood on its own")]
    stated: Annotated[Text, msgspec.Meta(description="the figure or word as printed")]
    headline: Annotated[bool, msgspec.Meta(description="whether the article leads with it")] = False
    round: Annotated[Text | list[Text] | None, msgspec.Meta(description="instead of the article's")] = None
    benchmark: Annotated[Text | list[Text] | None, msgspec.Meta(description="instead of the article's")] = None
    division: Annotated[Text | None, msgspec.Meta(description="instead of the article's")] = None
    named: Annotated[
        list[str] | None, msgspec.Meta(description=f"differences the article names: {', '.join(COMPARED.values())}")
    ] = None
    also: Annotated[
        dict[Text, dict[str, Any]] | None,
        msgspec.Meta(description="other readings of the words: a name, and the keys of this claim that differ"),
    ] = None


class Value(Kind, frozen=True, kw_only=True, tag="value"):
    """A measure of one result, in the printed unit; or, with take, of all that the subject meets."""

    subject: Subject
    measure: Measure = "time_to_train"
    per: Per = None
    take: Take = None
    better: Better | None = None


class Ratio(Kind, frozen=True, kw_only=True, tag="ratio"):
    """Subject over baseline, in performance or in size: 2.1x, 45% faster (a gain), half the time (a share)."""

    subject: Subject
    baseline: Baseline
    measure: Measure = "time_to_train"
    per: Per = None
    each: Each = None
    take: Take = None


class Efficiency(Kind, frozen=True, kw_only=True, tag="efficiency"):
    """Ratio of performance over ratio of accelerators, in %."""

    subject: Subject
    baseline: Baseline


class Rank(Kind, frozen=True, kw_only=True, tag="rank"):
    """The subject's place in a field: first, fastest, largest; the figure of whoever holds it; or how often: 5 of 5."""

    subject: Subject
    field: Field
    measure: Measure = "time_to_train"
    each: Each = None


class Only(Kind, frozen=True, kw_only=True, tag="only"):
    """Whether others in the field do it too; with each, whether others have results on every benchmark."""

    subject: Subject
    field: Field
    by: By = "submitter"
    each: Annotated[Literal["benchmark"] | None, msgspec.Meta(description="whoever has results on each")] = None


class First(Kind, frozen=True, kw_only=True, tag="first"):
    """Whether an earlier round that is in data/ already holds results of the field, which is of any round."""

    subject: Subject
    field: Field
    by: By = "submitter"


class Count(Kind, frozen=True, kw_only=True, tag="count"):
    """How many a selection meets; with a baseline, that number over the baseline's."""

    of: Annotated[
        Literal["results", "runs", "submitters", "systems", "accelerators", "benchmarks", "makers"],
        msgspec.Meta(description="what is counted"),
    ]
    subject: Subject
    baseline: Baseline | None = None
    better: Better = "high"


class Derived(Kind, frozen=True, kw_only=True, tag="derived"):
    """Arithmetic over other claims, measures of results and named assumptions."""

    formula: Annotated[
        Text,
        msgspec.Meta(
            description="names, numbers, + - * / and parentheses. A claim's id is written with _ for -, id.stated is "
            "its printed figure; subject.accelerators and the like are measures",
        ),
    ]
    subject: Subject | None = None
    baseline: Baseline | None = None
    better: Better = "high"


class Unverifiable(Kind, frozen=True, kw_only=True, tag="unverifiable"):
    """No log read here can answer it; with a source, a public one could, which was not read."""

    because: Annotated[Text, msgspec.Meta(description="what is missing, and what would answer it")]
    source: Annotated[Address | None, msgspec.Meta(description="address of the public source that would answer it")] = (
        None
    )


KINDS: dict[str, type[Kind]] = {
    kind.__struct_config__.tag: kind
    for kind in (Value, Ratio, Efficiency, Rank, Only, First, Count, Derived, Unverifiable)
}
# what a derived claim's formula may say of its subject and baseline: a measure, and the column that holds it
FORMULA_MEASURES = {
    "time_to_train": "time to train in minutes",
    "accelerators": "accelerators",
    "nodes": "nodes",
    "samples_per_min": "samples a minute, where the logs count samples",
    "units_named": "the number before x in the system's name, such as 8 in Box (8x Rack)",
    "accelerators_at_subject_time": "of a baseline: how many accelerators of its series reach the subject's time",
}


class Assumption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure that the article's arithmetic needs and no log holds."""

    value: Annotated[float, msgspec.Meta(gt=0, le=1e300, description="a number above 0")]
    unit: Annotated[Text, msgspec.Meta(description="its unit")]
    because: Annotated[Text, msgspec.Meta(description="where it comes from")]


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An article: where it appeared, what its selections mean where they say nothing, its assumptions and claims."""

    title: Annotated[Text, msgspec.Meta(description="as printed")]
    publisher: Annotated[Text, msgspec.Meta(description="who printed it")]
    published: Annotated[datetime.date, msgspec.Meta(description="a date such as 2025-06-04")]
    source: Annotated[Address | None, msgspec.Meta(description="its address, https://…")] = None
    round: Annotated[Text, msgspec.Meta(description="of all selections that name no other")]
    benchmark: Annotated[Text, msgspec.Meta(description="of all selections that name no other, or any")]
    division: Annotated[Text, msgspec.Meta(description="of all selections that name no other")] = "closed"
    assumptions: Annotated[
        dict[str, Assumption],
        msgspec.Meta(description="figures that no log holds, by the names that formulas call them"),
    ] = {}
    claims: Annotated[
        list[Value | Ratio | Efficiency | Rank | Only | First | Count | Derived | Unverifiable],
        msgspec.Meta(min_length=1, description="a list of claims, at least one"),
    ]


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the nearest known name as a hint, or all that are known."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return (
        f", did you mean {close[0]!r}? (known: {', '.join(known)})"
        if close
        else f", expected one of {', '.join(known)}"
    )
