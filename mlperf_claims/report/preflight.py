"""List everything that stands in the way of an article's claims, before any notebook runs."""

import argparse
import sys
from collections.abc import Sequence

from mlperf_claims import paths
from mlperf_claims.claims.articles import ArticleError
from mlperf_claims.claims.findings import Finding, open_audit
from mlperf_claims.claims.verdicts import FAILED


def list_failing(article: str) -> list[Finding]:
    """Judge every claim of an article and return those that fail, with the reason.

    Raises: ArticleError listing every problem of the file itself.
    """
    return [finding for finding in open_audit(article).judge() if finding.verdict == FAILED]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mlperf_claims.report.preflight", description=__doc__)
    parser.add_argument("article")
    options = parser.parse_args(arguments)
    try:
        failing = list_failing(options.article)
    except (ArticleError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    lines = [f"claim {finding.id!r} fails: {finding.because}" for finding in failing]
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
