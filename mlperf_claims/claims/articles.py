"""Read an audited article (YAML) into typed claims, or name everything that is wrong with it."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml

from mlperf_claims import paths
from mlperf_claims.claims.problems import Place, find_problems, list_keys
from mlperf_claims.claims.schema import (
    SCOPE,
    Assumption,
    Count,
    Derived,
    First,
    Head,
    Kind,
    Unverifiable,
    Value,
    suggest,
)
from mlperf_claims.claims.stated import Stated, read_stated
from mlperf_claims.results.select import ANY

LARGEST = 1_000_000  # bytes of an article
MOST_NODES = 50_000  # values in one, each counted as often as aliases repeat it
MOST_PROBLEMS = 1_000  # that are looked for
SHOWN = 40  # problems listed one by one


class NoClaims(Exception):
    """An article makes no claim of the kinds that a notebook audits."""


class ArticleError(ValueError):
    """An article file that cannot be read as one, with every problem in it, a line each."""


@dataclass(frozen=True)
class Claim:
    """One statement of an article, and its other readings: the same kind of claim with other keys."""

    about: Kind
    stated: Stated
    also: Mapping[str, Kind] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.about.id

    @property
    def kind(self) -> str:
        return self.about.__struct_config__.tag

    @property
    def says(self) -> str:
        return " ".join(self.about.says.split())

    @property
    def flatters(self) -> str:
        """The side on which a figure is in the claimant's favour: high or low."""
        if isinstance(self.about, Count | Derived | Value) and self.about.better:
            return self.about.better
        if self.stated.ratio_form.startswith("share"):
            return "low"
        is_time = isinstance(self.about, Value) and self.about.measure == "time_to_train"
        return "low" if is_time else "high"


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
        raise ArticleError(f"{self.name} has no claim {id_!r}{suggest(id_, [claim.id for claim in self.claims])}")

    def of_kind(self, *kinds: str) -> tuple[Claim, ...]:
        """Return the claims of these kinds, in the article's order."""
        return tuple(claim for claim in self.claims if claim.kind in kinds)

    def assume(self, instead: Mapping[str, float]) -> "Article":
        """Return the article with other values of assumptions, as a reader gave them.

        Raises: ArticleError if it makes no such assumption, or a value is not a finite number above 0.
        """
        changed = dict(self.assumptions)
        for name, value in instead.items():
            if name not in changed:
                raise ArticleError(f"{self.name} makes no assumption {name!r}{suggest(name, changed)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ArticleError(f"{name} is {value!r}, expected a number above 0 ({changed[name].unit})")
            changed[name] = msgspec.structs.replace(changed[name], value=float(value))
        return Article(**{**vars(self), "assumptions": changed})


def load_article(name: str = "", *, folder: Path = paths.ARTICLES) -> Article:
    """Load one article.

    Args:
        name: of its file in `folder`, without .yaml; empty takes the one named in `folder`/default.
    Raises: ArticleError listing every problem: its line, the key, what was found and what was wanted.
    """
    name = name or (folder / "default").read_text(encoding="utf-8").strip()
    path = folder / f"{name}.yaml"
    if not path.is_file():
        raise ArticleError(f"no article {name!r} in {folder}{suggest(name, list_articles(folder))}")
    given, lines = _read_yaml(path)
    found = dict.fromkeys(itertools.islice(find_problems(given), MOST_PROBLEMS))
    problems = sorted(found, key=lambda problem: _find_line(lines, problem[0]))
    if problems:
        shown = [f"{path.name} line {_find_line(lines, place)}: {text}" for place, text in problems[:SHOWN]]
        least = "at least " if len(problems) == MOST_PROBLEMS else ""
        more = [f"{path.name}: and {least}{len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        raise ArticleError("\n".join(shown + more))
    return _make_article(name, given)


def list_articles(folder: Path = paths.ARTICLES) -> list[str]:
    """Return the names of the articles in a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _read_yaml(path: Path) -> tuple[dict[str, Any], dict[Place, int]]:
    """Read a file into plain values, and the line on which each of them stands."""
    size = path.stat().st_size
    if size > LARGEST:
        raise ArticleError(f"{path.name} has {size:,} bytes, expected at most {LARGEST:,}")
    lines: dict[Place, int] = {}
    loader = None
    try:
        loader = _Loader(path.read_text(encoding="utf-8"))
        node = loader.get_single_node()
        _list_lines(node, (), lines)
        content = loader.construct_document(node) if node else None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # an impossible date is a ValueError
        raise ArticleError(f"{path.name}: {error}, expected YAML in UTF-8") from error
    finally:
        if loader:
            loader.dispose()
    if not isinstance(content, dict):
        raise ArticleError(f"{path.name}: found {type(content).__name__}, expected keys {', '.join(list_keys(Head))}")
    return content, lines


class _Loader(yaml.SafeLoader):
    """Reads YAML, and stops where there is too much of it."""

    nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node | None:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise yaml.YAMLError(f"more than {MOST_NODES:,} values")
        return super().compose_node(parent, index)


def _list_lines(node: yaml.Node | None, place: Place, lines: dict[Place, int]) -> None:
    if len(lines) > MOST_NODES:
        raise yaml.YAMLError(f"more than {MOST_NODES:,} values, which aliases may repeat")
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            if name in seen:  # nor << twice: each would be merged as often
                raise yaml.MarkedYAMLError(problem=f"key {name!r} is there twice", problem_mark=key.start_mark)
            seen.add(name)
            lines.setdefault((*place, name), key.start_mark.line + 1)
            _list_lines(value, (*place, name), lines)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            lines[(*place, number)] = value.start_mark.line + 1
            _list_lines(value, (*place, number), lines)


def _find_line(lines: Mapping[Place, int], place: Place) -> int:
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


def _make_article(name: str, given: Mapping[str, Any]) -> Article:
    head = msgspec.convert(given, Head)
    scope = {key: getattr(head, key) for key in SCOPE}
    claims = []
    for raw, about in zip(given["claims"], head.claims, strict=True):
        variants = {
            reading: msgspec.convert({key: value for key, value in raw.items() if key != "also"} | keys, type(about))
            for reading, keys in (about.also or {}).items()
        }
        claims.append(
            Claim(
                _scope(about, scope),
                read_stated(about.stated, judged=not isinstance(about, Unverifiable)),
                {reading: _scope(variant, scope) for reading, variant in variants.items()},
            )
        )
    texts = {"title": head.title, "publisher": head.publisher, "source": head.source or ""}
    texts = {key: " ".join(text.split()) for key, text in texts.items()}
    return Article(
        name=name,
        **texts,
        published=head.published.isoformat(),
        **scope,
        assumptions=head.assumptions,
        claims=tuple(claims),
    )


def _scope(about: Kind, scope: Mapping[str, str]) -> Kind:
    """Return a claim whose selections say round, benchmark and division themselves."""
    scope = {key: getattr(about, key) or value for key, value in scope.items()}
    roles = ("subject", "baseline", "field")
    given = {role: getattr(about, role) for role in roles if getattr(about, role, None) is not None}
    # who was first is asked of every round
    wider = {"field": {**scope, "round": ANY}} if isinstance(about, First) else {}
    scoped = {role: selection.within(wider.get(role, scope)) for role, selection in given.items()}
    return msgspec.structs.replace(about, **scoped)
