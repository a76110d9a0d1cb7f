"""Give each notebook the parameters a command line sets, in a file that changes only when they do."""

import argparse
import ast
import difflib
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mlperf_claims import paths

ASSUMPTIONS = "assumptions"  # the parameter of a notebook that takes an article's assumptions, by name
TAG = "parameters"  # papermill injects after the cell that carries it


class ParameterError(ValueError):
    """A parameter that no notebook has, or a value it cannot take."""


def read_parameters(notebook: Path) -> dict[str, tuple[Any, str]]:
    """Return the names a notebook's parameters cell defines: (default, type as annotated).

    Raises: ParameterError if there is not exactly one such cell, or it holds more than literals.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    tagged = ["".join(cell["source"]) for cell in cells if TAG in cell["metadata"].get("tags", ())]
    if len(tagged) != 1:
        raise ParameterError(f"{notebook.name} has {len(tagged)} cells tagged {TAG}, expected one")
    found = {}
    wanted = "expected name: type = literal, each name once"
    try:
        statements = ast.parse(tagged[0]).body
    except SyntaxError as error:
        raise ParameterError(f"{notebook.name}: {error} in its parameters, {wanted}") from error
    for statement in statements:
        problem = f"{notebook.name}: {ast.unparse(statement)!r} in its parameters, {wanted}"
        try:
            name = statement.target.id
            value = (ast.literal_eval(statement.value), ast.unparse(statement.annotation))
        except (AttributeError, ValueError, TypeError) as error:
            raise ParameterError(problem) from error
        if name in found:
            raise ParameterError(problem)
        found[name] = value
    return found


def assign(
    notebooks: Sequence[Path], article: str, given: Mapping[str, str], *, assumptions: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Work out each notebook's parameters.

    Args:
        given: upper-case name: value, as a command line has them.
        assumptions: names of those that the article makes: numbers above 0, for every notebook that takes them.
    Returns: notebook stem: name: value, with the article and what was given that it has.
    Raises: ParameterError naming each parameter that no notebook has, with the nearest that one has.
    """
    known = {notebook.stem: read_parameters(notebook) for notebook in notebooks}
    names = {name.upper() for parameters in known.values() for name in parameters} - {"ARTICLE", ASSUMPTIONS.upper()}
    assumed = {name.upper(): name for name in assumptions}
    problems = [_suggest(name, names | assumed.keys()) for name in given if name not in names | assumed.keys()]
    if problems:
        raise ParameterError("\n".join(problems))
    instead = {assumed[name]: _parse_assumption(name, text) for name, text in given.items() if name in assumed}
    return {
        stem: {"article": article}
        | {
            name: _parse(name, given[name.upper()], kind)
            for name, (_, kind) in parameters.items()
            if name.upper() in given and name not in ("article", ASSUMPTIONS)
        }
        | ({ASSUMPTIONS: instead} if instead and ASSUMPTIONS in parameters else {})
        for stem, parameters in known.items()
    }


def write_parameters(assigned: Mapping[str, Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write a file for each notebook whose parameters changed; return those written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for stem, parameters in assigned.items():
        path, text = folder / f"{stem}.json", json.dumps(parameters, indent=1) + "\n"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            temporary = path.with_suffix(".tmp")
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
            written.append(path)
    return written


def split_overrides(text: str) -> dict[str, str]:
    """Split what make calls MAKEOVERRIDES, NAME=value …, in which a backslash keeps the next character."""
    pairs = (re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|[^\s\\])+", text))
    return dict(pair.split("=", 1) for pair in pairs)


def _parse(name: str, text: str, kind: str) -> Any:  # noqa: ANN401 - as the notebook wants it
    if "str" in kind:
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        value = text
    wanted = {"float": (int, float), "int": (int,), "bool": (bool,)}
    accepted = tuple(type_ for word, types in wanted.items() if word in kind for type_ in types)
    infinite = isinstance(value, float) and not math.isfinite(value)
    if not isinstance(value, accepted) or (isinstance(value, bool) and "bool" not in kind) or infinite:
        raise ParameterError(f"{name.upper()}={text!r}, expected {kind.removesuffix(' | None')}")
    return value


def _parse_assumption(name: str, text: str) -> float:
    value = _parse(name, text, "float")
    if not value > 0:
        raise ParameterError(f"{name}={text!r}, expected a number above 0")
    return float(value)


def _suggest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.0)
    nearest = f"did you mean {close[0]}?" if close else "there is none"
    listed = ", ".join(sorted(names)) or "none"
    return f"neither a notebook nor the article has a parameter {name}; {nearest} (all: {listed})"


def _list_assumptions(article: str, given: Mapping[str, str]) -> list[str]:
    """Return the names of an article's assumptions; none where nothing is given, which spares reading it."""
    if not given:
        return []
    from mlperf_claims.claims.articles import load_article

    return list(load_article(article).assumptions)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mlperf_claims.report.parameters", description=__doc__)
    parser.add_argument("article")
    parser.add_argument("--names", default="", help="variables of the Makefile, which are no parameters")
    parser.add_argument("--given", default="", help="NAME=value …, quoted as make does")
    options = parser.parse_args(arguments)
    given = split_overrides(options.given)
    own = options.names.split()
    try:
        if not (paths.ARTICLES / f"{options.article}.yaml").is_file():
            articles = [path.stem for path in sorted(paths.ARTICLES.glob("*.yaml"))]
            raise ParameterError(
                f"no article {options.article!r} in data/articles, expected one of {', '.join(articles)}"
            )
        parameters = {name: value for name, value in given.items() if name not in own}
        notebooks = sorted(paths.NOTEBOOKS.glob("*.ipynb"))
        assigned = assign(
            notebooks, options.article, parameters, assumptions=_list_assumptions(options.article, parameters)
        )
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    folder = paths.build_dir(options.article) / "parameters"
    write_parameters(assigned | {"notebooks": {"notebooks": list(assigned)}}, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
