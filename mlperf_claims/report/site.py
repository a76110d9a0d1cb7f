"""Gather the reports of all articles into a site with an index page."""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mlperf_claims import paths
from mlperf_claims.claims.verdicts import VERDICTS
from mlperf_claims.report.exports import SCHEMA
from mlperf_claims.report.page import open_templates

SITE = paths.BUILD / "_site"  # no article is named so
FILES = {"report.html": "index.html", "claims.json": "claims.json", "claims.csv": "claims.csv", SCHEMA: SCHEMA}


class SiteError(ValueError):
    """A report that is not there."""


def write_site(articles: Sequence[str], folder: Path = SITE) -> None:
    """Write a folder for each article, and an index page over them, newest first.

    The site is complete before it replaces the one that is there.
    Raises: SiteError naming each article whose report is not built.
    """
    missing = [name for name in articles if not all((paths.build_dir(name) / file).is_file() for file in FILES)]
    if missing or not articles:
        found = f"no report of {', '.join(missing)}" if missing else f"no article in {paths.ARTICLES}"
        raise SiteError(f"{found}, expected one: run make site")
    waiting = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(waiting, ignore_errors=True)
    for name in articles:
        (waiting / name).mkdir(parents=True)
        for file, published in FILES.items():
            shutil.copyfile(paths.build_dir(name) / file, waiting / name / published)
    described = [_describe_report(name) for name in articles]
    described.sort(key=lambda report: report["article"]["published"], reverse=True)
    page = open_templates().get_template("index.html.j2").render(reports=described)
    (waiting / "index.html").write_text(page, encoding="utf-8")
    (waiting / ".nojekyll").touch()  # Pages serves the files as they are
    shutil.rmtree(folder, ignore_errors=True)
    waiting.replace(folder)


def list_articles() -> list[str]:
    """Return the names of all articles in `data/articles`."""
    return sorted(path.stem for path in paths.ARTICLES.glob("*.yaml"))


def _describe_report(name: str) -> dict[str, Any]:
    built = json.loads((paths.build_dir(name) / "claims.json").read_text(encoding="utf-8"))
    counts = {verdict: sum(claim["verdict"] == verdict for claim in built["claims"]) for verdict in VERDICTS}
    headlines = [claim for claim in built["claims"] if claim["headline"]]
    return {"article": built["article"], "verdicts": counts, "headlines": headlines}


def main(arguments: Sequence[str] | None = None) -> int:
    argparse.ArgumentParser(prog="python -m mlperf_claims.report.site", description=__doc__).parse_args(arguments)
    try:
        write_site(list_articles())
    except (SiteError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(SITE / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
