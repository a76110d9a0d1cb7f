"""List everything that stands in the way of an article's claims, before any notebook runs."""

import argparse
import sys
from collections.abc import Sequence

from mlperf_claims import paths
from mlperf_claims.claims.articles import ArticleError
from mlperf_claims.claims.findings import Finding, open_audit
from mlperf_claims.claims.verdicts import FAILED, NOT_CHECKED

UNVERIFIABLE = "unverifiable"  # a kind that says itself what is not read


def list_open(article: str) -> list[Finding]:
    """Judge every claim of an article and return those that fail, and those about rounds that are not held.

    Raises: ArticleError listing every problem of the file itself.
    """
    judged = open_audit(article).judge()
    return [one for one in judged if one.verdict == FAILED or (one.verdict == NOT_CHECKED and one.kind != UNVERIFIABLE)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mlperf_claims.report.preflight", description=__doc__)
    parser.add_argument("article")
    options = parser.parse_args(arguments)
    try:
        found = list_open(options.article)
    except (ArticleError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    said = {FAILED: "fails", NOT_CHECKED: "is not checked here"}
    lines = [f"claim {finding.id!r} {said[finding.verdict]}: {finding.because}" for finding in found]
    for line in lines:
        print(line, file=sys.stderr)
    target = paths.build_dir(options.article) / "problems.txt"
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_suffix(".tmp")
    temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    temporary.replace(target)
    return 0  # the report is built, with these claims as failed, and make refuses it in the end


if __name__ == "__main__":
    sys.exit(main())
