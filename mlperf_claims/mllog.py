"""Read one training log (bytes) into a frozen record of the facts we keep."""

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any, NamedTuple

import msgspec

MARKER = b":::MLLOG"  # mlperf_logging writes it before every record; launchers may put text in front
LARGEST = sys.float_info.max  # JSON holds whole numbers beyond it, and Python reads them
STATUSES = ("success", "aborted")  # of run_stop; training_rules.adoc, "Benchmark Results"
EVALUATIONS = ("eval_accuracy", "eval_error")
ONCE = ("run_start", "run_stop")

# Stable Diffusion logs its two metrics apart and out of order, so its runs converge at the first
# step where both thresholds hold (training_rules.adoc, benchmark table), not at their last evaluation.
METRIC_TARGETS = {"FID": (-math.inf, 90.0), "CLIP": (0.15, math.inf)}
PROGRESS = ("samples_count", "epoch_num", "step_num")  # how logs count training, the preferred first


class LogError(ValueError):
    """A log that cannot be used; `line` is its 1-based line number (0: the file as a whole)."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(f"{problem} (line {line})" if line else problem)
        self.line = line


@dataclass(frozen=True)
class Evaluation:
    """One evaluation: when, on which line, after how much training, of what value."""

    time_ms: float
    line: int
    progress: float  # in `unit`
    unit: str  # one of PROGRESS
    metric: str  # empty unless the benchmark has several
    value: float


@dataclass(frozen=True)
class Log:
    """The facts kept from one complete log: times in ms since the epoch, lines 1-based."""

    start_ms: float
    start_line: int
    stop_ms: float
    stop_line: int
    status: str  # one of STATUSES
    init_start_ms: float | None  # the earliest init_start; None where the log has none
    init_stop_ms: float | None
    seed: int | None  # the first one logged, if a whole number; some logs have one per rank
    global_batch_size: int | None
    evaluations: tuple[Evaluation, ...]  # before run_stop, in log order; all that were asked for
    converged_at: float | None  # samples, epochs or steps (see convergence_unit); None unless success
    convergence_unit: str  # one of PROGRESS; empty where there is no evaluation


_WholeMs = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]  # others are looked at one by one


class _AnyHead(msgspec.Struct):
    key: str
    time_ms: int | float


class _Head(msgspec.Struct, gc=False):
    key: str
    time_ms: _WholeMs | float


class _Record(_Head, gc=False):
    value: msgspec.Raw = msgspec.Raw(b"null")
    metadata: msgspec.Raw = msgspec.Raw(b"null")


class _Placed(NamedTuple):
    index: int  # among the records of the log
    line: int
    record: _Record


_find_bodies = re.compile(re.escape(MARKER) + rb"(.*)").findall
_decode_heads = msgspec.json.Decoder(_Head).decode_lines
_decode_record = msgspec.json.Decoder(_Record).decode
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)  # what reading hostile JSON raises
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_KEPT = frozenset((*ONCE, *EVALUATIONS, "init_start", "init_stop", "seed", "global_batch_size"))


def parse_log(text: bytes, *, all_evaluations: bool = True) -> Log:
    """Parse one log.

    Args:
        text: the file's bytes, any size; lines without the marker are passed over.
        all_evaluations: keep them all, or only those that tell where the run converged: the last one,
            unless evaluations name a metric.
    Returns: the record of a run that started and stopped, whatever its status.
    Raises: LogError if the log is empty, a marked line is not a JSON object with `key` and
        `time_ms`, run_start or run_stop is not there exactly once and in order, or run_stop has
        no known status.
    Source: MLPerf compliance checker, `common.yaml` of every ruleset since v0.7.
    """
    heads, place = _parse_heads(text)
    found: dict[str, list[int]] = {key: [] for key in _KEPT}  # their places in the log, in order
    for index in [index for index, head in enumerate(heads) if head.key in _KEPT]:
        found[heads[index].key].append(index)
    seed = _parse_first_int(map(place, found["seed"]), strict=False)
    global_batch_size = _parse_first_int(map(place, found["global_batch_size"]), strict=True)
    start_at, stop_at = (_find_once(key, found[key], place) for key in ONCE)
    start = place(start_at)
    logged = sorted(index for key in EVALUATIONS for index in found[key] if index < stop_at)
    evaluations = tuple(_parse_evaluation(place(index)) for index in logged[-1:])
    if all_evaluations or any(evaluation.metric for evaluation in evaluations):
        evaluations = tuple(_parse_evaluation(place(index)) for index in logged)
    stop = place(stop_at)
    if stop.index < start.index:  # by place and not by line: two ranks may have written on one
        raise LogError(f"run_stop before run_start on line {start.line}, expected after it", stop.line)
    if not start.record.time_ms < stop.record.time_ms:
        clocks = f"run_stop at {stop.record.time_ms} ms, expected later than run_start at {start.record.time_ms} ms"
        raise LogError(clocks, stop.line)
    status = _parse_status(stop)
    converged_at, unit = _find_convergence(evaluations) if status == "success" else (None, "")
    return Log(
        start_ms=start.record.time_ms,
        start_line=start.line,
        stop_ms=stop.record.time_ms,
        stop_line=stop.line,
        status=status,
        init_start_ms=min((heads[index].time_ms for index in found["init_start"]), default=None),
        init_stop_ms=next((heads[index].time_ms for index in found["init_stop"]), None),
        seed=seed,
        global_batch_size=global_batch_size,
        evaluations=evaluations,
        converged_at=converged_at,
        convergence_unit=unit,
    )


def is_number(value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    """Tell a finite number, of a size that a float can hold, from anything else JSON may hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _parse_heads(text: bytes) -> tuple[Sequence[_Head], Callable[[int], _Placed]]:
    """Parse key and time of the record behind every marker, also where two ranks wrote on one line.

    Returns: the heads, and a function from an index among them to the whole record with its line; it
        looks onwards from the last one asked for, so ask it in order.
    """
    if not (bodies := _find_bodies(text)):
        found = f"{len(text)} bytes without one" if text.strip() else "an empty file"
        raise LogError(f"found {found}, expected lines marked {MARKER.decode()}")
    try:
        heads = _decode_heads(b"\n".join(bodies))
    except _UNREADABLE:
        heads = []
    if len(heads) != len(bodies):  # name the line at fault, or read what only Python's json accepts
        before, *bodies = text.split(MARKER)
        lines = accumulate((body.count(b"\n") for body in bodies), initial=1 + before.count(b"\n"))
        heads = [_parse_record(*found) for found in zip(bodies, lines, strict=False)]
    last, at, line = -1, 0, 1

    def place(index: int) -> _Placed:
        nonlocal last, at, line
        if index <= last:
            at, line = 0, 1
        # No record stands inside another, where its quotes would be escaped: what is found is this one,
        # or one of the same bytes before it, and of those each is asked for in turn or any will do.
        start, at = at, text.index(MARKER + bodies[index], at)
        line += text.count(b"\n", start, at)
        last, at = index, at + 1
        head = heads[index]
        return _Placed(index, line, head if isinstance(head, _Record) else _decode_record(bodies[index]))

    return heads, place


def _parse_record(body: bytes, line: int) -> _Record:
    """Parse one record; after it may stand colour codes, and a launcher's prefix where the next is merged to it."""
    body, end_of_line, _ = body.partition(b"\n")
    try:
        # json also takes NaN and Infinity, which Python's own writers put into logs
        text = body.decode("utf-8").strip()
        fields, end = json.JSONDecoder().raw_decode(text)
        if end_of_line and _COLOUR.sub("", text[end:]).strip():
            raise ValueError(f"{text[end:]!r} after the record")
        head = msgspec.convert(fields, _AnyHead)
        value, metadata = (msgspec.Raw(json.dumps(fields.get(name)).encode()) for name in ("value", "metadata"))
        record = _Record(head.key, head.time_ms, value, metadata)
    except UnicodeDecodeError as error:
        raise LogError(f"bytes that are not UTF-8 after the marker ({error.reason})", line) from error
    except _UNREADABLE as error:
        shown = body.strip()[:60].decode("utf-8", "replace")
        raise LogError(f"{shown!r} after the marker, expected a JSON object with key and time_ms", line) from error
    if not is_number(record.time_ms):
        raise LogError(f"{record.key} has time_ms {record.time_ms}, expected a finite number", line)
    return record


def _find_once(key: str, found: list[int], place: Callable[[int], _Placed]) -> int:
    match found:
        case [only]:
            return only
        case []:
            raise LogError(f"no {key}, expected exactly one")
        case several:
            lines = [place(index).line for index in several]
            shown = ", ".join(map(str, lines))
            raise LogError(f"{len(several)} {key} records on lines {shown}, expected exactly one", lines[1])


def _parse_status(stop: _Placed) -> str:
    status = _parse_object(stop.record.metadata, stop.line).get("status")
    if status not in STATUSES:
        raise LogError(f"run_stop has status {status!r}, expected {' or '.join(STATUSES)}", stop.line)
    return status


def _parse_evaluation(placed: _Placed) -> Evaluation:
    line, record = placed.line, placed.record
    metadata = _parse_object(record.metadata, line)
    unit = next((name for name in PROGRESS if name in metadata), None)
    if "metric" in metadata and unit == "epoch_num":  # v3.1 Stable Diffusion counts steps
        unit = "step_num" if "step_num" in metadata else unit
    if unit is None:
        raise LogError(f"{record.key} has none of {', '.join(PROGRESS)} in its metadata", line)
    progress, metric = metadata[unit], metadata.get("metric", "")
    if not is_number(progress):
        raise LogError(f"{record.key} has {unit} {progress!r}, expected a number", line)
    if not isinstance(metric, str) or not metric.isprintable():
        raise LogError(f"{record.key} has metric {metric!r}, expected text", line)
    value = _parse_json(record.value, line)
    # Mask R-CNN logs a dict of accuracies; its convergence needs none of them
    number = float(value) if is_number(value) else math.nan
    return Evaluation(record.time_ms, line, float(progress), unit, metric, number)


def _find_convergence(evaluations: tuple[Evaluation, ...]) -> tuple[float | None, str]:
    """Return (progress, unit) at which a successful run converged.

    Source: MLCommons `rcp_checker`: the last evaluation before run_stop; with several metrics, the
    first step at which all of them meet their targets; epochs rounded to three decimals.
    """
    if not evaluations:
        return None, ""
    last = evaluations[-1]
    if last.metric in METRIC_TARGETS:
        steps: dict[float, dict[str, float]] = {}
        for evaluation in evaluations:
            steps.setdefault(evaluation.progress, {})[evaluation.metric] = evaluation.value
        passing = [step for step, values in steps.items() if _is_on_target(values)]
        return min(passing, default=None), last.unit
    return (round(last.progress, 3) if last.unit == "epoch_num" else last.progress), last.unit


def _is_on_target(values: dict[str, float]) -> bool:
    return all(low <= values.get(metric, math.nan) <= high for metric, (low, high) in METRIC_TARGETS.items())


def _parse_first_int(found: Iterator[_Placed], *, strict: bool) -> int | None:
    first = next(found, None)
    if first is None:
        return None
    value = _parse_json(first.record.value, first.line)
    if is_number(value) and value == int(value):
        return int(value)
    if strict:
        raise LogError(f"{first.record.key} is {value!r:.60}, expected a whole number", first.line)
    return None


def _parse_json(raw: msgspec.Raw, line: int) -> Any:  # noqa: ANN401
    try:
        return msgspec.json.decode(raw)
    except _UNREADABLE:
        pass
    try:  # as in _parse_record: NaN and Infinity are values too
        return json.loads(bytes(raw).decode("utf-8"))
    except _UNREADABLE as error:
        raise LogError(f"{bytes(raw)[:60]!r}, expected JSON in UTF-8", line) from error


def _parse_object(raw: msgspec.Raw, line: int) -> dict[str, Any]:
    value = _parse_json(raw, line)
    if not isinstance(value, dict):
        raise LogError(f"metadata is {value!r}, expected a JSON object", line)
    return value
