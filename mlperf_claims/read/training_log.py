"""Read one training log (bytes) into a frozen record of the facts we keep."""

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, count
from typing import Annotated, Any, NamedTuple

import msgspec

MARKER = b":::MLLOG"  # mlperf_logging writes it before every record; launchers may put text in front
LARGEST = sys.float_info.max  # JSON holds whole numbers beyond it, and Python reads them
LONGEST = 500  # characters of a problem, which may quote a log of any size
# of run_stop, and as it is stored; training_rules.adoc, "Benchmark Results"; v0.7 wrote abort
STATUSES = {"success": "success", "aborted": "aborted", "abort": "aborted"}
EVALUATIONS = ("eval_accuracy", "eval_error")
ONCE = ("run_start", "run_stop")

# Stable Diffusion logs its two metrics apart and out of order, so its runs converge at the first
# step where both thresholds hold (training_rules.adoc, benchmark table), not at their last evaluation.
METRIC_TARGETS = {"FID": (-math.inf, 90.0), "CLIP": (0.15, math.inf)}
PROGRESS = ("samples_count", "epoch_num", "step_num")  # how logs count training, the preferred first


class LogError(ValueError):
    """A log that cannot be used; `line` is its 1-based line number (0: the file as a whole)."""

    def __init__(self, problem: str, line: int = 0) -> None:
        problem = f"{problem[:LONGEST]}…" if len(problem) > LONGEST else problem
        super().__init__(f"{problem} (line {line})" if line else problem)
        self.line = line


class Evaluation(msgspec.Struct, frozen=True, gc=False):
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
    status: str  # success or aborted
    init_start_ms: float | None  # the earliest init_start; None where the log has none
    init_stop_ms: float | None
    seed: int | None  # the first one logged, if a whole number; some logs have one per rank
    global_batch_size: int | None
    evaluations: tuple[Evaluation, ...]  # before run_stop, in log order; all that were asked for
    converged_at: float | None  # samples, epochs or steps (see convergence_unit); None unless success
    convergence_unit: str  # one of PROGRESS; empty where there is no evaluation


_Whole = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]  # others are looked at one by one


class _AnyHead(msgspec.Struct):
    key: str
    time_ms: int | float


class _Head(msgspec.Struct, gc=False):
    key: str
    time_ms: _Whole | float


class _Record(_Head, gc=False):
    value: msgspec.Raw = msgspec.Raw(b"null")
    metadata: msgspec.Raw = msgspec.Raw(b"null")


class _Metadata(msgspec.Struct, gc=False):  # of an evaluation, which counts in one of PROGRESS or several
    samples_count: int | float | None = None
    epoch_num: int | float | None = None
    step_num: int | float | None = None
    metric: str = ""


class _Plain(msgspec.Struct, gc=False):  # metadata of the same, where there is one count and nothing odd
    samples_count: _Whole | float | None = None
    epoch_num: _Whole | float | None = None
    metric: None = None


class _PlainEvaluation(_Head, gc=False):
    metadata: _Plain


class _Placed(NamedTuple):
    index: int  # among the records of the log
    line: int
    record: _Record


# what stands behind a marker, up to the end of the line: empty unless it begins and ends like an object
_find_bodies = re.compile(rb"(?m)%(marker)b([ \t]*\{.*\})[ \t\r]*$|%(marker)b" % {b"marker": MARKER}).findall
_decode_heads = msgspec.json.Decoder(_Head).decode_lines
_decode_record = msgspec.json.Decoder(_Record).decode
_decode_plain = msgspec.json.Decoder(_PlainEvaluation).decode_lines
_decode_metadata = msgspec.json.Decoder(_Metadata).decode
_decode_float = msgspec.json.Decoder(float).decode
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)  # what reading hostile JSON raises
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_KEPT = frozenset((*ONCE, *EVALUATIONS, "init_start", "init_stop", "seed", "global_batch_size"))


def parse_log(text: bytes, *, all_evaluations: bool = True) -> Log:
    """Parse one log.

    Args:
        text: the file's bytes, any size; lines without the marker are passed over.
        all_evaluations: or, to be quick, only the last one where the others decide nothing. The same
            logs are refused either way.
    Returns: the record of a run that started and stopped, whatever its status.
    Raises: LogError if the log is empty, a marked line is not a JSON object with `key` and
        `time_ms`, run_start or run_stop is not there exactly once and in order, or run_stop has
        no known status.
    Source: MLPerf compliance checker, `common.yaml` of every ruleset since v0.7.
    """
    if not (bodies := _find_bodies(text)):
        found = f"{len(text)} bytes without one" if text.strip() else "an empty file"
        raise LogError(f"found {found}, expected lines marked {MARKER.decode()}")
    heads = _decode_quickly(bodies)
    if heads is None:  # name the line at fault, or read what only Python's json accepts
        return _read_log(*_parse_line_by_line(text))
    return _read_log(heads, _find_records(text, bodies), () if all_evaluations else bodies)


def _read_log(heads: Sequence[_Head], place: Callable[[int], _Placed], bodies: Sequence[bytes] = ()) -> Log:
    """Read the facts out of records; with their bodies given, plain evaluations before the last are left out."""
    found: dict[str, list[int]] = {key: [] for key in _KEPT}  # their places in the log, in order
    keys = [head.key for head in heads]
    for index in compress(count(), map(_KEPT.__contains__, keys)):
        found[keys[index]].append(index)
    seed = _parse_first_int(map(place, found["seed"]), strict=False)
    global_batch_size = _parse_first_int(map(place, found["global_batch_size"]), strict=True)
    start_at, stop_at = (_find_once(key, found[key], place) for key in ONCE)
    start = place(start_at)
    logged = sorted(index for key in EVALUATIONS for index in found[key] if index < stop_at)
    if bodies and _are_plain([bodies[index] for index in logged]):
        logged = logged[-1:]
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


def _decode_quickly(bodies: Sequence[bytes]) -> list[_Head] | None:
    """Decode key and time of all records in one go; None if not every body is one record."""
    try:
        heads = _decode_heads(b"\n".join(bodies))
    except _UNREADABLE:
        return None
    # As many records as bodies, none of which is empty or a part of one, since all begin and end like objects.
    return heads if len(heads) == len(bodies) and all(bodies) else None


def _find_records(text: bytes, bodies: Sequence[bytes]) -> Callable[[int], _Placed]:
    """Return a function from an index among the bodies to the whole record with its line.

    It looks onwards from the last one asked for, so ask it in order.
    """
    last, at, line = -1, 0, 1

    def place(index: int) -> _Placed:
        nonlocal last, at, line
        if index <= last:
            at, line = 0, 1
        # No record stands inside another, where its quotes would be escaped: what is found is this one,
        # or one of the same bytes before it, and of those each is asked for in turn, or any will do.
        start, at = at, text.index(MARKER + bodies[index], at)
        line += text.count(b"\n", start, at)
        last, at = index, at + 1
        return _Placed(index, line, _decode_record(bodies[index]))

    return place


def _parse_line_by_line(text: bytes) -> tuple[Sequence[_Head], Callable[[int], _Placed]]:
    """Parse one record after the other, also those that two ranks wrote on one line, to name a line at fault."""
    records, lines = [], []
    for line, content in enumerate(text.split(b"\n"), start=1):
        _, marker, body = content.partition(MARKER)
        if not marker:
            continue
        try:
            read = [_decode_record(body)]
        except _UNREADABLE:
            *merged, last = body.split(MARKER)
            read = [*(_parse_record(piece, line, merged=True) for piece in merged), _parse_record(last, line)]
        records += read
        lines += [line] * len(read)
    return records, lambda index: _Placed(index, lines[index], records[index])


def _parse_record(body: bytes, line: int, *, merged: bool = False) -> _Record:
    """Parse what only Python's json accepts; after it may stand colour codes, or a launcher's prefix of the next."""
    try:
        # json also takes NaN and Infinity, which Python's own writers put into logs
        text = body.decode("utf-8").strip()
        fields, end = json.JSONDecoder().raw_decode(text)
        if not merged and _COLOUR.sub("", text[end:]).strip():
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
    if not isinstance(status, str) or status not in STATUSES:
        raise LogError(f"run_stop has status {status!r}, expected success or aborted", stop.line)
    return STATUSES[status]


def _parse_evaluation(placed: _Placed) -> Evaluation:
    _, line, record = placed
    try:
        metadata = _decode_metadata(record.metadata)
    except _UNREADABLE:
        metadata = _parse_metadata(placed)
    progress, unit = metadata.samples_count, "samples_count"
    if progress is None:
        progress, unit = metadata.epoch_num, "epoch_num"
    if progress is None or (unit == "epoch_num" and metadata.metric and metadata.step_num is not None):
        progress, unit = metadata.step_num, "step_num"  # v3.1 Stable Diffusion, which has metrics, counts steps
    if progress is None:
        raise LogError(f"{record.key} has none of {', '.join(PROGRESS)} in its metadata", line)
    if not abs(progress) <= LARGEST:
        raise LogError(f"{record.key} has {unit} {progress!r}, expected a number", line)
    if not metadata.metric.isprintable():
        raise LogError(f"{record.key} has metric {metadata.metric!r}, expected text", line)
    try:
        number = _decode_float(record.value)
    except _UNREADABLE:
        value = _parse_json(record.value, line)
        # Mask R-CNN logs a dict of accuracies; its convergence needs none of them
        number = float(value) if is_number(value) else math.nan
    return Evaluation(record.time_ms, line, float(progress), unit, metadata.metric, number)


def _are_plain(bodies: Sequence[bytes]) -> bool:
    """Tell evaluations that are surely read without error, and of which the last one decides."""
    try:
        found = [evaluation.metadata for evaluation in _decode_plain(b"\n".join(bodies))]
    except _UNREADABLE:
        return False
    return len(found) == len(bodies) and all(
        one.samples_count is not None or one.epoch_num is not None for one in found
    )


def _parse_metadata(placed: _Placed) -> _Metadata:
    """Parse metadata that only Python's json accepts, or name what is wrong in it."""
    fields = _parse_object(placed.record.metadata, placed.line)
    try:
        return msgspec.convert({name: fields[name] for name in (*PROGRESS, "metric") if name in fields}, _Metadata)
    except _UNREADABLE as error:
        raise LogError(f"{placed.record.key} has metadata with {error}", placed.line) from error


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
