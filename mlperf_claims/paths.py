"""Where the project's files are, from the package's own location."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
DATA = ROOT / "data"
TRAINING = DATA / "training"
ARTICLES = DATA / "articles"
SOURCES = DATA / "sources.csv"
BENCHMARKS = DATA / "benchmarks.csv"
COMPARABLE = DATA / "comparable.csv"
BUILD = ROOT / "build"
CITATION = ROOT / "CITATION.cff"


def build_dir(article: str) -> Path:
    """Return the folder that holds what `make report` writes for one article."""
    return BUILD / article
