"""Write what an article may say, for people and for editors, from the schema that it is checked with."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import yaml

from mlperf_claims import paths
from mlperf_claims.claims.articles import list_articles
from mlperf_claims.claims.problems import describe_type
from mlperf_claims.claims.schema import FORMULA_MEASURES, KINDS, Assumption, Head, Kind
from mlperf_claims.claims.stated import MEANINGS, RELATIONS, TIMES, WORDS
from mlperf_claims.claims.verdicts import VERDICTS
from mlperf_claims.results.select import Selection

SCHEMA = paths.ARTICLES / "article.schema.json"  # editors complete an article from it
GUIDE = paths.ROOT / "docs" / "kinds.md"


def write_schema() -> str:
    """Return the JSON Schema of an article's YAML."""
    return json.dumps(msgspec.json.schema(Head), indent=1, ensure_ascii=True) + "\n"


def write_guide() -> str:
    """Return the page that explains an article's YAML: its keys, kinds, selections, words, units and verdicts."""
    return "\n".join(_list_lines()) + "\n"


def _list_lines() -> Iterator[str]:
    yield "# How to write an article"
    yield ""
    yield "One YAML file in `data/articles/` is one audited article: where it appeared, what it assumes, and its"
    yield "claims, each in words of its own. Everything wrong with it is listed at once, with its line, by"
    yield "`make report`. This page is written by `make kinds` from the schema that articles are checked with."
    yield ""
    yield from _tabulate("The article", Head)
    yield from _tabulate("An assumption, by its name", Assumption)
    yield from _tabulate("Every claim", Kind, kind="the kind of claim: one of those below")
    yield "## Kinds"
    yield ""
    common = frozenset(field.name for field in msgspec.structs.fields(Kind))
    examples = _find_examples()
    for name, kind in KINDS.items():
        yield f"### `{name}`"
        yield ""
        yield " ".join(kind.__doc__.split())
        yield ""
        yield from _list_rows(kind, without=common)
        if name in examples:
            yield "```yaml"
            yield examples[name].rstrip()
            yield "```"
            yield ""
    yield from _tabulate("Selections", Selection)
    yield "A selection takes round, benchmark and division from its claim, else from the article. A submitter is met by"
    yield "its whole name; where no result has that, by a name of a joint submission. A selection that has to meet one"
    yield "result and meets none or several is answered with the nearest."
    yield ""
    yield "## Names in formulas"
    yield ""
    yield "Assumptions go by their name; another claim by its id, with `_` for `-`; `id.stated` is its printed figure."
    yield ""
    yield from _list_pairs(("after `subject.` or `baseline.`", "is"), FORMULA_MEASURES)
    yield "## Words before a figure"
    yield ""
    words = {
        ", ".join(word for word, meant in RELATIONS.items() if meant == relation): meaning
        for relation, meaning in MEANINGS.items()
    }
    yield from _list_pairs(("words", "the figure stands for"), words)
    yield f"Figures may be words: {', '.join(WORDS)}. Small numbers may be spelled out."
    yield ""
    yield "## Units"
    yield ""
    yield f"Times: {', '.join(TIMES)}. A ratio is printed as times (`2.1x`), as a gain (`45% faster`), as a share "
    yield "(`half the time`) or as what is saved (`30% less time`). Counts and sizes take any noun."
    yield ""
    yield "## Verdicts"
    yield ""
    yield from _list_pairs(("verdict", "given when"), VERDICTS)


def _tabulate(title: str, keys: type[msgspec.Struct], **more: str) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield from _list_rows(keys, **more)


def _list_rows(keys: type[msgspec.Struct], *, without: frozenset[str] = frozenset(), **more: str) -> Iterator[str]:
    yield "| key | needed | what it says |"
    yield "|---|---|---|"
    for key, text in more.items():
        yield f"| `{key}` | yes | {text} |"
    for field in msgspec.structs.fields(keys):
        if field.name not in without:
            yield f"| `{field.encode_name}` | {'yes' if field.required else 'no'} | {_describe(field.type)} |"
    yield ""


def _describe(wanted: object) -> str:
    """Return what a key says, and its choices where there are some."""
    notes = [note.description for note in getattr(wanted, "__metadata__", ()) if note.description]
    said = describe_type(wanted)
    return f"{notes[-1]} ({said})" if notes and said.startswith("one of") else said


def _list_pairs(heads: tuple[str, str], pairs: dict[str, str]) -> Iterator[str]:
    yield f"| {heads[0]} | {heads[1]} |"
    yield "|---|---|"
    yield from (f"| {one.replace('|', chr(92) + '|')} | {other} |" for one, other in pairs.items())
    yield ""


def _find_examples() -> dict[str, str]:
    """Return the first claim of each kind in the articles at hand, as YAML."""
    found: dict[str, str] = {}
    for name in list_articles():
        content = yaml.safe_load((paths.ARTICLES / f"{name}.yaml").read_text(encoding="utf-8"))
        for claim in content["claims"]:
            plain = json.loads(json.dumps(claim, default=str))  # without the aliases that repeated selections would be
            text = yaml.safe_dump([plain], sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
            found.setdefault(claim["kind"], text)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    argparse.ArgumentParser(prog="python -m mlperf_claims.claims.guide", description=__doc__).parse_args(arguments)
    for path, text in ((SCHEMA, write_schema()), (GUIDE, write_guide())):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
        print(Path(path).relative_to(paths.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
