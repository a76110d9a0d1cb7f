"""Tests of `mllog`: what one log says, and which logs are refused."""

import dataclasses
import json
import math

import conftest
import msgspec
import pytest
from conftest import MARK
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mlperf_claims.read.training_log import Evaluation, Log, LogError, parse_log


def record(key, time_ms=1000, value=None, **metadata):
    return conftest.record(key, time_ms, value, **metadata).rstrip()


def log(*lines, end="\n"):
    return "".join(line + end for line in lines).encode("utf-8", "surrogateescape")


def evaluation(time_ms=1500, value=0.5, **metadata):
    return record("eval_accuracy", time_ms, value, **metadata)


def raw(key, *, time_ms="1500", value="0", metadata="{}"):
    """A record in spelled-out JSON, for what no writer of ours would produce."""
    return f'{MARK}{{"key": "{key}", "time_ms": {time_ms}, "value": {value}, "metadata": {metadata}}}'


def stop(metadata):
    return raw("run_stop", time_ms="2000", metadata=metadata)


HUGE, DEEP = "9" * 400, "[" * 100_000  # beyond a float; beyond any parser's stack
JSON = '{"key": "any", "time_ms": 1}'
SPLIT = ('{"key": "a", "time_ms": 1, "value": [1', ':::MLLOG 2], "b": [3', ":::MLLOG 4]}")
START = record("run_start", 1000)
STOP = record("run_stop", 2000, status="success")


def test_good_log_gives_every_fact_and_its_line():
    """A complete log gives times, 1-based lines, status, seed, batch size and convergence."""
    text = log(
        "loading data",
        record("init_start", 100),
        record("seed", value=42),
        record("global_batch_size", value=512),
        record("init_stop", 900),
        START,
        evaluation(1500, 0.5, samples_count=1024),
        evaluation(1800, 0.75, samples_count=2048),
        STOP,
    )
    first = Evaluation(time_ms=1500, line=7, progress=1024.0, unit="samples_count", metric="", value=0.5)
    last = Evaluation(time_ms=1800, line=8, progress=2048.0, unit="samples_count", metric="", value=0.75)
    assert parse_log(text) == Log(
        **{"start_ms": 1000, "start_line": 6, "stop_ms": 2000, "stop_line": 9, "status": "success"},
        **{"init_start_ms": 100, "init_stop_ms": 900, "seed": 42, "global_batch_size": 512},
        **{"evaluations": (first, last), "converged_at": 2048.0, "convergence_unit": "samples_count"},
    )


def test_log_without_optional_records_says_none():
    """What a log does not say is None, never zero."""
    found = parse_log(log(START, STOP))
    assert (found.seed, found.global_batch_size, found.init_start_ms, found.converged_at) == (None,) * 4


def test_first_seed_and_earliest_init_start_count():
    """Where every rank logs, the first seed and the earliest init_start are kept."""
    clocks = [record("init_start", time_ms) for time_ms in (300, 200)]
    seeds = [record("seed", value=value) for value in (7, 8)]
    found = parse_log(log(*clocks, *seeds, START, STOP))
    assert (found.init_start_ms, found.seed) == (200, 7)


@pytest.mark.parametrize("status", ["aborted", "abort"])  # the latter is what v0.7 wrote
def test_aborted_run_is_a_log_that_did_not_converge(status):
    """An aborted run has times and evaluations, and no convergence."""
    found = parse_log(log(START, evaluation(samples_count=8), record("run_stop", 2000, status=status)))
    assert (found.status, len(found.evaluations), found.converged_at) == ("aborted", 1, None)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([evaluation(samples_count=8, epoch_num=2)], (8.0, "samples_count")),  # samples before epochs
        ([evaluation(epoch_num=2.00049)], (2.0, "epoch_num")),  # three decimals, as rcp_checker rounds
        ([evaluation(epoch_num=2.0006)], (2.001, "epoch_num")),
        ([record("eval_error", samples_count=8)], (8.0, "samples_count")),  # some benchmarks log the error
        ([evaluation(samples_count=n) for n in (8, 4)], (4.0, "samples_count")),  # the last one logged
        ([evaluation(value={"BBOX": 0.4}, epoch_num=3)], (3.0, "epoch_num")),  # Mask R-CNN's value is a dict
        ([evaluation(metric="FID", epoch_num=1, step_num=900)], (None, "step_num")),  # v3.1; no CLIP, no pass
        ([], (None, "")),
    ],
)
def test_convergence_is_the_last_evaluation_before_run_stop(lines, expected):
    """A successful run converged at its last evaluation, in the log's preferred unit."""
    found = parse_log(log(START, *lines, STOP))
    assert (found.converged_at, found.convergence_unit) == expected


@pytest.mark.parametrize(
    ("fid_at", "clip_at", "expected"),
    [
        ({1: 90.1, 2: 90.0, 3: 80}, {3: 0.2, 2: 0.15, 1: 0.2}, 2.0),  # both limits belong to the target
        ({1: 80, 2: 80}, {1: 0.1499, 2: 0.2}, 2.0),  # FID alone is not enough
        ({2: 80, 1: 80}, {2: 0.2, 1: 0.2}, 1.0),  # the first step, whatever the order logged
        ({1: 80, 2: math.nan}, {1: 0.1, 2: 0.2}, None),  # NaN meets no target
        ({1: 80}, {2: 0.2}, None),  # never at the same step
    ],
)
def test_stable_diffusion_converges_where_both_metrics_pass(fid_at, clip_at, expected):
    """With FID and CLIP, the first step with FID <= 90 and CLIP >= 0.15 counts."""
    lines = [evaluation(value=value, metric="FID", samples_count=step) for step, value in fid_at.items()]
    lines += [evaluation(value=value, metric="CLIP", samples_count=step) for step, value in clip_at.items()]
    assert parse_log(log(START, *lines, STOP)).converged_at == expected


def test_evaluation_after_run_stop_is_ignored():
    """What is evaluated after the clock stopped is not part of the run."""
    found = parse_log(log(START, evaluation(samples_count=8), STOP, evaluation(2500, samples_count=16)))
    assert (len(found.evaluations), found.converged_at) == (1, 8.0)


@pytest.mark.parametrize(
    "text",
    [
        log("0: " + START, "1: " + STOP),  # srun --label
        log("[1,0]<stdout>:" + START, "[1,0]<stdout>:" + STOP),  # mpirun --tag-output
        log("\x1b[32m0: \x1b[0m" + START, "\x1b[32m0: \x1b[0m" + STOP),  # coloured
        log("2025-05-01 12:00:00 " + START, "2025-05-01 12:00:01 " + STOP),
        log(START, STOP, end="\r\n"),
        b"\xef\xbb\xbf" + log(START, STOP),  # BOM
        log(START, STOP)[:-1],  # no newline at the end
        log(START, STOP + "\t "),  # blanks at the end
        log("\udcff\udcfe " + START, STOP, "\udcff"),  # bytes that are not UTF-8, unmarked
        log(START, STOP, "\0" * 100),  # what a crashed file system leaves
    ],
)
def test_what_launchers_and_editors_add_is_passed_over(text):
    """Text before the marker, line ends and unmarked lines change no fact."""
    found = parse_log(text)
    assert (found.start_ms, found.start_line, found.stop_ms, found.stop_line) == (1000, 1, 2000, 2)


def test_two_records_on_one_line_are_both_read():
    """Two ranks that wrote into one line are two records of that line."""
    found = parse_log(log(record("seed", value=1) + START, evaluation(samples_count=8) + " " + STOP, "end"))
    assert (found.seed, found.start_line, found.stop_line) == (1, 1, 2)


def test_evaluation_on_the_line_of_run_stop_counts_if_it_stands_before():
    """On a merged line the order of the records decides, as it does between lines."""
    found = parse_log(log(START, evaluation(samples_count=8) + STOP + evaluation(samples_count=16)))
    assert [one.progress for one in found.evaluations] == [8.0]


@pytest.mark.parametrize("spelled", ["NaN", "Infinity", "-Infinity", '"high"', "true", "null"])
def test_value_that_is_no_finite_number_is_nan(spelled):
    """An evaluation of no finite value still says when and where the run was."""
    found = parse_log(log(START, raw("eval_accuracy", value=spelled, metadata='{"samples_count": 8}'), STOP))
    assert math.isnan(found.evaluations[0].value)
    assert found.converged_at == 8.0


OBJECT = "expected a JSON object with key and time_ms"


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        (b"", "an empty file, expected lines marked :::MLLOG", 0),
        (b" \n\n", "an empty file", 0),
        (b"hello\n", "6 bytes without one, expected lines marked :::MLLOG", 0),
        (log(START, STOP).decode().encode("utf-16"), "without one, expected lines marked", 0),
        (log(START, "x", STOP)[:-20], OBJECT, 3),  # the copy stopped in the last line
        (log(START, STOP[:5]), "no run_stop, expected exactly one", 0),  # and before it
        (log(START), "no run_stop, expected exactly one", 0),
        (log(STOP), "no run_start, expected exactly one", 0),
        (log(START, "x", START, STOP), "2 run_start records on lines 1, 3, expected exactly one", 3),
        (log(START, STOP, STOP), "2 run_stop records on lines 2, 3, expected exactly one", 3),
        (log("x", STOP, START), "run_stop before run_start on line 3", 2),
        (log(STOP + START), "run_stop before run_start", 1),  # also on one merged line
        (log(record("run_start", 2001), STOP), "run_stop at 2000 ms, expected later than .* 2001", 2),
        (log(record("run_start", 2000), STOP), "run_stop at 2000 ms, expected later", 2),  # no time at all
        (log("x", raw("run_start", time_ms="NaN"), STOP), "run_start has time_ms nan, expected a finite", 2),
        (log("x", raw("run_start", time_ms=HUGE), STOP), "run_start has time_ms", 2),  # beyond any float
        (log(START, stop('{"status": "done"}')), "run_stop has status 'done', expected success or", 2),
        (log(START, stop("{}")), "run_stop has status None, expected success or aborted", 2),
        (log(START, stop('{"status": ["success"]}')), r"run_stop has status \['success'\], expected", 2),
        (log(START, stop("null")), "metadata is None, expected a JSON object", 2),
        (log(START, stop("[]")), r"metadata is \[\], expected a JSON object", 2),
        # three records on one line and a torn one are as many as the lines should hold
        (log(START, f"{MARK}{JSON}, {JSON}, {SPLIT[0]}", *SPLIT[1:], STOP), OBJECT, 2),
    ],
)  # fmt: skip
def test_bad_log_is_named_with_its_line(text, words, line):
    """A log that cannot be used raises LogError in words, with the line to open (0: the whole file)."""
    with pytest.raises(LogError, match=words) as caught:
        parse_log(text)
    assert caught.value.line == line
    assert str(caught.value).endswith(f" (line {line})") == (line > 0)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("0: :::MLLOG oops", f"'oops' after the marker, {OBJECT}"),
        (MARK, OBJECT),
        (MARK + "[1, 2]", OBJECT),
        (MARK + "3", OBJECT),
        (MARK + '{"key": 5, "time_ms": 1}', OBJECT),
        (MARK + '{"key": "seed"}', OBJECT),  # no time_ms
        (raw("seed", time_ms="true"), OBJECT),
        (raw("seed", time_ms='"1"'), OBJECT),
        (START + "tail", OBJECT),
        (raw("\udcff"), "not UTF-8 after the marker"),
        (raw("seed", value='"\udcff"'), "UTF-8"),
        (record("global_batch_size", value=True), "global_batch_size is True, expected a whole number"),
        (record("global_batch_size", value="42"), "global_batch_size is '42', expected a whole number"),
        (raw("global_batch_size", value="NaN"), "global_batch_size is nan, expected a whole number"),
        (record("global_batch_size", value=1.5), "global_batch_size is 1.5, expected a whole number"),
        (evaluation(), "eval_accuracy has none of samples_count, epoch_num, step_num"),
        (
            evaluation(samples_count=True),
            "metadata with Expected `int | float | null`, got `bool` - at `.samples_count`",
        ),
        (evaluation(samples_count="8"), "metadata with Expected `int | float | null`, got `str` - at `.samples_count`"),
        (evaluation(samples_count=math.inf), "samples_count inf, expected a number"),
        (evaluation(math.nan, samples_count=8), "nan, expected a finite number"),  # `tables` refuses it later
        (raw("init_start", time_ms="-Infinity"), "-inf, expected a finite number"),  # as well
    ],
)
def test_bad_record_is_named_with_its_line(bad, words):
    """A record that cannot be used raises LogError in words, with its line."""
    with pytest.raises(LogError, match=words + r".* \(line 2\)$"):
        parse_log(log(START, bad, STOP))


def parses_or_is_refused(text):
    try:
        return isinstance(parse_log(text), Log)
    except LogError:
        return True


@pytest.mark.parametrize(
    "line",
    [
        raw("seed", value=HUGE),
        raw("seed", value=HUGE * 20),  # beyond Python's limit of digits, too
        raw("eval_accuracy", value=HUGE, metadata='{"samples_count": 1}'),
        raw("eval_accuracy", metadata=f'{{"samples_count": {HUGE}}}'),
        raw("init_start", time_ms=HUGE),
        raw("anything", value=DEEP),
        raw("seed", value=DEEP + "]" * len(DEEP)),
        raw("eval_accuracy", metadata='{"samples_count": 1, "metric": ["FID"]}'),
        raw("anything", value='"\\ud800"'),  # half a surrogate pair
        raw('seed", "key": "other'),  # a key given twice
        raw("eval_accuracy", metadata='{"samples_count": 1, "a\\ud800": 1}'),
        raw("eval_accuracy", metadata='{"samples_count": 1, "metric": "\\ud800"}'),
    ],
    ids=lambda line: line[:60],
)
def test_hostile_record_is_read_or_refused(line):
    """No JSON, however odd, raises anything but LogError."""
    assert parses_or_is_refused(log(START, line, STOP))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["run_start", "run_stop", "seed", "init_start", "eval_accuracy", "eval_error"])
NAMES = st.sampled_from(["status", "metric", "samples_count", "epoch_num"])
METADATA = VALUES | st.dictionaries(NAMES, VALUES)
FIELDS = {"key": KEYS, "time_ms": VALUES, "value": VALUES, "metadata": METADATA}
ODD = st.fixed_dictionaries(FIELDS).map(lambda fields: (MARK + json.dumps(fields)).encode())
WHOLE = st.sampled_from([log(START), log(STOP), MARK.encode(), b"\n", b"{", b"}", b"\xff"])


# the first examples on a fresh machine are slow to make, and the tests are not about speed
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@PATIENT
@given(st.lists(WHOLE | ODD | st.binary(), max_size=8).map(b"".join))
@example(b":::MLLOG")
def test_any_bytes_are_a_log_or_a_log_error(text):
    """Whatever is in the file, the answer is a Log or a LogError."""
    assert parses_or_is_refused(text)


def test_quick_reading_keeps_the_evaluations_that_decide():
    """One metric: the last evaluation before run_stop; two of them, all, since each step needs both."""
    one = [evaluation(1500 + count, samples_count=count) for count in (1, 2, 3)]
    two = [evaluation(1600, 80, step_num=5, metric="FID"), evaluation(1700, 0.2, step_num=5, metric="CLIP")]
    for lines, kept in ((one, [4]), (two, [2, 3]), ([], [])):
        text = log(START, *lines, STOP, evaluation(2500, samples_count=4))
        every, few = parse_log(text), parse_log(text, all_evaluations=False)
        assert [found.line for found in few.evaluations] == kept
        assert dataclasses.replace(few, evaluations=every.evaluations) == every


@pytest.mark.parametrize(
    "bad",
    [
        evaluation(),
        evaluation(samples_count="8"),
        evaluation(samples_count=True),
        evaluation(samples_count=1, metric="\u202e"),
        raw("eval_accuracy", metadata="[]"),
        raw("eval_accuracy", metadata=f'{{"samples_count": {HUGE}}}'),
        raw("eval_accuracy", metadata='{"epoch_num": "x", "samples_count": null}'),
    ],
    ids=lambda line: line[:90],
)
def test_quick_reading_refuses_the_same_logs(bad):
    """Whose evaluations are kept decides nothing: a bad one in the middle is named with its line both times."""
    text = log(START, bad, evaluation(samples_count=2), STOP)
    for every in (True, False):
        with pytest.raises(LogError, match=r"\(line 2\)$"):
            parse_log(text, all_evaluations=every)


TWO = '{"key": "a", "time_ms": 1}{"key": "b", "time_ms": 2}'


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([MARK + TWO, START, STOP, MARK], r"1\}\{.* \(line 1\)$"),
        ([START, STOP, MARK + TWO, MARK], r"\(line 3\)$"),
        ([MARK, START, STOP, MARK + TWO], r"'' after the marker.* \(line 1\)$"),
        ([MARK + '{"key": "a",', MARK + '"time_ms": 1}', START, STOP, MARK + TWO], r"\(line 1\)$"),
        ([MARK + TWO, START, evaluation(samples_count=1), MARK, STOP], r"\(line 1\)$"),
    ],
)
def test_lines_of_two_records_and_of_none_do_not_cancel_out(lines, words):
    """As many records as lines is not enough: each line has to be one."""
    for every in (True, False):
        with pytest.raises(LogError, match=words):
            parse_log(log(*lines), all_evaluations=every)


@pytest.mark.parametrize("odd", [raw("any", value='"caf\udce9"'), raw("any", value='"grep :::MLLOG file"')])
def test_line_that_is_read_alone_is_read_beside_any_other(odd):
    """What one log may hold does not depend on whether another of its lines says NaN."""
    nan = evaluation(1500, math.nan, samples_count=2)
    assert parse_log(log(START, odd, STOP)).stop_line == parse_log(log(START, odd, STOP, nan)).stop_line == 3


@pytest.mark.parametrize("end", ["", "\n"])
def test_text_after_the_last_record_is_refused(end):
    """With or without a line end, since a record that something follows may be two, of which one is cut."""
    with pytest.raises(LogError, match="expected a JSON object with key and time_ms"):
        parse_log(log(START, STOP + "garbage", end=end) if end else (START + "\n" + STOP + "garbage").encode())


def test_problem_of_any_size_is_told_in_a_few_words():
    """A log that quotes itself without end does not fill the table of runs."""
    with pytest.raises(LogError) as caught:
        parse_log(log(*[START] * 5000, STOP))
    assert len(str(caught.value)) < 600
    assert str(caught.value).startswith("5000 run_start records on lines 1, 2, 3")


@PATIENT
@given(st.lists(st.sampled_from(["text", "text with :::ML in it", "same", "other", "rank 1: "]), max_size=12))
def test_records_of_the_same_bytes_keep_lines_of_their_own(kinds):
    """Evaluations are found on their own lines, also where ranks wrote the same one several times."""
    spelled = {"same": evaluation(samples_count=1), "other": "[1,0]<stdout>" + evaluation(samples_count=2)}
    lines = [START, *(spelled.get(kind, kind) for kind in kinds), STOP]
    expected = [number for number, line in enumerate(lines, start=1) if "eval_accuracy" in line]
    assert [found.line for found in parse_log(log(*lines)).evaluations] == expected
    nan = record("any", value=math.nan)  # has the log read by Python's json
    assert [found.line for found in parse_log(log(*lines, nan)).evaluations] == expected


UNMARKED = st.binary(max_size=20).filter(lambda line: b"\n" not in line and b":::" not in line)
NOISE = st.lists(UNMARKED, max_size=3)


@PATIENT
@given(st.tuples(NOISE, NOISE, NOISE, NOISE))
def test_noise_between_records_changes_only_line_numbers(noises):
    """Unmarked lines move the line numbers by their count and change nothing else."""
    records = [log(one) for one in (record("seed", value=3), START, evaluation(samples_count=8), STOP)]
    noisy = b"".join(b"\n".join([*noise, one]) for noise, one in zip(noises, records, strict=True))
    _, start, evaluated, stop = (i + sum(len(noise) for noise in noises[:i]) for i in range(1, 5))
    quiet = parse_log(b"".join(records))
    moved = (msgspec.structs.replace(quiet.evaluations[0], line=evaluated),)
    assert parse_log(noisy) == dataclasses.replace(quiet, start_line=start, stop_line=stop, evaluations=moved)
