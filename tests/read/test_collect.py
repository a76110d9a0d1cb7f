"""Tests of `collect`: a results repository becomes tables, or nothing is written."""

import csv
import json
import re
import shutil

import pytest
from conftest import (
    GOOD,
    LOG_PATH,
    REFERENCE_PATH,
    RESULT,
    SCALING_PATH,
    SYSTEM,
    SYSTEM_PATH,
    log_text,
    record,
)

from mlperf_claims.read import collect

TABLES = ["evals", "reference_convergence", "results", "rounds", "runs"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function: write GOOD with changes (None: without the file) and collect it."""
    monkeypatch.setattr(collect, "load_evaluations", lambda: {"tiny": True})

    def write_and_collect(changes=None, arguments=None):
        for path, text in (GOOD | (changes or {})).items():
            (tmp_path / "raw" / path).parent.mkdir(parents=True, exist_ok=True)
            if text is not None:
                (tmp_path / "raw" / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        out = tmp_path / "out"
        out.mkdir(exist_ok=True)
        (out / "runs.csv").write_text("earlier")
        status = collect.main([*(arguments or ("--raw", str(tmp_path / "raw"))), "--out", str(out)])
        captured = capsys.readouterr()
        return status, captured.out.splitlines(), captured.err.splitlines()

    return write_and_collect


@pytest.fixture
def load(tmp_path):
    """Return a function that reads one table as it was written."""

    def read(name):
        with (tmp_path / "out" / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))

    return read


@pytest.fixture
def is_untouched(tmp_path):
    """Return a function: whether the output folder holds just what it held before."""
    out = tmp_path / "out"
    return lambda: [(path.name, path.read_text()) for path in out.iterdir()] == [("runs.csv", "earlier")]


def test_good_repository_is_collected_quietly(run, tmp_path):
    """All five tables are written; of note is only that they come from no commit, then totals and rounds."""
    status, printed, said = run()
    assert (status, said, printed[1:]) == (
        0,
        [],
        [
            "v5.0: 3 logs in 1 results, 0 logs unreadable, 0 files absent, 0 results left out",
            f"{tmp_path / 'out'} now holds v5.0",
        ],
    )
    assert printed[0].startswith("note: training_results_v5.0: read from a plain folder, sources.csv pins ")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{name}.csv" for name in TABLES]


def test_result_row(run, load, git, tmp_path):
    """A result says who, with what, how many, how scaled and where it is read from."""
    run()
    blobs = [git("hash-object", tmp_path / "raw" / path) for path in (SYSTEM_PATH, SCALING_PATH)]
    assert [list(row.values()) for row in load("results")] == [
        [
            *("v5.0", "Org", "box", "tiny", "Org and Friends", "box, 8 chips", "closed", "onprem", "X1"),
            *("2", "4", "8", "F 2.0", "3", "0", "1.25"),  # 2 nodes x 4 = 8 accelerators; 3 logs, 0 absent
            *("Org/systems/box.json", blobs[0], "Org/results/box/tiny/scaling.json", blobs[1]),
        ]
    ]


def test_run_rows(run, load, git, tmp_path):
    """A run says when, on which lines, how it ended, at what it converged and where it is read from."""
    run()
    rows = load("runs")
    assert [(row["run"], row["stop_ms"]) for row in rows] == [("0", "61000"), ("1", "62000"), ("2", "61000")]
    assert list(rows[1].values()) == [
        *("v5.0", "Org", "box", "tiny", "1", "1000", "3", "62000", "5", "success", "500", ""),
        *("7", "", "64.0", "samples_count", "", ""),  # the path follows from the key
        git("hash-object", tmp_path / "raw" / LOG_PATH),
    ]


def test_evaluation_round_and_reference_rows(run, load):
    """Evaluations carry their line; the round is in the folder's name; reference runs go by batch size."""
    run()
    assert [row["line"] + " " + row["value"] for row in load("evals")] == ["4 0.75"] * 3
    assert [list(row.values()) for row in load("rounds")] == [["v5.0", "", "", "5", "0", "0"]]  # 3 logs, 2 JSON
    found = [tuple(row.values())[1:5] for row in load("reference_convergence")]
    assert found == [("tiny", "8", "0", "3"), ("tiny", "8", "1", "2.5"), ("tiny", "16", "0", "70")]


def test_evaluations_of_other_benchmarks_are_left_out(run, load, monkeypatch):
    """Only benchmarks of which the data says so keep their evaluations."""
    monkeypatch.setattr(collect, "load_evaluations", lambda: {"tiny": False})
    run()
    assert (load("evals"), len(load("runs"))) == ([], 3)


def test_benchmark_that_is_not_known_is_named(run, load, monkeypatch):
    """A benchmark without a row in benchmarks.csv is read all the same, without its evaluations, and named."""
    monkeypatch.setattr(collect, "load_evaluations", dict)
    _, printed, _ = run()
    assert any("tiny is not in benchmarks.csv, the general rule is used" in line for line in printed)
    assert (load("evals"), len(load("runs"))) == ([], 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "benchmarks.csv: "),
        ("benchmark,runs\ntiny,3\n", "line 2: benchmark 'tiny' with evaluations None, expected a name with yes or no"),
        ("benchmark,evaluations\ntiny,no\nbig,maybe\n", "line 3: benchmark 'big' with evaluations 'maybe'"),
    ],
)
def test_which_evaluations_are_kept_is_said_or_refused(tmp_path, text, words):
    """Whether a benchmark keeps its evaluations is yes or no, and never taken for granted."""
    path = tmp_path / "benchmarks.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(collect.CollectError, match=re.escape(words)):
        collect.load_evaluations(path)


def test_every_key_is_a_column():
    """COLUMNS and KEYS describe the same tables, and each key is made of its table's columns."""
    assert sorted(collect.COLUMNS) == sorted(collect.KEYS) == TABLES
    for name, columns in collect.COLUMNS.items():
        assert len(set(columns)) == len(columns)
        assert set(collect.KEYS[name]) <= set(columns)


def system(*without, **changes):
    return {SYSTEM_PATH: json.dumps({key: SYSTEM[key] for key in SYSTEM if key not in without} | changes)}


def scaling(text):
    return {SCALING_PATH: text}


def points(**point):
    return {REFERENCE_PATH: json.dumps({"a": point})}


WHOLE, ABOVE_0, JSON_WANTED = "expected a whole number", "expected a number above 0", "expected JSON in UTF-8"
HUGE = 10**400  # beyond a float
BAD_SYSTEM = [
    (system(number_of_nodes="two"), f"number_of_nodes is 'two', {WHOLE}"),
    (system(number_of_nodes=True), f"number_of_nodes is True, {WHOLE}"),
    (system(number_of_nodes=None), f"number_of_nodes is None, {WHOLE}"),
    (system(number_of_nodes=float("nan")), f"number_of_nodes is nan, {WHOLE}"),
    (system(number_of_nodes="1_0"), f"number_of_nodes is '1_0', {WHOLE}"),  # Python's spelling, not JSON's
    (system(accelerators_per_node="1.5"), f"accelerators_per_node is '1.5', {WHOLE}"),
    (system(accelerators_per_node=HUGE), "accelerators_per_node is 1000"),
    (system(submitter=["Org"]), "submitter is ['Org'], expected text"),
    (system(framework="\ud800"), "framework"),  # half a surrogate pair, which no UTF-8 file can hold
    (system("number_of_nodes", **{"number of nodes": "2"}), "no number_of_nodes, found 'number of nodes'"),
    (system("division", divison="closed"), "no division, found 'divison'"),
    (system("division"), "no division"),  # and nothing like it
    (system("division", "status", divison="open"), "no division, found 'divison'; no status"),  # all of them, once
    ({SYSTEM_PATH: json.dumps(SYSTEM)[:-1] + ",}"}, JSON_WANTED),  # a trailing comma
    ({SYSTEM_PATH: "[]"}, "[], expected a JSON object"),
    ({SYSTEM_PATH: "null"}, "None, expected a JSON object"),
    ({SYSTEM_PATH: '{\n"a":\n}'}, "line 3"),
    ({SYSTEM_PATH: b'"\xff"'}, JSON_WANTED),
    ({SYSTEM_PATH: ""}, JSON_WANTED),
    ({SYSTEM_PATH: "[" * 100_000}, JSON_WANTED),  # beyond any parser's stack
    ({SYSTEM_PATH: None}, "no such file, expected the system description"),
]
BAD_SCALING = [
    (scaling('{"scaling_factor": "1"}'), f"scaling_factor is '1', {ABOVE_0}"),
    (scaling('{"scaling_factor": true}'), f"scaling_factor is True, {ABOVE_0}"),
    (scaling('{"scaling_factor": null}'), f"scaling_factor is None, {ABOVE_0}"),
    (scaling('{"scaling_factor": 0}'), f"scaling_factor is 0, {ABOVE_0}"),
    (scaling('{"scaling_factor": NaN}'), f"scaling_factor is nan, {ABOVE_0}"),
    (scaling(f'{{"scaling_factor": {HUGE}}}'), "scaling_factor is 1000"),
    (scaling("{}"), f"scaling_factor is None, {ABOVE_0}"),
    (scaling("[1.25]"), f"scaling_factor is [1.25], {ABOVE_0}"),
    (scaling("{"), JSON_WANTED),
    (scaling(""), JSON_WANTED),
]
BAD_POINTS = [
    (points(BS="8", **{"Epochs to converge": [3]}), ""),  # text where a number belongs
    (points(BS=None, **{"Epochs to converge": [3]}), ""),
    (points(BS=8, **{"Epochs to converge": [float("nan")]}), ""),  # `tables` refuses it later
    (points(BS=8, **{"Epochs to converge": "12"}), "a converges at '1', expected points with BS"),
    (points(BS=8), "'samples to converge', expected points with BS and a list of numbers"),
    ({REFERENCE_PATH: "[]"}, "expected points with BS"),
    ({REFERENCE_PATH: "null"}, ""),
    ({REFERENCE_PATH: "{"}, JSON_WANTED),
]
OTHER = {path.replace("box", "other"): text for path, text in GOOD.items() if "box" in path}  # a second system


def find_notes(printed, path):
    """The notes about a file of the repository, of which there should be one."""
    return [line for line in printed if path.split("/", 1)[1] + ": " in line]


@pytest.mark.parametrize(("changes", "words"), BAD_SYSTEM)
def test_system_that_cannot_be_described_is_left_out_and_the_others_read(run, load, changes, words):
    """Its file is named once, with all that is wrong in it and the results of each benchmark that are left out."""
    second = {path.replace("/tiny/", "/big/"): text for path, text in GOOD.items() if "/tiny/" in path}
    status, printed, _ = run(OTHER | second | changes)
    (note,) = find_notes(printed, SYSTEM_PATH)
    assert (status, words in note) == (0, True)
    assert note.endswith("2 results left out: Org/box/big, Org/box/tiny")
    assert {row["system"] for name in ("results", "runs", "evals") for row in load(name)} == {"other"}
    assert load("rounds")[0]["results_left_out"] == "2"
    assert "3 logs in 1 results, 0 logs unreadable, 0 files absent, 2 results left out" in printed[-2]


@pytest.mark.parametrize(("changes", "words"), BAD_SCALING)
def test_result_of_unknown_factor_is_left_out_alone(run, load, changes, words):
    """A factor that cannot be read is never taken for one, and the system's other results are read."""
    second = {path.replace("/tiny/", "/big/"): text for path, text in GOOD.items() if "/tiny/" in path}
    status, printed, _ = run(second | changes)
    (note,) = find_notes(printed, SCALING_PATH)
    assert (status, words in note) == (0, True)
    assert note.endswith("1 result left out: Org/box/tiny")
    assert [(row["benchmark"], row["scaling_factor"]) for row in load("results")] == [("big", "1.25")]
    assert {row["benchmark"] for row in load("runs")} == {"big"}


@pytest.mark.parametrize(("changes", "words"), BAD_POINTS)
def test_reference_points_that_cannot_be_read_are_named(run, load, changes, words):
    """A bad file of reference points leaves out its own points, and is named once."""
    status, printed, _ = run(changes)
    (note,) = find_notes(printed, REFERENCE_PATH)
    assert (status, words in note) == (0, True)
    assert note.endswith("; no reference points of tiny in v5.0")
    assert (load("reference_convergence"), len(load("runs"))) == ([], 3)


@pytest.mark.parametrize(("changes", "words"), [BAD_SYSTEM[0], BAD_SYSTEM[-1], BAD_SCALING[0]])
def test_repository_of_which_nothing_can_be_read_is_refused(run, is_untouched, changes, words):
    """Where no result is left, nothing is written and the old tables are untouched."""
    status, printed, said = run(changes)
    assert (status, printed, said[1:]) == (1, [], ["nothing was written"])
    assert words in said[0]
    assert is_untouched()


def test_missing_factor_is_none(run, load):
    """Without a scaling.json a result is not scaled, which is no problem."""
    _, printed, _ = run(scaling(None))
    assert [row["scaling_factor"] for row in load("results")] == [""]
    assert "0 results left out" in printed[-2]


@pytest.mark.parametrize("path", [SYSTEM_PATH, SCALING_PATH, REFERENCE_PATH])
def test_byte_order_mark_is_no_problem(run, load, path):
    """A file that begins with a byte order mark is read like one without."""
    run()
    plain = {name: load(name) for name in ("results", "reference_convergence")}
    status, *_ = run({path: "\ufeff" + GOOD[path]})
    blobs = ("system_blob", "scaling_blob")
    for name, rows in plain.items():
        assert [row | dict.fromkeys(blobs) for row in load(name)] == [row | dict.fromkeys(blobs) for row in rows]
    assert status == 0


def test_unreadable_log_is_noted_and_kept_as_a_row(run, load):
    """One log that cannot be read is a named, counted note, and its row carries the problem."""
    status, printed, _ = run({LOG_PATH: "hello"})
    problem = "found 5 bytes without one, expected lines marked :::MLLOG"
    assert printed[0] == f"note: training_results_v5.0: Org/results/box/tiny/result_1.txt: {problem}"
    assert (status, printed[-2].split(", ")[1]) == (0, "1 logs unreadable")
    assert [(row["problem"], row["stop_ms"]) for row in load("runs")] == [
        *(("", "61000"), (problem, ""), ("", "61000")),
    ]


def test_every_unreadable_log_is_named(run, load):
    """However many logs of a result are unreadable, each is a row and a note with its line."""
    torn = {f"{RESULT}/result_{i}.txt": log_text()[:-9] for i in range(3)}
    status, printed, _ = run(torn)
    named = [line.removeprefix("note: ") for line in printed if "expected a JSON object" in line]
    assert [line.split(": ")[1] for line in named] == [path.partition("/")[2] for path in torn]
    assert all(line.endswith("(line 5)") for line in named)
    assert (status, [bool(row["problem"]) for row in load("runs")]) == (0, [True] * 3)


@pytest.mark.parametrize(
    "text",
    [
        record("seed", 600, 10**400) + log_text(),  # beyond a float
        log_text() + ':::MLLOG {"a": ' + "[" * 100_000,  # beyond any parser's stack
        record("eval_accuracy", 1500, 0.5, samples_count=1, metric="\ud800") + log_text(),
        log_text().replace("64}}\n", "64}}" + record("eval_accuracy", 2000, 0.75, samples_count=64)),  # one line
    ],
    ids=["huge", "deep", "surrogate", "merged"],
)
def test_hostile_log_does_not_stop_the_others(run, load, text):
    """Whatever one log holds, the tables are written, and the other runs are in them."""
    assert run({LOG_PATH: text})[0] == 0
    assert [row["stop_ms"] for row in load("runs")][::2] == ["61000", "61000"]


def test_folder_named_as_a_log_is_noted(run):
    """A result_1.txt that is a folder is said to be left out, since a run is missing."""
    status, printed, _ = run({LOG_PATH: None, f"{LOG_PATH}/inside": "x"})
    assert status == 0
    assert "1 files named result_… that are no logs" in printed[0]
    assert "result_1.txt/inside" in printed[0]


def test_linked_log_is_read_and_leads_to_where_it_is_stored(run, load, tmp_path):
    """A log that is a link is a run like others, with the path and id of the file behind it."""
    path = tmp_path / "raw" / LOG_PATH
    path.parent.mkdir(parents=True)
    path.symlink_to("../../stored.txt")
    text = log_text(stop_ms=91_000)
    status, _, _ = run({LOG_PATH: None, "training_results_v5.0/Org/results/stored.txt": text})
    assert status == 0
    assert [(row["run"], row["stop_ms"], row["path"]) for row in load("runs")][1] == (
        *("1", "91000", "Org/results/stored.txt"),
    )


def test_link_is_fetched_with_what_it_leads_to(run, load, pins, tmp_path):
    """From a clone without contents, a log that is a link comes with the file behind it."""
    path = tmp_path / "raw" / LOG_PATH
    path.parent.mkdir(parents=True)
    path.symlink_to("../../stored.txt")
    run({LOG_PATH: None, "training_results_v5.0/Org/results/stored.txt": log_text(stop_ms=91_000)})
    status, _, _ = run({LOG_PATH: None}, arguments=pins())
    assert status == 0
    assert [row["stop_ms"] for row in load("runs")] == ["61000", "91000", "61000"]


def test_linked_folder_is_fetched_with_what_it_leads_to(run, load, pins, tmp_path):
    """From a clone without contents, a system's folder that is a link has the runs of the folder behind it."""
    results = tmp_path / "raw/training_results_v5.0/Org/results"
    results.mkdir(parents=True)
    (results / "twin").symlink_to("box")
    twin = {"training_results_v5.0/Org/systems/twin.json": json.dumps(SYSTEM)}
    run(twin)
    status, _, _ = run(twin, arguments=pins())
    assert status == 0
    rows = [(row["system"], row["run"], row["path"]) for row in load("runs")]
    assert rows[3:] == [("twin", run_, f"Org/results/box/tiny/result_{run_}.txt") for run_ in "012"]


def test_link_that_leads_nowhere_is_an_absent_log(run, load, tmp_path):
    """A log that is a link to nothing is counted and named, and the others are read."""
    path = tmp_path / "raw" / LOG_PATH
    path.parent.mkdir(parents=True)
    path.symlink_to("nothing.txt")
    status, printed, _ = run({LOG_PATH: None})
    assert status == 0
    assert [(row["logs"], row["logs_absent"]) for row in load("results")] == [("3", "1")]
    assert len(load("runs")) == 2
    assert any("1 of 3 logs absent: Org/results/box/tiny/result_1.txt" in line for line in printed)
    assert any("1 links or submodules that lead to no file here: Org/results/box" in line for line in printed)


def test_text_with_a_line_end_survives_the_csv(run, load):
    """White space in a name is one space in the table, so a carriage return breaks no row."""
    run(system(system_name="a\rb"))
    assert [(row["system_name"], row["nodes"]) for row in load("results")] == [("a b", "2")]


def test_folder_that_is_no_results_repository_is_named(run):
    """Another folder among the repositories is noted, and the rest is collected."""
    status, printed, _ = run({"stuff/a.txt": "x"})
    assert status == 0
    assert printed[0].endswith("stuff: not read, expected a name like training_results_v5.0")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("inference_results_v5.1", "inference_results_v5.1: not read, results of this suite are not read yet"),
        ("inference_results_v5.1.git", "inference_results_v5.1.git: not read, results of this suite are not read yet"),
        ("notes.txt", "notes.txt: not read, expected a folder"),
        ("training_results_v9.9", "training_results_v9.9: not read, a link that leads to no folder"),
    ],
)
def test_what_is_passed_over_is_named(run, tmp_path, name, words):
    """Another suite, a file and a broken link beside the repositories are each said once, and the rest is read."""
    path = tmp_path / "raw" / name
    path.parent.mkdir()
    if name.startswith("inference"):
        path.mkdir()
    elif name.endswith(".txt"):
        path.write_text("x")
    else:
        path.symlink_to("nowhere")
    status, printed, _ = run()
    assert (status, sum(line.endswith(words) for line in printed)) == (0, 1)


@pytest.mark.parametrize("itself", [True, False])
def test_repository_goes_by_the_name_of_the_link(run, load, tmp_path, itself):
    """A link named as a results repository is one, whatever its target is called, alone or among others."""
    run()
    (tmp_path / "raw/training_results_v5.0").rename(tmp_path / "elsewhere")
    (tmp_path / "raw/training_results_v5.1").symlink_to(tmp_path / "elsewhere")
    raw = tmp_path / "raw/training_results_v5.1" if itself else tmp_path / "raw"
    assert collect.main(["--raw", str(raw), "--out", str(tmp_path / "out")]) == 0
    assert [row["round"] for row in load("rounds")] == ["v5.1"]


@pytest.mark.parametrize("itself", [True, False])
def test_link_by_another_name_is_passed_over(run, is_untouched, tmp_path, capsys, itself):
    """A link that is named otherwise than its target is no results repository, and is named."""
    for path, text in GOOD.items():
        (tmp_path / "far" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "far" / path).write_text(text)
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/latest").symlink_to(tmp_path / "far/training_results_v5.0")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/runs.csv").write_text("earlier")
    raw = tmp_path / "raw/latest" if itself else tmp_path / "raw"
    assert collect.main(["--raw", str(raw), "--out", str(tmp_path / "out")]) == 1
    passed = "Org, README.md" if itself else "latest"
    assert f"named like training_results_v5.0; passed over: {passed}\n" in capsys.readouterr().err
    assert is_untouched()


def test_commit_that_is_not_the_pinned_one_is_named(run, pins, git, tmp_path, capsys):
    """The commit that is read is compared with the pin; a round that is not pinned is named, too."""
    run()
    pins()
    csv_path, clone = tmp_path / "pins.csv", tmp_path / "raw/training_results_v5.0"
    pinned = csv_path.read_text().splitlines()[2].rpartition(",")[2]
    git("checkout", "--quiet", pinned, cwd=clone)

    def collect_notes():
        capsys.readouterr()
        assert collect.main(["--raw", str(clone), "--pins", str(csv_path), "--out", str(tmp_path / "out")]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if "read from" in line]

    assert collect_notes() == []
    git("commit", "--quiet", "--allow-empty", "--message=later", cwd=clone)
    later = git("rev-parse", "HEAD", cwd=clone)
    assert collect_notes() == [f"note: training_results_v5.0: read from {later}, sources.csv pins {pinned}"]
    csv_path.write_text("name,repository,commit\n")
    assert collect_notes() == [f"note: training_results_v5.0: read from {later}, and not in sources.csv"]


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("nowhere", "nowhere: no such folder, expected a folder of results repositories"),
        ("raw/reference_convergence", "no results repository found, expected folders named like training_"),
        ("raw/training_results_v5.0/Org", "no results repository found"),
    ],
)  # fmt: skip
def test_nothing_to_collect_is_an_error(run, is_untouched, tmp_path, folder, message):
    """Without a results repository nothing is written."""
    status, _, (said, *_) = run(arguments=("--raw", str(tmp_path / folder)))
    assert (status, message in said) == (1, True)
    assert is_untouched()


def test_one_repository_may_be_given_itself(run, load, tmp_path, monkeypatch):
    """--raw takes one results repository as well as a folder of them, also as `.`."""
    assert run(arguments=("--raw", str(tmp_path / "raw/training_results_v5.0")))[0] == 0
    monkeypatch.chdir(tmp_path / "raw/training_results_v5.0")
    assert run(arguments=("--raw", "."))[0] == 0


def test_same_round_twice_is_an_error(run, is_untouched):
    """Two copies of a round would count every run twice."""
    copy = {path.replace("v5.0/", "v5.0.git/", 1): text for path, text in GOOD.items() if "v5.0/" in path}
    status, _, (said, *_) = run(copy)
    assert (status, said) == (1, "rounds: 1 keys more than once: ('v5.0',)")
    assert is_untouched()


def test_table_that_is_a_folder_stops_before_anything_is_written(run, tmp_path):
    """One table that cannot be replaced leaves the others as they were, too."""
    (tmp_path / "out/results.csv").mkdir(parents=True)
    status, _, said = run()
    assert (status, said[-1]) == (1, "nothing was written")
    assert "results.csv is a folder, expected a file or nothing" in said[0]
    assert (tmp_path / "out/runs.csv").read_text() == "earlier"


def test_output_that_cannot_be_written_is_one_message(run, tmp_path, capsys):
    """A file where the folder belongs is said in a line."""
    run()
    out = tmp_path / "out" / "runs.csv"
    assert collect.main(["--raw", str(tmp_path / "raw"), "--out", str(out)]) == 1
    assert str(out) in capsys.readouterr().err


def test_pinned_repositories_are_cloned_and_read(run, load, pins, tmp_path):
    """Cloning gives the tables that a local copy gives, but for the commit."""
    run()
    local = {name: load(name) for name in TABLES}
    arguments = pins()
    shutil.move(tmp_path / "raw", tmp_path / "remotes")
    text = (tmp_path / "pins.csv").read_text().replace("/raw/", "/remotes/")
    (tmp_path / "pins.csv").write_text(text)
    assert run(arguments=arguments)[0] == 0
    cloned = {name: load(name) for name in TABLES}
    assert cloned["rounds"].pop()["commit"] == text.splitlines()[2].rpartition(",")[2]
    assert cloned == local | {"rounds": []}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "pins.csv"),  # no such file
        ("name,commit\ntraining_results_v5.0,abc\n", "repository"),  # a column is missing
        (
            "name,repository,commit\ntraining_results_v5.0,/nowhere/r,abc\n",
            "commit is 'abc', expected 40 hexadecimal digits",
        ),
        ("name,repository,commit\n", "no results repository found"),
        ("name,repository,commit\ntraining_results_v5.0,/nowhere/r\n", "pins.csv"),  # a cell is missing
    ],
)
def test_bad_pins_are_named(run, is_untouched, tmp_path, text, words):
    """Pins that cannot be followed are an error that says why, and nothing is written."""
    if text is not None:
        (tmp_path / "pins.csv").write_text(text)
    arguments = ("--pins", str(tmp_path / "pins.csv"), "--clones", str(tmp_path / "clones"))
    status, _, (said, *_) = run(arguments=arguments)
    assert status == 1
    assert words in said
    assert is_untouched()


def test_check_names_the_cell_that_differs_and_writes_nothing(run, tmp_path, capsys):
    """A cell changed by hand is named with table, key, column, stored and derived; equal tables pass."""
    run()
    runs = tmp_path / "out" / "runs.csv"
    check = ["--raw", str(tmp_path / "raw"), "--out", str(runs.parent), "--check"]
    assert collect.main(check) == 0
    changed = runs.read_text().replace(",success,", ",aborted,", 1)
    runs.write_text(changed)
    capsys.readouterr()
    assert collect.main(check) == 1
    assert "status is stored as 'aborted', derived as 'success'" in capsys.readouterr().out
    assert runs.read_text() == changed


def test_round_that_is_no_longer_read_is_named(run, tmp_path):
    """Tables that replace others say which rounds they no longer hold."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "rounds.csv").write_text("round,repository,commit,files_read,files_absent\nv9.9,,,1,0\n")
    status, printed, _ = run()
    assert status == 0
    assert any("round v9.9 was there, and is not in what was read" in line for line in printed)


def test_reference_points_have_one_path_wherever_they_lie(run, load, tmp_path):
    """A copy of the folder and a clone of the repository it is in give the same rows."""
    run()
    copied = load("reference_convergence")
    (path,) = (path for path in GOOD if path.startswith("reference_convergence/"))
    deeper = path.replace("reference_convergence/", "logging/mlperf_logging/rcp_checker/")
    (tmp_path / "raw" / path).unlink()
    status, *_ = run({path: None, deeper: GOOD[path]})
    assert status == 0
    assert load("reference_convergence") == copied
