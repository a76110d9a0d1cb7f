"""Compare our scores, and the time they take, with MLCommons' own summarizer.

    python bench/oracle.py ORACLE RAW [ROUND ...]

ORACLE is an environment of its own with `pip install mlperf-logging`; RAW holds results repositories.
For each round the files are copied out, since the summarizer writes into the folder it reads. It
runs once over each submitter's folder, as it wants them; then `python -m mlperf_claims.read.collect` on
the repository and the scoring of the whole of `data/training` run once.
"""

import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote

from mlperf_claims.read.collect import is_wanted
from mlperf_claims.read.repositories import open_source, read_files
from mlperf_claims.results.select import load_submissions

SCORING = "from mlperf_claims.results.select import load_submissions; load_submissions()"
Scores = dict[tuple[str, str, str], float]  # by submitter, system, benchmark


def main() -> None:
    oracle, raw = Path(sys.argv[1]) / "bin" / "python", Path(sys.argv[2])
    print("| round | our results | theirs | equal to 1e-9 | summarizer (s) | collect and score (s) | times faster |")
    print("|---|---|---|---|---|---|---|")
    for round_ in sys.argv[3:] or ["v5.0"]:
        with tempfile.TemporaryDirectory() as folder:
            measure(oracle.absolute(), raw / f"training_results_{round_}.git", round_, Path(folder))


def measure(oracle: Path, root: Path, round_: str, folder: Path) -> None:
    copy(root, folder / "copy")
    start = time.perf_counter()
    found = {
        key: score for each in sorted((folder / "copy").iterdir()) for key, score in summarize(oracle, each, round_)
    }
    theirs = time.perf_counter() - start
    start = time.perf_counter()
    collect = [sys.executable, "-m", "mlperf_claims.read.collect", "--raw", str(root), "--out", str(folder / "out")]
    subprocess.run(collect, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-c", SCORING], check=True)
    ours = time.perf_counter() - start
    own = load_own(round_)
    differing = {key for key in own.keys() | found.keys() if not abs(own.get(key, -1) / found.get(key, 1) - 1) < 1e-9}
    for key in sorted(differing):
        print(f"{', '.join(key)}: ours {own.get(key)}, theirs {found.get(key)}", file=sys.stderr)
    equal = len(own.keys() | found.keys()) - len(differing)
    print(f"| {round_} | {len(own)} | {len(found)} | {equal} | {theirs:.0f} | {ours:.1f} | {theirs / ours:.0f} |")


def copy(root: Path, target: Path) -> None:
    source = open_source(root)
    for file, text in read_files(source, [file for file in source.files if is_wanted(file)]):
        (target / file.path).parent.mkdir(parents=True, exist_ok=True)
        (target / file.path).write_bytes(text)


def summarize(oracle: Path, submitter: Path, round_: str) -> list[tuple[tuple[str, str, str], float]]:
    """Run the summarizer on one submitter's folder and return its scores."""
    table = submitter.parent.parent / f"{submitter.name}.csv"
    command = [oracle, "-m", "mlperf_logging.result_summarizer", "--quiet", submitter, "training", f"{round_[1:]}.0"]
    subprocess.run([*command, "--csv", table], check=False, capture_output=True, cwd=submitter.parent.parent)
    if not table.is_file():
        print(f"{submitter.name}: the summarizer wrote no table", file=sys.stderr)
        return []
    with table.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return [
        (
            (row["submitter"], unquote(row["details_url"].rpartition("/")[2].removesuffix(".json")), benchmark),
            float(score),
        )
        for row in rows
        for benchmark, score in list(row.items())[list(row).index("private_id") + 1 :]
        if score and not benchmark.endswith("_url")
    ]


def load_own(round_: str) -> Scores:
    submissions = load_submissions()[0]
    mine = submissions[(submissions["round"] == round_) & (submissions["no_score"] == "")]
    return dict(
        zip(zip(mine["submitter"], mine["system"], mine["benchmark"], strict=True), mine["official_min"], strict=True)
    )


if __name__ == "__main__":
    main()
