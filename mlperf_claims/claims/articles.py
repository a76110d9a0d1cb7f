"""Read an audited article (YAML) into typed claims."""

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from mlperf_claims import paths

RELATIONS = {  # words in front of a printed figure, and how they bind it
    "over": "over",
    "more than": "over",
    "at least": "at least",
    "under": "under",
    "less than": "under",
    "fewer than": "under",
    "up to": "up to",
    "around": "around",
    "about": "around",
    "nearly": "around",
}
AROUND = 0.05  # "around" is read as within 5 % of the figure
WORDS = {  # figures printed as words: what they bind
    "several": ("at least", 3.0, ""),
    "larger": ("over", 1.0, "x"),  # as a ratio of sizes
}
ANY = "any"  # as round, benchmark or division of a selection: not only the article's

ARTICLE_KEYS = (
    "title",
    "publisher",
    "published",
    "source",
    "round",
    "benchmark",
    "division",
    "assumptions",
    "claims",
)
CLAIM_KEYS = ("id", "says", "kind", "stated", "headline", "round", "benchmark", "division")
PAIRS = ("same size",)  # compare every baseline with the subject of as many accelerators
ROLES = ("subject", "baseline", "field")  # of a selection in a claim
# What the MLPerf results messaging guidelines want named where compared results differ in it.
COMPARED = {
    "round": "round",
    "division": "division",
    "benchmark": "benchmark",
    "availability": "availability",
    "accelerators_total": "accelerator count",
    "accelerator": "accelerator",
    "submitter": "submitter",
    "framework": "software",
}
PICKS = ("fastest",)  # by official score, where a selection meets several
SELECTION_KEYS = (
    *("round", "benchmark", "division", "organization", "submitter", "system"),
    *("accelerator", "accelerators", "availability", "pick"),
)


# digits, and then no more of them: neither a comma that groups otherwise nor the second half of a range
_FIGURE = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?![\d,.])(?!\s*[\d–-]\s*\d?)(.*)", re.ASCII)


@dataclass(frozen=True)
class Kind:
    """A kind of claim: what a claim of it must and may say, and which way its figure flatters."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    flatters: str = "high"  # "high" or "low": the side on which a figure is in the claimant's favour


KINDS = {
    "time_to_train": Kind(("subject",), flatters="low"),
    "speedup": Kind(("subject", "baseline"), ("pairs", "also", "named")),
    "scaling_efficiency": Kind(("subject", "baseline"), ("named",)),
    "racks_used": Kind(("subject", "active_per_rack"), flatters="low"),
    "density": Kind(("subject",)),
    "equivalent_accelerators": Kind(("subject", "speedup")),
    "equivalent_racks": Kind(("subject", "speedup", "baseline_per_rack"), ("printed",)),
    "rack_reduction": Kind(("subject", "speedup", "active_per_rack", "baseline_per_rack"), ("printed",)),
    "size": Kind(("subject",)),
    "size_ratio": Kind(("subject", "baseline", "speedup")),
    "largest": Kind(("subject", "field")),
    "next_largest": Kind(("subject", "field", "holder")),
    "only_other": Kind(("subject", "field")),
    "size_over_others": Kind(("subject", "field")),
    "fastest_at_sizes": Kind(("subject", "field")),
    "runs_above": Kind(("subject", "above")),
    "unverifiable": Kind(("because",)),
}


class NoClaims(Exception):
    """An article makes no claim of the kinds that a notebook audits."""


class ArticleError(ValueError):
    """An article file that cannot be read as one, with every problem in it."""


@dataclass(frozen=True)
class Stated:
    """A figure as printed: `1.5x` is the value 1.5 to one decimal, unit x, relation exactly."""

    text: str
    value: float  # nan where the text has no figure ("first")
    unit: str
    relation: str  # exactly, or a value of RELATIONS
    decimals: int

    @property
    def is_word(self) -> bool:
        """Tell a word, which holds or does not, from printed digits."""
        return self.text.strip() in WORDS

    @property
    def interval(self) -> tuple[float, float]:
        """The values that the printed digits stand for: [low, high); one side is infinite for over, under."""
        match self.relation:
            case "over":
                return math.nextafter(self.value, math.inf), math.inf
            case "at least":
                return self.value, math.inf
            case "under":
                return -math.inf, self.value
            case "up to":
                return -math.inf, math.nextafter(self.value, math.inf)
        half = self.value * AROUND if self.relation == "around" else 0.5 * 10.0**-self.decimals
        # rounded, since 2.1 - 0.05 is 2.0500000000000003 in binary and the edge belongs to the figure
        low, high = (round(edge, self.decimals + 6) for edge in (self.value - half, self.value + half))
        return (low, math.nextafter(high, math.inf)) if self.relation == "around" else (low, high)


@dataclass(frozen=True)
class Claim:
    """One statement of an article; `fields` holds what its kind asks for."""

    id: str
    says: str
    kind: str
    stated: Stated
    headline: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def flatters(self) -> str:
        return KINDS[self.kind].flatters


@dataclass(frozen=True)
class Assumption:
    """A figure that the article's arithmetic needs and no log holds."""

    name: str
    value: float
    unit: str
    because: str


@dataclass(frozen=True)
class Article:
    """An audited article: where it appeared, what it assumes, and its claims in order."""

    name: str
    title: str
    publisher: str
    published: str
    source: str
    round: str
    benchmark: str
    division: str
    assumptions: Mapping[str, Assumption]
    claims: tuple[Claim, ...]

    def claim(self, id_: str) -> Claim:
        """Return the claim with this id; ArticleError if there is none."""
        for claim in self.claims:
            if claim.id == id_:
                return claim
        raise ArticleError(f"{self.name} has no claim {id_!r}{_suggest(id_, [claim.id for claim in self.claims])}")

    def of_kind(self, *kinds: str) -> tuple[Claim, ...]:
        """Return the claims of these kinds, in the article's order."""
        return tuple(claim for claim in self.claims if claim.kind in kinds)

    def require(self, *kinds: str) -> tuple[Claim, ...]:
        """Return the claims of these kinds; NoClaims, which ends a notebook without failing it, if there are none."""
        if not (claims := self.of_kind(*kinds)):
            raise NoClaims(f"The article makes no claim of this kind ({', '.join(kinds)}).")
        return claims

    def assume(self, name: str, instead: float | None = None) -> float:
        """Return an assumption's value, or `instead` where a reader gave one.

        Raises: ArticleError if the article makes no such assumption or the value is not above 0.
        """
        if name not in self.assumptions:
            raise ArticleError(f"{self.name} makes no assumption {name!r}{_suggest(name, self.assumptions)}")
        value = self.assumptions[name].value if instead is None else instead
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise ArticleError(f"{name} is {value!r}, expected a number above 0 ({self.assumptions[name].unit})")
        return value


def parse_stated(text: str) -> Stated:
    """Parse a figure as printed, such as "12.5 min", "over 3x", "around 40 racks", "1,024 chips".

    Returns: value and unit; the value is nan for words without a figure, such as "first".
    Raises: ArticleError for a figure that can be read in more than one way, such as "1,5x" or "10-20 min".
    """
    words = " ".join(text.split())
    relation = "exactly"
    for word, meaning in RELATIONS.items():
        if words.lower().startswith(word + " "):
            relation, words = meaning, words[len(word) :].strip()
            break
    if words in WORDS:
        relation, value, unit = WORDS[words]
        return Stated(text, value, unit, relation, 0)
    if not words[:1].isdigit():
        return Stated(text, math.nan, words, relation, 0)
    match = _FIGURE.fullmatch(words)
    if not match:
        raise ArticleError(f"stated is {text!r}, expected one figure such as 1.5x or 1,024 GPUs, or words")
    whole, fraction, unit = match.groups()
    value = float(f"{whole.replace(',', '')}.{fraction or '0'}")
    return Stated(text, value, unit.strip(), relation, len(fraction or ""))


def load_article(name: str = "", *, folder: Path = paths.ARTICLES) -> Article:
    """Load one article.

    Args:
        name: of its file in `folder`, without .yaml; empty takes the one named in `folder`/default.
    Raises: ArticleError listing every unknown key, missing key, duplicate id and wrong type.
    """
    name = name or (folder / "default").read_text(encoding="utf-8").strip()
    path = folder / f"{name}.yaml"
    if not path.is_file():
        raise ArticleError(f"no article {name!r} in {folder}{_suggest(name, list_articles(folder))}")
    content = _load_yaml(path)
    problems = list(_find_article_problems(content))
    if problems:
        raise ArticleError("\n".join(f"{path.name}: {problem}" for problem in problems))
    defaults = {key: content[key] for key in ("round", "benchmark", "division")}
    return Article(
        name=name,
        title=content["title"],
        publisher=content["publisher"],
        published=str(content["published"]),
        source=content.get("source", ""),
        **defaults,
        assumptions={key: Assumption(key, **given) for key, given in content.get("assumptions", {}).items()},
        claims=tuple(_make_claim(claim, defaults) for claim in content["claims"]),
    )


def list_articles(folder: Path = paths.ARTICLES) -> list[str]:
    """Return the names of the articles in a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def load_benchmarks(folder: Path = paths.ARTICLES) -> frozenset[tuple[str, str]]:
    """Return each (round, benchmark) that a claim of any article selects from."""
    pairs = set()
    for name in list_articles(folder):
        for claim in load_article(name, folder=folder).claims:
            for role in ("subject", "baseline"):
                selection = claim.fields.get(role, {})
                if {"round", "benchmark"} <= selection.keys():
                    pairs.add((selection["round"], selection["benchmark"]))
    return frozenset(pairs)


class _UniqueLoader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice, which YAML would let the last one win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value if not key.tag.endswith(":merge")]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(problem=f"key {key!r} is there twice", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)


def _load_yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _UniqueLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # an impossible date is a ValueError
        raise ArticleError(f"{path.name}: {error}, expected YAML in UTF-8") from error
    if not isinstance(content, dict):
        raise ArticleError(f"{path.name}: found {type(content).__name__}, expected keys {', '.join(ARTICLE_KEYS)}")
    return content


def _find_article_problems(content: Mapping[str, Any]) -> Iterable[str]:
    optional = ("source", "assumptions")
    yield from _find_key_problems("the article", content, ARTICLE_KEYS, [k for k in ARTICLE_KEYS if k not in optional])
    for key in ("title", "publisher", "source", "round", "benchmark", "division"):
        yield from _find_text_problems("the article", content, key)
    assumptions = content.get("assumptions", {})
    if not isinstance(assumptions, dict):
        yield f"assumptions is {assumptions!r}, expected names with value, unit and because"
        assumptions = {}
    for name, given in assumptions.items():
        wanted = ("value", "unit", "because")
        yield from _find_key_problems(f"assumption {name}", given, wanted, wanted)
        value = given.get("value") if isinstance(given, dict) else 0
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield f"assumption {name}: value is {value!r}, expected a number"
    claims = content.get("claims", [])
    if not isinstance(claims, list) or not claims:
        yield f"claims is {claims!r:.40}, expected a list of claims"
        return
    ids = [str(claim.get("id")) for claim in claims if isinstance(claim, dict)]
    rates = [str(claim.get("id")) for claim in claims if isinstance(claim, dict) and _is_rate(claim)]
    for id_ in dict.fromkeys(id_ for id_ in ids if ids.count(id_) > 1):
        yield f"claim id {id_!r} is there {ids.count(id_)} times, expected once"
    for number, claim in enumerate(claims, start=1):
        yield from _find_claim_problems(number, claim, assumptions, rates, ids)


def _is_rate(claim: Mapping[str, Any]) -> bool:
    return claim.get("kind") == "speedup" and "pairs" not in claim


def _find_claim_problems(
    number: int, claim: object, assumptions: Mapping, rates: list[str], ids: list[str]
) -> Iterable[str]:
    if not isinstance(claim, dict):
        yield f"claim {number} is {claim!r:.60}, expected keys {', '.join(CLAIM_KEYS)}"
        return
    where, kind = f"claim {claim.get('id', number)!r}", Kind()
    if isinstance(claim.get("kind"), str) and claim["kind"] in KINDS:
        kind = KINDS[claim["kind"]]
        allowed = (*CLAIM_KEYS, *kind.required, *kind.optional)
        yield from _find_key_problems(where, claim, allowed, ("id", "says", "kind", "stated", *kind.required))
    else:
        yield f"{where}: unknown kind {claim.get('kind')!r}{_suggest(str(claim.get('kind')), KINDS)}"
    for key in ("id", "says", "stated", "round", "benchmark", "division", "because", "holder"):
        yield from _find_text_problems(where, claim, key)
    if isinstance(claim.get("stated"), str):
        try:
            parse_stated(claim["stated"])
        except ArticleError as error:
            yield f"{where}: {error}"
    if claim.get("pairs", PAIRS[0]) not in PAIRS:
        yield f"{where}: pairs is {claim['pairs']!r}, expected {' or '.join(PAIRS)}"
    if not isinstance(claim.get("headline", False), bool):
        yield f"{where}: headline is {claim['headline']!r}, expected true or false"
    for role in ROLES:
        if role in claim:
            yield from _find_selection_problems(f"{where}: {role}", claim[role])
    for name, pair in _read_mapping(claim, "also").items():
        yield from _find_key_problems(f"{where}: also {name}", pair, ("subject", "baseline"), ("subject", "baseline"))
        for role, selection in pair.items() if isinstance(pair, dict) else ():
            yield from _find_selection_problems(f"{where}: also {name}: {role}", selection)
    if "also" in claim and not _read_mapping(claim, "also"):
        yield f"{where}: also is {claim['also']!r:.60}, expected readings by name, each with subject and baseline"
    named = claim.get("named", [])
    if not isinstance(named, list) or not all(name in COMPARED.values() for name in named):
        yield f"{where}: named is {named!r}, expected some of {', '.join(COMPARED.values())}"
    if "above" in claim and (isinstance(claim["above"], bool) or not isinstance(claim["above"], int)):
        yield f"{where}: above is {claim['above']!r}, expected a whole number of accelerators"
    if "speedup" in kind.required and claim.get("speedup") not in rates:
        yield f"{where}: speedup is {claim.get('speedup')!r}, expected the id of a claim of that kind, about one pair"
    if claim.get("printed", ids[0]) not in ids:
        yield f"{where}: printed is {claim['printed']!r}, expected the id of a claim"
    for key in ("active_per_rack", "baseline_per_rack"):
        if key in claim and str(claim[key]) not in assumptions:
            yield f"{where}: {key} is {claim[key]!r}, expected the name of an assumption"


def _read_mapping(claim: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return claim[key] if isinstance(claim.get(key), dict) else {}


def _find_selection_problems(where: str, selection: object) -> Iterable[str]:
    yield from _find_key_problems(where, selection, SELECTION_KEYS, ())
    if not isinstance(selection, dict):
        return
    for key in selection.keys() - {"accelerators", "accelerator", "pick"}:
        yield from _find_text_problems(where, selection, key)
    accelerators, names = selection.get("accelerators", 0), selection.get("accelerator", "any")
    if isinstance(accelerators, bool) or not isinstance(accelerators, int):
        yield f"{where}: accelerators is {accelerators!r}, expected a whole number"
    names = names if isinstance(names, list) else [names]
    if not names or not all(isinstance(name, str) for name in names):
        yield f"{where}: accelerator is {selection['accelerator']!r}, expected text or a list of texts"
    if selection.get("pick", PICKS[0]) not in PICKS:
        yield f"{where}: pick is {selection['pick']!r}, expected {' or '.join(PICKS)}"


def _find_text_problems(where: str, found: Mapping[str, Any], key: str) -> Iterable[str]:
    if key in found and not isinstance(found[key], str):
        yield f"{where}: {key} is {found[key]!r}, expected text (put it in quotes)"


def _find_key_problems(where: str, found: object, allowed: Iterable[str], required: Iterable[str]) -> Iterable[str]:
    if not isinstance(found, dict):
        yield f"{where} is {found!r:.60}, expected keys {', '.join(allowed)}"
        return
    for key in found:
        if key not in allowed:
            yield f"{where}: unknown key {key!r}{_suggest(str(key), allowed)}"
    for key in required:
        if key not in found:
            yield f"{where}: no {key}, expected one"


def _make_claim(given: Mapping[str, Any], defaults: Mapping[str, str]) -> Claim:
    scope = {key: given.get(key, defaults[key]) for key in defaults}
    fields = {key: value for key, value in given.items() if key not in CLAIM_KEYS}
    for role in ROLES:
        if role in fields:
            fields[role] = _scope(scope, fields[role])
    also = {name: {role: _scope(scope, pair[role]) for role in pair} for name, pair in fields.get("also", {}).items()}
    says = " ".join(given["says"].split())
    stated = parse_stated(given["stated"])
    fields |= {"also": also} if also else {}
    return Claim(given["id"], says, given["kind"], stated, given.get("headline", False), fields)


def _scope(scope: Mapping[str, str], selection: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in {**scope, **selection}.items() if value != ANY}


def _suggest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.4)
    return f", did you mean {close[0]!r}?" if close else f", expected one of {', '.join(known)}"
