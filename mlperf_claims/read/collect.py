"""Turn results repositories into the tables of `data/training`."""

import argparse
import csv
import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mlperf_claims import paths
from mlperf_claims.claims import articles
from mlperf_claims.read.grains import COLUMNS, KEYS, RESULT_KEY, GrainError, Row, compare_tables, write_tables
from mlperf_claims.read.repositories import (
    File,
    Source,
    SourceError,
    clone,
    fetch_absent,
    open_source,
    read_files,
    sort_files,
)
from mlperf_claims.read.training_log import Log, LogError, is_number, parse_log
from mlperf_claims.results.benchmarks import load_rules, rule_of

SHOWN = 50  # differences that are printed one by one
UNREADABLE = object()  # the content of a file whose problem has been said
READERS = 2  # processes that parse logs, each with a git of its own beside it

SYSTEM_TEXTS = {  # column: field of the system description
    "submitter": "submitter",
    "system_name": "system_name",
    "division": "division",
    "availability": "status",
    "accelerator": "accelerator_model_name",
    "framework": "framework",
}
SYSTEM_NUMBERS = {"nodes": "number_of_nodes", "accelerators_per_node": "accelerators_per_node"}

_ROUND = re.compile(r"training_results_(v\d+\.\d+)")
_LOG = re.compile(r"([^/]+)/results/([^/]+)/([^/]+)/result_([^/]+)\.txt")
_SCALING = re.compile(r"([^/]+)/results/([^/]+)/([^/]+)/scaling\.json")
_SYSTEM = re.compile(r"([^/]+)/systems/([^/]+)\.json")
_RESULTS = re.compile(r"[^/]+(/results(/|$)|/systems(/|$)|$)")
_STRAY = re.compile(r"/result_[^/]*\.txt(/|$)")
_REFERENCE = re.compile(r"(?:.*/)?training_(\d+\.\d+)\.0/rcps_([^/]+)\.json")
_WANTED = re.compile("|".join(f"(?:{pattern.pattern})" for pattern in (_LOG, _SCALING, _SYSTEM, _REFERENCE)))


class CollectError(ValueError):
    """Everything that stops the tables from being written, a line each."""


@dataclass
class Collected:
    """The tables being filled, and what a reader has to be told about them."""

    tables: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def collect(sources: Iterable[Source], *, evals_of: frozenset[tuple[str, str]]) -> Collected:
    """Read results repositories and reference convergence points into tables.

    Args:
        sources: results repositories, named training_results_v…, and at most one source of
            reference points; any other is named in the notes.
        evals_of: (round, benchmark) pairs whose evaluation points are kept.
    Returns: tables sorted by key, columns as in COLUMNS; notes on what was left out.
    Raises: CollectError listing every file that cannot be used.
    """
    collected = Collected()
    rounds, references, reading = set(), [], []
    readers = ProcessPoolExecutor(READERS, initializer=_begin_reader, initargs=(os.getpid(),))
    try:
        for source in sources:
            if match := _ROUND.fullmatch(source.name):
                rounds.add(round_ := match[1])
                bare = replace(source, files=(), absent=frozenset())  # each part brings its files
                reading += [readers.submit(_read_runs, bare, round_, part, evals_of) for part in _split_logs(source)]
                _collect_round(collected, source, round_)
            elif any(_REFERENCE.fullmatch(file.path) for file in source.files):
                references.append(source)
            else:
                collected.notes.append(f"{source.root}: not read, expected a name like training_results_v5.0")
        for runs, evals in (part.result() for part in reading):
            collected.tables["runs"] += runs
            collected.tables["evals"] += evals
    finally:
        readers.shutdown(cancel_futures=True)
    _judge_unreadable(collected)
    if not rounds:
        collected.problems.append("no results repository found, expected folders named like training_results_v5.0")
    for source in references:
        _collect_references(collected, source, rounds)
    if collected.problems:
        raise CollectError("\n".join(collected.problems))
    for name, rows in collected.tables.items():
        rows.sort(key=lambda row: tuple(row[column] for column in KEYS[name]))
        _check_unique(name, rows)
    return collected


def open_sources(raw: Path) -> Iterator[Source]:
    """Open a results repository, or each folder of a folder of them, in order of name."""
    if not raw.is_dir():
        raise SourceError(f"{raw}: no such folder, expected a folder of results repositories")
    if _ROUND.fullmatch(raw.resolve().name.removesuffix(".git")):
        yield open_source(raw)
    else:
        yield from (open_source(folder) for folder in sorted(raw.iterdir()) if folder.is_dir())


def clone_sources(pins: Iterable[Row], target: Path) -> list[Source]:
    """Clone the pinned repositories and fetch just the files that are read, in one batch each."""
    sources = []
    for pin in pins:
        folder = target / f"{pin['name']}.git"
        clone(pin["repository"], folder, commit=pin["commit"])
        source = open_source(folder, commit=pin["commit"])
        print(f"{source.name}: {sum(map(is_wanted, source.files))} files at {source.commit[:12]}", file=sys.stderr)
        while (fetched := fetch_absent(source, list(filter(is_wanted, source.files)))) != source:
            source = fetched  # links may lead to more
        sources.append(source)
    return sources


def load_pins(path: Path = paths.SOURCES) -> list[Row]:
    """Load `data/sources.csv`: one row per public repository, with the commit that is audited.

    Raises: CollectError if it cannot be read, or a row lacks its name, repository or commit.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            pins = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CollectError(f"{path}: {error}, expected a CSV of name, repository and commit") from error
    for line, pin in enumerate(pins, start=2):
        for column in ("name", "repository", "commit"):
            if not pin.get(column):
                raise CollectError(f"{path} line {line}: no {column}, expected name, repository and commit")
    return pins


def is_wanted(file: File) -> bool:
    """Tell the files that are read, by their path, from whatever else a repository holds."""
    return _WANTED.fullmatch(file.path) is not None


def _collect_round(collected: Collected, source: Source, round_: str) -> None:
    wanted = [file for file in source.files if is_wanted(file)]
    present = [file for file in wanted if file.blob not in source.absent]
    logs = _group(wanted, _LOG)
    if stray := [file.path for file in source.files if _STRAY.search(file.path) and not _LOG.fullmatch(file.path)]:
        collected.notes.append(f"{source.name}: {len(stray)} files named result_… that are no logs: {_some(stray)}")
    if unread := [file.path for file in source.files if not file.blob and _RESULTS.match(file.path)]:
        collected.notes.append(
            f"{source.name}: {len(unread)} links or submodules that lead to no file here: {_some(unread)}"
        )
    for file in wanted:
        if not file.path.isprintable():
            collected.problems.append(f"{source.name}: {file.path!r}, expected a path in printable UTF-8")
    if not logs:
        collected.problems.append(
            f"{source.root}: no log, expected <organization>/results/<system>/<benchmark>/result_0.txt"
        )
    systems = _read_jsons(collected, source, {key: files[0] for key, files in _group(wanted, _SYSTEM).items()})
    scalings = _read_jsons(collected, source, {key: files[0] for key, files in _group(wanted, _SCALING).items()})
    for key, files in sorted(logs.items()):
        row = dict(zip(RESULT_KEY, (round_, *key), strict=True))
        row |= _describe_system(collected, source, key, systems.get(key[:2]))
        row |= _describe_scaling(collected, source, scalings.get(key))
        row |= {"logs": len(files), "logs_absent": sum(file.blob in source.absent for file in files)}
        if row["logs_absent"]:
            absent = [file.path for file in files if file.blob in source.absent]
            collected.notes.append(f"{source.name}: {len(absent)} of {len(files)} logs absent: {_some(absent)}")
        collected.tables["results"].append(row)
    for benchmark in sorted({key[2] for key in logs} - load_rules().keys()):
        collected.notes.append(
            f"{source.name}: no rule for {benchmark} in {paths.BENCHMARKS.name}, the general one is used"
        )
    collected.tables["rounds"].append(
        {
            **{"round": round_, "repository": source.url, "commit": source.commit},
            **{"files_read": len(present), "files_absent": len(wanted) - len(present)},
        }
    )


def _split_logs(source: Source) -> Iterator[list[File]]:
    """Split the logs of a source into as many parts as there are readers, each fast to read."""
    logs = sort_files(source, (f for f in source.files if f.blob not in source.absent and _LOG.fullmatch(f.path)))
    size = -(-len(logs) // READERS)
    return (logs[at : at + size] for at in range(0, len(logs), size or 1))


def _begin_reader(parent: int) -> None:
    """Let a reader leave Ctrl-C to its parent, and end when that has ended, since nobody else would end it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _read_runs(
    source: Source, round_: str, files: Sequence[File], evals_of: frozenset[tuple[str, str]]
) -> tuple[list[Row], list[Row]]:
    """Read logs into rows of the tables runs and evals."""
    runs, evals = [], []
    for file, text in read_files(source, files):
        organization, system, benchmark, run = _LOG.fullmatch(file.path).groups()
        key = dict(zip(RESULT_KEY, (round_, organization, system, benchmark), strict=True)) | {"run": run}
        row = key | {"path": file.content_path, "blob": file.blob}
        try:
            log = parse_log(text, all_evaluations=(round_, benchmark) in evals_of)
        except LogError as error:
            row["problem"] = str(error)
        else:
            row |= _describe_run(log)
            if (round_, benchmark) in evals_of:
                evals += _describe_evals(key, log)
        runs.append(row)
    return runs, evals


def _judge_unreadable(collected: Collected) -> None:
    """Tell the unreadable logs that leave a score from those that do not."""
    unreadable = defaultdict(list)
    for row in collected.tables["runs"]:
        if row["problem"]:
            message = f"training_results_{row['round']}: {row['path']}: {row['problem']}"
            unreadable[tuple(row[column] for column in RESULT_KEY)].append(message)
    for (*_, benchmark), messages in sorted(unreadable.items()):
        # one unreadable log can stand for the run that did not converge; more leave no score
        usable = len(messages) <= rule_of(benchmark).dropped
        (collected.notes if usable else collected.problems).extend(sorted(messages))


def _describe_run(log: Log) -> Row:
    names = ("start_ms", "start_line", "stop_ms", "stop_line", "status", "init_start_ms", "init_stop_ms")
    names += ("seed", "global_batch_size", "converged_at", "convergence_unit")
    return {name: getattr(log, name) for name in names} | {"problem": ""}


def _describe_evals(key: Row, log: Log) -> Iterator[Row]:
    for number, one in enumerate(log.evaluations):
        facts = {name: getattr(one, name) for name in ("line", "time_ms", "progress", "unit", "metric", "value")}
        yield key | {"evaluation": number} | facts


def _describe_system(collected: Collected, source: Source, key: tuple, found: tuple[File, Any] | None) -> Row:
    path, problems = f"{key[0]}/systems/{key[1]}.json", collected.problems
    if found is None:
        problems.append(f"{source.name}: no {path}, expected the system description of {'/'.join(key)}")
        return {}
    file, description = found
    if description is UNREADABLE:
        return {}
    if not isinstance(description, dict):
        problems.append(f"{source.name}: {path}: {description!r:.60}, expected a JSON object")
        return {}
    row = {"system_path": file.content_path, "system_blob": file.blob}
    for column, name in SYSTEM_TEXTS.items():
        text = description.get(name)
        if not isinstance(text, str) or not (text := " ".join(text.split())).isprintable():
            problems.append(f"{source.name}: {path}: {name} is {text!r:.60}, expected text")
        row[column] = text
    for column, name in SYSTEM_NUMBERS.items():
        row[column] = _parse_count(description.get(name))
        if row[column] is None:
            shown = f"{description.get(name)!r:.60}"
            problems.append(f"{source.name}: {path}: {name} is {shown}, expected a whole number")
    row["accelerators_total"] = (row["nodes"] or 0) * (row["accelerators_per_node"] or 0)
    return row


def _parse_count(value: Any) -> int | None:  # noqa: ANN401 - whatever JSON holds
    """Return a count given as a number or, as most descriptions do, as its text; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,9}(\.0*)?\s*", value, re.ASCII):
        return int(float(value))
    return int(value) if is_number(value) and 0 <= value < 1e9 and value == int(value) else None


def _describe_scaling(collected: Collected, source: Source, found: tuple[File, Any] | None) -> Row:
    if found is None or found[1] is UNREADABLE:
        return {}
    file, content = found
    factor = content.get("scaling_factor") if isinstance(content, dict) else content
    if not isinstance(content, dict) or not is_number(factor) or factor <= 0:
        shown = f"scaling_factor is {factor!r:.60}"
        collected.problems.append(f"{source.name}: {file.path}: {shown}, expected a number above 0")
    return {"scaling_factor": factor, "scaling_path": file.content_path, "scaling_blob": file.blob}


def _collect_references(collected: Collected, source: Source, rounds: set[str]) -> None:
    files = {key: found for key, found in _group(source.files, _REFERENCE).items() if f"v{key[0]}" in rounds}
    for several in (found for found in files.values() if len(found) > 1):
        collected.problems.append(f"{source.name}: {_some([file.path for file in several])}, expected one of them")
    read = _read_jsons(collected, source, {key: found[0] for key, found in files.items()})
    for (ruleset, benchmark), (file, points) in sorted(read.items()):
        if points is UNREADABLE:
            continue
        try:
            rows = list(_list_reference_runs(points))
        except (KeyError, TypeError, AttributeError) as error:
            wanted = "points with BS and a list of numbers, Epochs to converge"
            collected.problems.append(f"{source.name}: {file.path}: {error}, expected {wanted}")
        else:
            # from that folder on, which a clone of the whole repository has further down than a copy of it
            path = f"training_{ruleset}.0/rcps_{benchmark}.json"
            at = {"round": f"v{ruleset}", "benchmark": benchmark, "path": path}
            collected.tables["reference_convergence"] += [at | row for row in rows]


def _list_reference_runs(points: dict[str, Any]) -> Iterator[Row]:
    runs_so_far = Counter()
    for name, point in points.items():
        batch_size = point["BS"]
        if not is_number(batch_size) or batch_size != int(batch_size):
            raise TypeError(f"{name} has BS {batch_size!r}")
        for value in point.get("Epochs to converge") or point["samples to converge"]:
            if not is_number(value):
                raise TypeError(f"{name} converges at {value!r}")
            yield {"batch_size": batch_size, "run": runs_so_far[batch_size], "converged_at": value}
            runs_so_far[batch_size] += 1


def _read_jsons(collected: Collected, source: Source, files: dict[tuple, File]) -> dict[tuple, tuple[File, Any]]:
    present = {key: file for key, file in sorted(files.items()) if file.blob not in source.absent}
    for key in sorted(files.keys() - present.keys()):
        collected.problems.append(f"{source.name}: {files[key].path} is absent from this clone, expected its content")
    read = {}
    for key, (file, text) in zip(present, read_files(source, list(present.values())), strict=True):
        try:
            read[key] = (file, json.loads(text.decode("utf-8-sig")))
        except (ValueError, RecursionError) as error:
            collected.problems.append(f"{source.name}: {file.path}: {error}, expected JSON in UTF-8")
            read[key] = (file, UNREADABLE)
    return read


def _group(files: Sequence[File], pattern: re.Pattern) -> dict[tuple, list[File]]:
    """Return the files whose path matches, by the folders the pattern captures (three at most)."""
    grouped = defaultdict(list)
    for file in files:
        if match := pattern.fullmatch(file.path):
            grouped[match.groups()[:3]].append(file)
    return dict(grouped)


def _check_unique(name: str, rows: list[Row]) -> None:
    keys = [tuple(row[column] for column in KEYS[name]) for row in rows]
    if twice := sorted({str(key) for key in keys if keys.count(key) > 1}) if len(set(keys)) < len(keys) else []:
        raise CollectError(f"{name}: {len(twice)} keys more than once: {_some(twice)}")


def _some(names: Sequence[str], *, most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mlperf_claims.read.collect", description=__doc__)
    parser.add_argument("--raw", type=Path, help="folder of results repositories; without it they are cloned")
    parser.add_argument("--clones", type=Path, default=paths.BUILD / "raw", help="where to clone them")
    parser.add_argument(
        "--pins", type=Path, default=paths.SOURCES, help="which repositories to clone, at which commits"
    )
    parser.add_argument("--out", type=Path, default=paths.TRAINING)
    parser.add_argument("--check", action="store_true", help="compare with what is there instead of writing")
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # which may be less than UTF-8, and names of files are anything
        stream.reconfigure(errors="backslashreplace")
    try:
        sources = open_sources(options.raw) if options.raw else clone_sources(load_pins(options.pins), options.clones)
        collected = collect(sources, evals_of=articles.load_benchmarks())
        if options.check:
            return _report_differences(compare_tables(collected.tables, options.out), options.out)
        dropped = _list_dropped(collected, options.out)
        write_tables(collected.tables, options.out)
    except (SourceError, CollectError, GrainError, articles.ArticleError, OSError, BrokenProcessPool) as error:
        print(error, file=sys.stderr)
        print("nothing was written", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped, nothing was written", file=sys.stderr)
        return 130
    for note in [*collected.notes, *dropped]:
        print(f"note: {note}")
    _print_totals(collected)
    return 0


def _list_dropped(collected: Collected, folder: Path) -> list[str]:
    """Name the rounds that the tables to be replaced hold and the new ones do not."""
    path, kept = folder / "rounds.csv", {row["round"] for row in collected.tables["rounds"]}
    if not path.is_file():
        return []
    try:
        with path.open(newline="", encoding="utf-8", errors="replace") as stream:
            before = [row.get("round") for row in csv.DictReader(stream)]
    except csv.Error:
        return [f"{path}: was no CSV, and is replaced"]
    return [f"{path}: round {round_} was there, and is not in what was read" for round_ in before if round_ not in kept]


def _report_differences(lines: Sequence[str], folder: Path) -> int:
    for line in lines[:SHOWN]:
        print(line)
    if len(lines) > SHOWN:
        print(f"and {len(lines) - SHOWN} more")
    print(f"{folder}: differences from what the repositories give: {len(lines)}")
    return bool(lines)


def _print_totals(collected: Collected) -> None:
    for row in collected.tables["rounds"]:
        runs = [run for run in collected.tables["runs"] if run["round"] == row["round"]]
        results = [result for result in collected.tables["results"] if result["round"] == row["round"]]
        left_out = sum(bool(run.get("problem")) for run in runs)
        print(f"{row['round']}: {len(runs)} logs in {len(results)} results, {left_out} logs unreadable, "
              f"{row['files_absent']} files absent")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
