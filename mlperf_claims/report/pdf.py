"""Print a page as PDF with the Chromium that is installed."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser")
HOW_TO_GET_ONE = "install one (apt-get install chromium), or name a browser of its kind in CHROMIUM"
PATIENCE_S = 300


class PdfError(RuntimeError):
    """A page that could not be printed."""


def find_browser() -> str | None:
    """Return the path of the browser named in CHROMIUM, or of the first of BROWSERS; None if there is none."""
    return next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *BROWSERS))), None)


def print_page(page: Path, target: Path) -> None:
    """Print a page, with its static charts; the target is written whole or not at all.

    Raises: PdfError if there is no Chromium or no page, or Chromium does not print it.
    """
    if not page.is_file():
        raise PdfError(f"no {page}, expected a report: run make report")
    if (browser := find_browser()) is None:
        raise PdfError(f"found none of {', '.join(BROWSERS)}, expected a Chromium: {HOW_TO_GET_ONE}")
    alone = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # it refuses root otherwise
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        printed = Path(folder) / target.name
        command = [browser, "--headless", *alone, "--disable-gpu", "--disable-background-networking"]
        command += [f"--user-data-dir={folder}/profile", "--no-pdf-header-footer", f"--print-to-pdf={printed}"]
        done = subprocess.run([*command, page.resolve().as_uri()], capture_output=True, timeout=PATIENCE_S, check=False)
        if done.returncode or not printed.is_file():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise PdfError(f"{browser} wrote no PDF of {page}: {said[-1] if said else f'status {done.returncode}'}")
        printed.replace(target)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mlperf_claims.report.pdf", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("target", type=Path)
    options = parser.parse_args(arguments)
    try:
        print_page(options.page, options.target)
    except (PdfError, OSError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1
    print(options.target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
