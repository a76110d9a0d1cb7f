"""The tables that are read from repositories: their columns, keys, and how they are written and compared."""

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]

RESULT_KEY = ("round", "organization", "system", "benchmark")
COLUMNS = {  # the data dictionary, data/README.md, explains each
    "rounds": ("round", "repository", "commit", "files_read", "files_absent", "results_left_out"),
    "results": (
        *RESULT_KEY,
        *("submitter", "system_name", "division", "availability", "accelerator"),
        *("nodes", "accelerators_per_node", "accelerators_total", "framework", "logs", "logs_absent"),
        *("scaling_factor", "system_path", "system_blob", "scaling_path", "scaling_blob"),
    ),
    "runs": (
        *RESULT_KEY,
        *("run", "start_ms", "start_line", "stop_ms", "stop_line", "status", "init_start_ms", "init_stop_ms"),
        *("seed", "global_batch_size", "converged_at", "convergence_unit", "problem", "path", "blob"),
    ),
    "evals": (*RESULT_KEY, "run", "evaluation", "line", "time_ms", "progress", "unit", "metric", "value"),
    "reference_convergence": ("round", "benchmark", "batch_size", "run", "converged_at", "path"),
}
KEYS = {
    "rounds": ("round",),
    "results": RESULT_KEY,
    "runs": (*RESULT_KEY, "run"),
    "evals": (*RESULT_KEY, "run", "evaluation"),
    "reference_convergence": ("round", "benchmark", "batch_size", "run"),
}

CONSTANTS = {  # data/benchmarks.csv and so on, transcribed from published sources
    "benchmarks": ("benchmark", "runs", "dropped", "accepted_sooner", "evaluations", "source"),
    "comparable": ("benchmark", "model", "first_round", "last_round", "source"),
    "makers": ("text", "maker"),
    "models": ("benchmark", "parameters", "layers", "hidden_size", "tokens_per_sample", "source"),
    "peaks": ("accelerator", "bf16_dense_tflops", "fp8_dense_tflops", "source"),
}


class GrainError(ValueError):
    """A table that cannot be written."""


def write_tables(tables: dict[str, list[Row]], folder: Path) -> None:
    """Write every table as CSV; all of them are complete before the first replaces an old one."""
    folder.mkdir(parents=True, exist_ok=True)
    if blocked := [name for name in tables if (folder / f"{name}.csv").is_dir()]:
        raise GrainError(f"{folder / blocked[0]}.csv is a folder, expected a file or nothing")
    waiting = []
    try:
        for name, rows in tables.items():
            temporary = folder / f".{name}.csv.tmp"
            waiting.append((temporary, folder / f"{name}.csv"))
            temporary.write_text(format_table(name, rows), encoding="utf-8", newline="")
        for temporary, final in waiting:
            temporary.replace(final)
    finally:
        for temporary, _ in waiting:
            temporary.unlink(missing_ok=True)


def format_table(name: str, rows: Iterable[Row]) -> str:
    """Return a table as the text of its CSV."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS[name], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def compare_tables(tables: dict[str, list[Row]], folder: Path) -> list[str]:
    """Compare derived tables with the stored ones, byte for byte.

    Returns: a line for each cell that differs (table, key, column, stored, derived) and each row or
        table that only one side has; empty if all bytes are equal.
    """
    lines = []
    for name, rows in tables.items():
        path, derived = folder / f"{name}.csv", format_table(name, rows)
        stored = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        if stored != derived:
            found = list(_compare_rows(name, stored, derived))
            lines += found or [f"{name}: the same cells in other bytes, such as line ends or order"]
    return lines


def _compare_rows(name: str, stored: str, derived: str) -> Iterator[str]:
    sides = [{}, {}]
    for side, text in zip(sides, (stored, derived), strict=True):
        for row in csv.DictReader(io.StringIO(text)):
            side[tuple(row.get(column) for column in KEYS[name])] = row
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        where = f"{name}: {', '.join(map(str, key))}"
        there, here = (side.get(key) for side in sides)
        if there is None or here is None:
            yield f"{where}: {'only derived' if there is None else 'only stored'}"
            continue
        for column in dict.fromkeys([*there, *here]):
            if there.get(column) != here.get(column):
                yield f"{where}: {column} is stored as {there.get(column)!r}, derived as {here.get(column)!r}"
