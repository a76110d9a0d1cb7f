"""Hold a build against what was reviewed: the verdicts of its article, and the findings in the README."""

import argparse
import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mlperf_claims import paths
from mlperf_claims.claims.findings import format_value

COLUMNS = ("claim", "verdict", "robust")
README_START = "<!-- findings: make accept writes them -->"
README_END = "<!-- end of findings -->"


class ReviewError(ValueError):
    """A build or a review that cannot be read."""


def reviewed_path(article: str) -> Path:
    """Return where an article's reviewed verdicts are kept."""
    return paths.ARTICLES / f"{article}.verdicts.csv"


def load_claims(article: str) -> list[dict[str, Any]]:
    """Load the claims of the last build, as claims.json has them; ReviewError if there is no build."""
    path = paths.build_dir(article) / "claims.json"
    if not path.is_file():
        raise ReviewError(f"no {path}, expected a report: run make report ARTICLE={article}")
    return json.loads(path.read_text(encoding="utf-8"))["claims"]


def check_as_assumed(article: str) -> None:
    """Raise ReviewError if the last build was made with other assumptions than the article's."""
    for path in sorted((paths.build_dir(article) / "parameters").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        given = {*(content.keys() - {"article", "notebooks", "assumptions"}), *content.get("assumptions", {})}
        if given:
            wanted = f"run make report ARTICLE={article} without it first"
            raise ReviewError(f"the build was given {', '.join(sorted(given)).upper()}, expected none: {wanted}")


def list_verdicts(claims: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the verdicts of a build's claims, columns as in COLUMNS."""
    robust = {None: "", True: "yes", False: "no"}
    return [{"claim": c["id"], "verdict": c["verdict"], "robust": robust[c["robust"]]} for c in claims]


def load_reviewed(article: str) -> list[dict[str, str]]:
    """Load the reviewed verdicts; ReviewError if the file is not there, or not one row of COLUMNS per claim."""
    path = reviewed_path(article)
    if not path.is_file():
        raise ReviewError(f"no {path}: read the report, then run make accept ARTICLE={article}")
    with path.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ReviewError(f"{path.name}: columns {reader.fieldnames}, expected {', '.join(COLUMNS)}")
        rows = list(reader)
    for line, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise ReviewError(f"{path.name} line {line}: expected {len(COLUMNS)} cells")
    claims = [row["claim"] for row in rows]
    for claim in dict.fromkeys(claim for claim in claims if claims.count(claim) > 1):
        raise ReviewError(f"{path.name}: {claim} is there {claims.count(claim)} times, expected once")
    return rows


def compare(built: Sequence[dict[str, str]], reviewed: Sequence[dict[str, str]]) -> list[str]:
    """Return a line for each claim whose verdict, or robustness, is not the reviewed one."""
    now, then = ({row["claim"]: (row["verdict"], row["robust"]) for row in rows} for rows in (built, reviewed))
    return [
        f"{claim}: {_say(now.get(claim))}, reviewed as {_say(then.get(claim))}"
        for claim in dict.fromkeys([*now, *then])
        if now.get(claim) != then.get(claim)
    ]


def write_reviewed(article: str, built: Sequence[dict[str, str]]) -> Path:
    """Write the reviewed verdicts, whole or not at all."""
    path = reviewed_path(article)
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(built)
    return temporary.replace(path)


def format_findings(claims: Sequence[Mapping[str, Any]]) -> str:
    """Format the headline claims of claims.json as the table that stands in the README."""
    lines = ["| claim | as stated | recomputed | on the clock | verdict |", "|---|---|---|---|---|"]
    for claim in (claim for claim in claims if claim["headline"]):
        values = {
            reading["name"]: format_value(reading["value"], claim["unit"], decimals=claim["decimals"])
            for reading in claim["readings"]
        }
        first = next(iter(values.values()), "–")
        verdict = claim["verdict"] + ("" if claim["robust"] in (True, None) else ", not under every reading")
        lines.append(f"| {claim['says']} | {claim['stated']} | {first} | {values.get('wall clock', '–')} | {verdict} |")
    return "\n".join(lines)


def replace_findings(readme: str, table: str) -> str:
    """Return the README with its findings table replaced; ReviewError if its place is not marked."""
    before, start, rest = readme.partition(README_START)
    _, end, after = rest.partition(README_END)
    if not (start and end):
        raise ReviewError(f"README.md has no {README_START} … {README_END}, expected the findings between them")
    return f"{before}{start}\n{table}\n{end}{after}"


def _say(verdict: tuple[str, str] | None) -> str:
    if verdict is None:
        return "absent"
    return verdict[0] + {"yes": ", robust", "no": ", not robust", "": ""}.get(verdict[1], f", robust {verdict[1]!r}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mlperf_claims.claims.review", description=__doc__)
    parser.add_argument("action", choices=("check", "accept"))
    parser.add_argument("article")
    parser.add_argument("--readme", type=Path, help="README whose findings are those of this article")
    options = parser.parse_args(arguments)
    try:
        claims = load_claims(options.article)
        readme = options.readme and options.readme.read_text(encoding="utf-8")
        renewed = readme and replace_findings(readme, format_findings(claims))
        if options.action == "accept":
            check_as_assumed(options.article)
            print(f"{len(claims)} verdicts in {write_reviewed(options.article, list_verdicts(claims))}")
            if renewed:
                options.readme.write_text(renewed, encoding="utf-8")
            return 0
        differences = compare(list_verdicts(claims), load_reviewed(options.article))
    except (ReviewError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if readme != renewed:
        differences.append(f"{options.readme}: its findings are not those of this build; make accept writes them")
    for line in differences:
        print(line)
    print(f"{len(claims)} verdicts, differences from what was reviewed: {len(differences)}")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
