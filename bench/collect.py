"""Compare `make data` with git's own reading of the same files.

    python bench/collect.py RAW [REPOSITORY ...]

For each results repository in RAW, and for all of them together: wall time of
`python -m mlperf_claims.read.collect` over wall time of `git cat-file --batch` on the same blobs into
/dev/null, the best of five each, turn by turn; and the peak memory of all its processes together.
"""

import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from mlperf_claims.read.collect import is_wanted
from mlperf_claims.read.repositories import File, Source, open_source

TURNS = 5


def main() -> None:
    raw = Path(sys.argv[1])
    names = sys.argv[2:] or sorted(path.name for path in raw.iterdir() if path.name.startswith("training_results_"))
    print("| repositories | files | MB | git cat-file (s) | collect (s) | ratio | peak memory (MB) |")
    print("|---|---|---|---|---|---|---|")
    for group in [*([name] for name in names), *([names] if len(names) > 1 else [])]:
        measure([raw / name for name in group])


def measure(roots: list[Path]) -> None:
    blobs = {}
    for root in roots:
        source = open_source(root)
        blobs[root] = "".join(f"{file.blob}\n" for file in list_present(source)).encode()
    size = sum(
        sum(map(int, ask(root, "--batch-check=%(objectsize)", wanted).split())) for root, wanted in blobs.items()
    )
    reading, collecting, peak = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        links = Path(folder) / "raw"
        links.mkdir()
        for root in roots:
            (links / root.name).symlink_to(root.resolve())
        command = [sys.executable, "-m", "mlperf_claims.read.collect", "--raw", str(links), "--out", f"{folder}/out"]
        for _ in range(TURNS):
            start = time.perf_counter()
            for root, wanted in blobs.items():
                ask(root, "--batch", wanted, into=subprocess.DEVNULL)
            reading.append(time.perf_counter() - start)
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            collecting.append(time.perf_counter() - start)
        peak = peak_bytes(command)
    files = sum(wanted.count(b"\n") for wanted in blobs.values())
    names = ", ".join(root.name.removeprefix("training_results_").removesuffix(".git") for root in roots)
    ratio = min(collecting) / min(reading)
    print(f"| {names} | {files:,} | {size / 1e6:.0f} | {min(reading):.2f} | {min(collecting):.2f} "
          f"| {ratio:.2f} | {peak / 1e6:.0f} |")  # fmt: skip


def list_present(source: Source) -> list[File]:
    """Return the files that are read; for one that a partial clone lacks, git would ask the web."""
    return [file for file in source.files if is_wanted(file) and file.blob not in source.absent]


def ask(root: Path, option: str, wanted: bytes, into: int = subprocess.PIPE) -> bytes:
    command = ["git", "-C", root, "cat-file", option]
    return subprocess.run(command, input=wanted, stdout=into, check=True).stdout or b""


def peak_bytes(command: list[str]) -> int:
    """Return the largest sum of memory that the command's processes held at once, sampled every 5 ms."""
    running = psutil.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while running.poll() is None:
        held = 0
        for process in (running, *running.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                held += process.memory_info().rss
        peak = max(peak, held)
        time.sleep(0.005)
    return peak


if __name__ == "__main__":
    main()
