"""Turn results repositories into the tables of `data/training`."""

import argparse
import csv
import difflib
import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from mlperf_claims import paths
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

SHOWN = 50  # differences that are printed one by one
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
_OTHER_SUITE = re.compile(r"(?!training_)[a-z]+_results_v\d")
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


class _Read(NamedTuple):
    """A JSON file: what is in it, or why that could not be read."""

    file: File
    content: Any
    problem: str = ""


def collect(sources: Iterable[Source], *, evaluations: Mapping[str, bool]) -> Collected:
    """Read results repositories and reference convergence points into tables.

    A result whose system description or scaling factor cannot be read is left out, named in the notes
    and counted in `rounds`; the others are read.

    Args:
        sources: results repositories, named training_results_v…, and at most one source of
            reference points; any other is named in the notes.
        evaluations: the benchmarks that are known, and whether their evaluations are kept.
    Returns: tables sorted by key, columns as in COLUMNS; notes on what was left out.
    Raises: CollectError listing every repository of which nothing can be used, and why.
    """
    collected = Collected()
    rounds, references, passed, reading = set(), [], [], []
    kept = frozenset(benchmark for benchmark, keep in evaluations.items() if keep)
    readers = ProcessPoolExecutor(READERS, initializer=_begin_reader, initargs=(os.getpid(),))
    try:
        for source in sources:
            if source.root.is_dir() and (match := _ROUND.fullmatch(source.name)):
                rounds.add(round_ := match[1])
                logs = _collect_round(collected, source, round_, evaluations.keys())
                bare = replace(source, files=(), absent=frozenset())  # each part brings its files
                reading += [readers.submit(_read_runs, bare, round_, part, kept) for part in _split_logs(source, logs)]
            elif any(_REFERENCE.fullmatch(file.path) for file in source.files):
                references.append(source)
            else:
                passed.append(source.root.name)
                collected.notes.append(f"{source.root}: not read, {_explain_passing(source)}")
        for runs, evals in (part.result() for part in reading):
            collected.tables["runs"] += runs
            collected.tables["evals"] += evals
    finally:
        readers.shutdown(cancel_futures=True)
    if not rounds:
        found = f"; passed over: {_some(passed)}" if passed else ""
        wanted = "expected folders named like training_results_v5.0"
        collected.problems.append(f"no results repository found, {wanted}{found}")
    for source in references:
        _collect_references(collected, source, rounds)
    if collected.problems:
        raise CollectError("\n".join(collected.problems))
    for name, rows in collected.tables.items():
        rows.sort(key=lambda row: tuple(row[column] for column in KEYS[name]))
        _check_unique(name, rows)
    collected.notes += _list_unreadable(collected.tables["runs"])
    return collected


def open_sources(raw: Path) -> Iterator[Source]:
    """Open a results repository, or each folder of a folder of them, in order of name.

    A repository goes by the name it is given, also where that is a link. What is no folder, and what is of
    another suite, is listed without its files.
    """
    if not raw.is_dir():
        raise SourceError(f"{raw}: no such folder, expected a folder of results repositories")
    if _ROUND.fullmatch(Source(raw).name):
        yield open_source(raw)
        return
    for path in sorted(raw.iterdir()):
        yield open_source(path) if path.is_dir() and not _OTHER_SUITE.match(path.name) else Source(path)


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


def load_evaluations(path: Path = paths.BENCHMARKS) -> dict[str, bool]:
    """Load from `data/benchmarks.csv` which benchmarks are known, and whether their evaluations are kept.

    Raises: CollectError if it cannot be read, or a row says neither yes nor no.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CollectError(f"{path}: {error}, expected a CSV of benchmark and evaluations") from error
    for line, row in enumerate(rows, start=2):
        if not row.get("benchmark") or row.get("evaluations") not in ("yes", "no"):
            found = f"benchmark {row.get('benchmark')!r} with evaluations {row.get('evaluations')!r}"
            raise CollectError(f"{path} line {line}: {found}, expected a name with yes or no")
    return {row["benchmark"]: row["evaluations"] == "yes" for row in rows}


def is_wanted(file: File) -> bool:
    """Tell the files that are read, by their path, from whatever else a repository holds."""
    return _WANTED.fullmatch(file.path) is not None


def _explain_passing(source: Source) -> str:
    if _OTHER_SUITE.match(source.root.name):
        return "results of this suite are not read yet"
    if not source.root.is_dir():
        return "a link that leads to no folder" if source.root.is_symlink() else "expected a folder"
    return "expected a name like training_results_v5.0"


def _collect_round(collected: Collected, source: Source, round_: str, known: Iterable[str]) -> list[File]:
    """Describe the results of a repository; return the logs of those that are not left out."""
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
    described, left_out = _describe_results(source, wanted, logs.keys())
    for key, facts in described.items():
        row = dict(zip(RESULT_KEY, (round_, *key), strict=True)) | facts
        row |= {"logs": len(logs[key]), "logs_absent": sum(file.blob in source.absent for file in logs[key])}
        if row["logs_absent"]:
            absent = [file.path for file in logs[key] if file.blob in source.absent]
            collected.notes.append(f"{source.name}: {len(absent)} of {len(logs[key])} logs absent: {_some(absent)}")
        collected.tables["results"].append(row)
    (collected.notes if described else collected.problems).extend(f"{source.name}: {line}" for line in left_out)
    for benchmark in sorted({benchmark for *_, benchmark in described} - set(known)):
        rule = "the general rule is used, and no evaluation is kept"
        collected.notes.append(f"{source.name}: {benchmark} is not in {paths.BENCHMARKS.name}, {rule}")
    collected.tables["rounds"].append(
        {
            **{"round": round_, "repository": source.url, "commit": source.commit},
            **{"files_read": len(present), "files_absent": len(wanted) - len(present)},
            "results_left_out": len(logs) - len(described),
        }
    )
    return [file for key in described for file in logs[key]]


def _describe_results(
    source: Source, wanted: Sequence[File], keys: Iterable[tuple]
) -> tuple[dict[tuple, Row], list[str]]:
    """Describe each result by its system and scaling factor.

    Returns: the results that can be described, and a line for each file that hinders others.
    """
    found = {
        pattern: {key: files[0] for key, files in _group(wanted, pattern).items()} for pattern in (_SYSTEM, _SCALING)
    }
    users = defaultdict(list)
    for key in sorted(keys):
        users[key[:2]].append(key)
    systems = _read_jsons(source, {key: file for key, file in found[_SYSTEM].items() if key in users})
    scalings = _read_jsons(source, {key: file for key, file in found[_SCALING].items() if key[:2] in users})
    described, left_out = {}, []
    for system, results in users.items():
        path = f"{system[0]}/systems/{system[1]}.json"
        try:
            facts = _describe_system(systems.get(system))
        except CollectError as error:
            left_out.append(_name_left_out(path, error, results))
            continue
        for key in results:
            try:
                described[key] = facts | _describe_scaling(scalings.get(key))
            except CollectError as error:
                left_out.append(_name_left_out(f"{'/'.join((key[0], 'results', *key[1:]))}/scaling.json", error, [key]))
    return described, left_out


def _name_left_out(path: str, error: CollectError, results: Sequence[tuple]) -> str:
    names = _some(["/".join(key) for key in results])
    return f"{path}: {error}; {len(results)} result{'s' * (len(results) > 1)} left out: {names}"


def _split_logs(source: Source, logs: Iterable[File]) -> Iterator[list[File]]:
    """Split the logs of a source into as many parts as there are readers, each fast to read."""
    logs = sort_files(source, (file for file in logs if file.blob not in source.absent))
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


def _read_runs(source: Source, round_: str, files: Sequence[File], kept: frozenset[str]) -> tuple[list[Row], list[Row]]:
    """Read logs into rows of the table runs and, for the benchmarks that keep them, evals."""
    runs, evals = [], []
    for file, text in read_files(source, files):
        organization, system, benchmark, run = _LOG.fullmatch(file.path).groups()
        key = dict(zip(RESULT_KEY, (round_, organization, system, benchmark), strict=True)) | {"run": run}
        row = key | {"path": file.stored_at, "blob": file.blob}
        try:
            log = parse_log(text, all_evaluations=benchmark in kept)
        except LogError as error:
            row["problem"] = str(error)
        else:
            row |= _describe_run(log)
            if benchmark in kept:
                evals += _describe_evals(key, log)
        runs.append(row)
    return runs, evals


def _list_unreadable(runs: Iterable[Row]) -> Iterator[str]:
    for row in runs:
        if row["problem"]:
            path = row["path"] or "{organization}/results/{system}/{benchmark}/result_{run}.txt".format(**row)
            yield f"training_results_{row['round']}: {path}: {row['problem']}"


def _describe_run(log: Log) -> Row:
    names = ("start_ms", "start_line", "stop_ms", "stop_line", "status", "init_start_ms", "init_stop_ms")
    names += ("seed", "global_batch_size", "converged_at", "convergence_unit")
    return {name: getattr(log, name) for name in names} | {"problem": ""}


def _describe_evals(key: Row, log: Log) -> Iterator[Row]:
    for number, one in enumerate(log.evaluations):
        facts = {name: getattr(one, name) for name in ("line", "time_ms", "progress", "unit", "metric", "value")}
        yield key | {"evaluation": number} | facts


def _describe_system(read: _Read | None) -> Row:
    """Describe a system by its file; CollectError names everything in it that is not as expected."""
    if read is None:
        raise CollectError("no such file, expected the system description")
    if read.problem or not isinstance(read.content, dict):
        raise CollectError(read.problem or f"{read.content!r:.60}, expected a JSON object")
    row, problems = {"system_path": read.file.content_path, "system_blob": read.file.blob}, []
    known = {**SYSTEM_TEXTS, **SYSTEM_NUMBERS}
    for column, name in known.items():
        value = read.content.get(name)
        row[column] = _parse_text(value) if column in SYSTEM_TEXTS else _parse_count(value)
        if name not in read.content:
            others = [key for key in read.content if key not in known.values()]
            near = difflib.get_close_matches(name, others, n=1, cutoff=0.75)
            problems.append(f"no {name}" + (f", found {near[0]!r}" if near else ""))
        elif row[column] is None:
            wanted = "text" if column in SYSTEM_TEXTS else "a whole number"
            problems.append(f"{name} is {value!r:.60}, expected {wanted}")
    if problems:
        raise CollectError("; ".join(problems))
    return row | {"accelerators_total": row["nodes"] * row["accelerators_per_node"]}


def _parse_text(value: Any) -> str | None:  # noqa: ANN401 - whatever JSON holds
    """Return text on one line; None for anything else, and for what no file can hold."""
    if not isinstance(value, str):
        return None
    text = " ".join(value.split())
    return text if text.isprintable() else None


def _parse_count(value: Any) -> int | None:  # noqa: ANN401 - whatever JSON holds
    """Return a count given as a number or, as most descriptions do, as its text; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,9}(\.0*)?\s*", value, re.ASCII):
        return int(float(value))
    return int(value) if is_number(value) and 0 <= value < 1e9 and value == int(value) else None


def _describe_scaling(read: _Read | None) -> Row:
    if read is None:
        return {}
    if read.problem:
        raise CollectError(read.problem)
    factor = read.content.get("scaling_factor") if isinstance(read.content, dict) else read.content
    if not isinstance(read.content, dict) or not is_number(factor) or factor <= 0:
        raise CollectError(f"scaling_factor is {factor!r:.60}, expected a number above 0")
    return {"scaling_factor": factor, "scaling_path": read.file.content_path, "scaling_blob": read.file.blob}


def _collect_references(collected: Collected, source: Source, rounds: set[str]) -> None:
    files = {key: found for key, found in _group(source.files, _REFERENCE).items() if f"v{key[0]}" in rounds}
    for several in (found for found in files.values() if len(found) > 1):
        collected.problems.append(f"{source.name}: {_some([file.path for file in several])}, expected one of them")
    read = _read_jsons(source, {key: found[0] for key, found in files.items()})
    for (ruleset, benchmark), (file, points, problem) in sorted(read.items()):
        try:
            rows = [] if problem else list(_list_reference_runs(points))
        except (KeyError, TypeError, AttributeError) as error:
            problem = f"{error}, expected points with BS and a list of numbers, Epochs to converge"
        if problem:
            left_out = f"no reference points of {benchmark} in v{ruleset}"
            collected.notes.append(f"{source.name}: {file.path}: {problem}; {left_out}")
            continue
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


def _read_jsons(source: Source, files: Mapping[tuple, File]) -> dict[tuple, _Read]:
    present = {key: file for key, file in sorted(files.items()) if file.blob not in source.absent}
    wanted = "absent from this clone, expected its content"
    read = {key: _Read(file, None, wanted) for key, file in files.items() if key not in present}
    for key, (file, text) in zip(present, read_files(source, list(present.values())), strict=True):
        try:
            read[key] = _Read(file, json.loads(text.decode("utf-8-sig")))
        except (ValueError, RecursionError) as error:
            read[key] = _Read(file, None, f"{error}, expected JSON in UTF-8")
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
        pins = load_pins(options.pins)
        sources = open_sources(options.raw) if options.raw else clone_sources(pins, options.clones)
        collected = collect(sources, evaluations=load_evaluations())
        if options.check:
            return _report_differences(compare_tables(collected.tables, options.out), options.out)
        changed = [*_list_unpinned(collected, pins), *_list_dropped(collected, options.out)]
        write_tables(collected.tables, options.out)
    except (SourceError, CollectError, GrainError, OSError, BrokenProcessPool) as error:
        print(error, file=sys.stderr)
        print("nothing was written", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped, nothing was written", file=sys.stderr)
        return 130
    for note in [*collected.notes, *changed]:
        print(f"note: {note}")
    _print_totals(collected)
    print(f"{options.out} now holds {', '.join(row['round'] for row in collected.tables['rounds'])}")
    return 0


def _list_unpinned(collected: Collected, pins: Iterable[Row]) -> Iterator[str]:
    """Name the rounds that were read from anything but the commit that is pinned."""
    pinned = {pin["name"]: pin["commit"] for pin in pins}
    for row in collected.tables["rounds"]:
        name, commit = f"training_results_{row['round']}", row["commit"] or "a plain folder"
        if name not in pinned:
            yield f"{name}: read from {commit}, and not in {paths.SOURCES.name}"
        elif commit != pinned[name]:
            yield f"{name}: read from {commit}, {paths.SOURCES.name} pins {pinned[name]}"


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
              f"{row['files_absent']} files absent, {row['results_left_out']} results left out")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
