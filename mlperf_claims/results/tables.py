"""Load the CSVs of `data/training` as checked, typed frames."""

import csv
import difflib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mlperf_claims import paths
from mlperf_claims.read.grains import COLUMNS, CONSTANTS, KEYS

INTEGERS = frozenset(
    (
        *(
            "files_read",
            "files_absent",
            "results_left_out",
            "nodes",
            "accelerators_per_node",
            "accelerators_total",
            "logs",
            "logs_absent",
        ),
        *("runs", "dropped", "accepted_sooner", "parameters", "layers", "hidden_size", "tokens_per_sample"),
        *("start_line", "stop_line", "evaluation", "line", "seed", "global_batch_size", "batch_size"),
    )
)
NUMBERS = frozenset(
    (
        *("start_ms", "stop_ms", "init_start_ms", "init_stop_ms", "time_ms"),
        *("bf16_dense_tflops", "fp8_dense_tflops"),
        *("scaling_factor", "converged_at", "progress", "value"),
    )
)
NOT_A_NUMBER_ALLOWED = frozenset(("value",))  # Mask R-CNN logs no single accuracy


class TableError(ValueError):
    """A CSV that is not what `data/README.md` says, with every problem in it."""


def load_results(folder: Path = paths.TRAINING) -> pd.DataFrame:
    """Load one row per (round, organization, system, benchmark); columns as in `data/README.md`."""
    return load_table("results", folder)


def load_runs(folder: Path = paths.TRAINING) -> pd.DataFrame:
    """Load one row per log, with `time_to_train_min`: run_start to run_stop, in minutes; nan where unreadable."""
    runs = load_table("runs", folder)
    return runs.assign(time_to_train_min=(runs["stop_ms"] - runs["start_ms"]) / 60_000)


def load_constants(name: str, folder: Path = paths.DATA) -> pd.DataFrame:
    """Load a table of CONSTANTS: one row per benchmark or accelerator, each with its source."""
    return _load(folder / f"{name}.csv", CONSTANTS[name], CONSTANTS[name][:1])


def load_table(name: str, folder: Path = paths.TRAINING) -> pd.DataFrame:
    """Load one table of `grains.COLUMNS`.

    Returns: a frame sorted by its key; whole numbers as Int64, other numbers as float64, the rest
        as text; an empty cell is missing (text: "").
    Raises: TableError naming file, line, column and value of every cell that does not fit, every
        missing or unknown column, and keys that are there twice.
    """
    frame = _load(folder / f"{name}.csv", COLUMNS[name], KEYS[name])
    return frame.assign(path=_fill_paths(frame)) if name == "runs" else frame


def _fill_paths(runs: pd.DataFrame) -> pd.Series:
    """Return the path of each log, which is stored where a link leads to another than follows from the key."""
    folder = runs["organization"] + "/results/" + runs["system"] + "/" + runs["benchmark"]
    return runs["path"].mask(runs["path"] == "", folder + "/result_" + runs["run"] + ".txt")


def _load(path: Path, columns: Sequence[str], key: Sequence[str]) -> pd.DataFrame:
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, [])
            rows = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path}: {error}, expected a CSV with columns {', '.join(columns)}") from error
    problems = [*_find_column_problems(header, columns)]
    for line, row in rows:
        if len(row) != len(header):
            problems.append(f"line {line}: {len(row)} cells, expected {len(header)}")
    if not problems:
        lines = [line for line, _ in rows]
        cells = pd.DataFrame([row for _, row in rows], columns=header, dtype="str")
        frame = pd.DataFrame({column: _parse_column(cells[column], lines, problems) for column in columns})
        for index in frame.index[frame.duplicated(list(key))]:
            problems.append(f"line {lines[index]}: key {tuple(map(str, frame.loc[index, list(key)]))} again")
    if problems:
        raise TableError("\n".join(f"{path}: {problem}" for problem in problems))
    return frame.sort_values(list(key), ignore_index=True, kind="stable")


def _find_column_problems(found: Iterable[str], wanted: Iterable[str]) -> Iterable[str]:
    if not found:
        yield f"it is empty, expected a CSV with columns {', '.join(wanted)}"
        return
    for column in dict.fromkeys(found):
        if list(found).count(column) > 1:
            yield f"column {column!r} is there {list(found).count(column)} times, expected once"
    for column in wanted:
        if column not in found:
            unknown = [name for name in found if name not in wanted]
            close = difflib.get_close_matches(column, unknown, n=1)
            yield f"no column {column!r}" + (f", found {close[0]!r}" if close else f", found {', '.join(found)}")
    for column in found:
        if column not in wanted and not difflib.get_close_matches(column, set(wanted) - set(found), n=1):
            yield f"unknown column {column!r}, expected {', '.join(wanted)}"


def _parse_column(column: pd.Series, lines: Sequence[int], problems: list[str]) -> pd.Series:
    if column.name not in INTEGERS | NUMBERS:
        return column
    whole = column.name in INTEGERS
    values = _parse_quickly(column, whole=whole)
    return _parse_slowly(column, lines, problems, whole=whole) if values is None else values


def _parse_quickly(column: pd.Series, *, whole: bool) -> pd.Series | None:
    """Parse a column in which nothing is wrong; None if something may be."""
    missing, texts = (column == "").to_numpy(dtype=bool), column.tolist()
    try:
        if whole:
            numbers = np.array([int(text) if text else 0 for text in texts], dtype="int64")
            return pd.Series(pd.arrays.IntegerArray(numbers, missing))
        numbers = np.array([float(text) if text else math.nan for text in texts], dtype="float64")
    except (ValueError, OverflowError):
        return None
    return pd.Series(numbers) if (np.isfinite(numbers) | missing).all() else None


def _parse_slowly(column: pd.Series, lines: Sequence[int], problems: list[str], *, whole: bool) -> pd.Series:
    """Parse a column cell by cell, and name each that does not fit."""
    values = [None] * len(column)
    for index, text in enumerate(column):
        try:
            values[index] = _parse_cell(text, whole=whole)
        except ValueError as error:
            if not (column.name in NOT_A_NUMBER_ALLOWED and text == "nan"):
                problems.append(f"line {lines[index]}: {column.name} is {text!r}, expected {error}")
    return pd.Series(values, dtype="Int64" if whole else "float64")


def _parse_cell(text: str, *, whole: bool) -> int | float | None:
    if text == "":
        return None
    wanted = "a whole number" if whole else "a number"
    try:
        value = int(text) if whole else float(text)
    except ValueError as error:
        raise ValueError(wanted) from error
    if not abs(value) < (2**63 if whole else math.inf):
        raise ValueError(wanted)
    return value
