"""Execute one notebook with Papermill and leave a copy that says only what it found."""

import argparse
import json
import logging
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import papermill
from papermill.exceptions import PapermillExecutionError

from mlperf_claims import paths
from mlperf_claims.claims.articles import NoClaims
from mlperf_claims.report.parameters import TAG

CELL_LIMIT_S = 600  # a cell that takes longer fails
logging.getLogger("papermill").setLevel(logging.ERROR)  # it calls an annotated parameter unknown, and sets it
_CELL_FILE = re.compile(r"\S*ipykernel_\d+[/\\]\d+\.py")  # what a warning calls the cell it comes from
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def run_notebook(notebook: Path, parameters: Path, executed: Path) -> str:
    """Execute a notebook in its own folder.

    Args:
        parameters: JSON file of names and values; every name is in the notebook's parameters cell.
        executed: written whole, also when a cell fails.
    Returns: what failed, in a line; empty if nothing did.
    """
    values = json.loads(parameters.read_text(encoding="utf-8"))
    executed.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=executed.parent, prefix=".running-") as folder:
        running = Path(folder) / executed.name
        failure = _execute(notebook, values, running)
        content = json.loads((running if running.is_file() else notebook).read_text(encoding="utf-8"))
        if NoClaims.__name__ in [output.get("ename") for output in _list_outputs(content)]:
            failure, content = "", _end_early(content)
        failure = " ".join((failure or _find_unfinished(content)).split())
        if failure and not any(output["output_type"] == "error" for output in _list_outputs(content)):
            content["cells"].append(_make_error(failure))
        running.write_text(json.dumps(strip_noise(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        running.replace(executed)
    return failure


def _execute(notebook: Path, values: dict, running: Path) -> str:
    try:
        papermill.execute_notebook(
            str(notebook),
            str(running),
            values,
            cwd=str(paths.NOTEBOOKS),
            progress_bar=False,
            request_save_on_cell_execute=False,
            autosave_cell_every=0,
            execution_timeout=CELL_LIMIT_S,
            extra_arguments=["--IPKernelApp.log_level=CRITICAL"],  # it warns at every start and every stop
        )
    except PapermillExecutionError as error:
        return f"cell {error.exec_count}: {error.ename}: {error.evalue}"
    except Exception as error:  # a kernel that died, say: whatever it is, the report says so
        return f"{type(error).__name__}: {error}"
    return ""


def strip_noise(notebook: dict) -> dict:
    """Return an executed notebook without times, paths and random ids: the same inputs, the same bytes."""
    kept = {"kernelspec": notebook["metadata"].get("kernelspec", {})}
    cells = [_strip_cell(cell) for cell in notebook["cells"] if not _is_papermill_error(cell)]
    return {**notebook, "cells": cells, "metadata": kept}


def _strip_cell(cell: dict) -> dict:
    tags = cell["metadata"].get("tags", [])
    id_ = "injected-parameters" if f"injected-{TAG}" in tags else cell["id"]
    kept = {**cell, "id": id_, "metadata": {"tags": tags} if tags else {}}
    return kept | {"outputs": [_strip_output(output) for output in cell["outputs"]]} if "outputs" in cell else kept


def _strip_output(output: dict) -> dict:
    if "text" in output:
        return output | {"text": _strip_text(output["text"])}
    plain = output.get("data", {}).get("text/plain")
    return output | {"data": output["data"] | {"text/plain": _strip_text(plain)}} if plain else output


def _strip_text(text: str | list[str]) -> str | list[str]:
    if isinstance(text, list):
        return [_strip_text(line) for line in text]
    return _ADDRESS.sub("0x…", _CELL_FILE.sub("a cell", text))


def _is_papermill_error(cell: dict) -> bool:
    return any(tag.startswith("papermill-error") for tag in cell["metadata"].get("tags", []))


def _list_outputs(notebook: dict) -> list[dict]:
    return [output for cell in notebook["cells"] for output in cell.get("outputs", ())]


def _end_early(notebook: dict) -> dict:
    """Return a notebook that had nothing to audit, up to the cell that says so."""
    cells = [cell for cell in notebook["cells"] if not _is_papermill_error(cell)]
    for place, cell in enumerate(cells):
        for output in cell.get("outputs", ()):
            if output.get("ename") == NoClaims.__name__:
                said = {"data": {"text/markdown": output["evalue"]}, "metadata": {}, "output_type": "display_data"}
                return {**notebook, "cells": [*cells[:place], {**cell, "outputs": [said]}]}
    return notebook


def _find_unfinished(notebook: dict) -> str:
    """Say where a notebook stopped that papermill takes for finished, since a cell raised SystemExit."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]
    left = [cell for cell in code if cell["execution_count"] is None]
    raised = [output["ename"] for output in _list_outputs(notebook) if output["output_type"] == "error"]
    return f"{', '.join(raised)}: stopped with {len(left)} of {len(code)} cells not run" if left or raised else ""


def _make_error(failure: str) -> dict:
    name, _, value = failure.partition(": ")
    output = {"output_type": "error", "ename": name, "evalue": value, "traceback": []}
    cell = {"cell_type": "code", "id": "failure", "metadata": {}, "source": "# the notebook did not finish"}
    return cell | {"execution_count": None, "outputs": [output]}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mlperf_claims.report.execute", description=__doc__)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("parameters", type=Path)
    parser.add_argument("executed", type=Path)
    options = parser.parse_args(arguments)
    start = time.monotonic()
    failure = run_notebook(options.notebook, options.parameters, options.executed)
    if failure:
        options.parameters.unlink(missing_ok=True)  # make writes it anew, and so runs the notebook again
    outcome = f"FAILED in {failure}" if failure else "done"
    print(f"{options.notebook.stem:<18} {time.monotonic() - start:5.1f} s  {outcome}")
    return 0  # a failed notebook is marked in the report, which make then refuses


if __name__ == "__main__":
    sys.exit(main())
