"""Compare `make report` with the plain way, in one run.

    python bench/report.py PLAIN

PLAIN is an environment with jupyterlab, papermill, pandas, altair and nbconvert as pip resolves them,
and this package with its other dependencies, for example:

    python3 -m venv PLAIN
    PLAIN/bin/pip install jupyterlab papermill pandas altair nbconvert
    PLAIN/bin/pip install --editable .

The plain way executes each notebook with the papermill command, one after the other, and converts each
with jupyter nbconvert. `make report` starts from an empty build folder with its environment installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mlperf_claims import paths

TURNS = 2


def main() -> None:
    plain = Path(sys.argv[1]).resolve() / "bin"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run_plain(plain, environment)  # once unmeasured, so that both have their bytecode
    run_make(environment)
    plainly, make = [], []
    for _ in range(TURNS):
        plainly.append(run_plain(plain, environment))
        make.append(run_make(environment))
    notebooks = len(list(paths.NOTEBOOKS.glob("*.ipynb")))
    print("| notebooks | the plain way (s) | make report (s) | ratio |")
    print("|---|---|---|---|")
    print(f"| {notebooks} | {min(plainly):.1f} | {min(make):.1f} | {min(make) / min(plainly):.2f} |")


def run_plain(plain: Path, environment: dict[str, str]) -> float:
    environment = environment | {"PATH": f"{plain}:{environment['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        for notebook in sorted(paths.NOTEBOOKS.glob("*.ipynb")):
            executed = Path(folder) / notebook.name
            call([plain / "papermill", "--cwd", paths.NOTEBOOKS, notebook, executed], environment)
            call([plain / "jupyter", "nbconvert", "--to", "html", executed], environment)
        return time.perf_counter() - start


def run_make(environment: dict[str, str]) -> float:
    shutil.rmtree(paths.BUILD, ignore_errors=True)
    start = time.perf_counter()
    call(["make", "-C", paths.ROOT, "report"], environment)
    return time.perf_counter() - start


def call(command: list, environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    main()
