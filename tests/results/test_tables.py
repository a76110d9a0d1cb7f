"""Tests of `tables`: which CSVs are refused, and that the committed ones are whole."""

import re

import pytest

from mlperf_claims import paths
from mlperf_claims.read.collect import load_pins
from mlperf_claims.read.grains import COLUMNS, KEYS, RESULT_KEY
from mlperf_claims.results.tables import CONSTANTS, TableError, load_runs, load_table

HEAD = "round,repository,commit,files_read,files_absent,results_left_out"


def read_dictionary(name):
    """Rows of a table in the data dictionary, each cell without its backticks."""
    sections = (paths.DATA / "README.md").read_text(encoding="utf-8").split("\n## ")
    (mine,) = (section for section in sections if section.startswith(f"`{name}.csv`"))
    rows = [line.strip("|").split("|") for line in mine.splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`") for cell in row] for row in rows]


@pytest.fixture
def load(tmp_path):
    """A function: write lines as rounds.csv, or as another table, and load it."""

    def load_lines(*lines, name="rounds"):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return load_table(name, tmp_path)

    return load_lines


@pytest.fixture(scope="module")
def committed():
    """Every committed table."""
    return {name: load_table(name) for name in COLUMNS}


def test_good_table_is_typed(load):
    """Whole numbers come as integers, the rest as text."""
    frame = load(HEAD, "v1,r,c,12,0,0")
    assert frame.to_dict("records") == [
        {"round": "v1", "repository": "r", "commit": "c", "files_read": 12, "files_absent": 0, "results_left_out": 0}
    ]


def test_empty_cell_is_missing_and_not_zero(load):
    """An empty number is missing, and a zero is a zero; an empty text stays one."""
    frame = load(HEAD, "v1,,c,,0,0")
    assert frame["files_read"].isna().all()
    assert frame["files_absent"].tolist() == [0]
    assert frame["repository"].tolist() == [""]


@pytest.mark.parametrize("text", ["NA", "None", "nan", "null", "N/A"])
def test_text_that_looks_missing_stays_text(load, text):
    """A system may be called NA: in a column of text nothing but the empty cell is missing."""
    assert load(HEAD, f"v1,{text},c,1,0,0")["repository"].tolist() == [text]


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("round,repository,commit,files_read", r"no column 'files_absent'"),
        ("round,repository,comit,files_read,files_absent", r"no column 'commit', found 'comit'"),
        (f"{HEAD},licence", r"unknown column 'licence', expected round, repository"),
        (f"{HEAD},round", r"column 'round"),  # the same name twice
    ],
)
def test_other_columns_are_refused(load, head, message):
    """A missing, misspelt, unknown or doubled column is named, with the nearest there is."""
    with pytest.raises(TableError, match=message):
        load(head, ",".join("1" for _ in head.split(",")))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["v1,r,c,many,0,0"], "line 2: files_read is 'many', expected a whole number"),
        (["v1,r,c,1,0,0", "v2,r,c,1,0.5,0"], "line 3: files_absent is '0.5', expected a whole number"),
        (["v1,r,c,inf,0,0"], "line 2: files_read is 'inf'"),
        (["v1,r,c,nan,0,0"], "line 2: files_read is 'nan'"),
        (["v1,r,c,0x10,0,0"], "line 2: files_read is '0x10'"),
        (['v1,r,c,"1,000",0,0'], "line 2: files_read is '1,000'"),
        (["", "v1,r,c,many,0,0"], "line 3: files_read is 'many'"),  # a blank line counts
        (['v0,"r\nr",c,1,0,0', "v1,r,c,many,0,0"], "line 4: files_read is 'many'"),  # a cell of two lines
        (["v1,r,c,1,0,0", "v1,r,c,2,0,0"], "line 3: key ('v1',) again"),
        (["v1,r,c,1,0,0,extra"], "line 2"),  # pandas would take the first column for an index
        (["v1,r,c,1,0,0,7"], "line 2"),  # and here every cell would fit the column it slid into
        (["v1,r,c,1,0,0", "v2,r,c,1,0,0,7"], "line 3"),
        (["v1,r,c"], "line 2"),  # cells that are not there are no empty cells
        (["v1,r,c,99999999999999999999,0,0"], "line 2: files_read is '99999999999999999999'"),  # beyond 64 bits
        (['v1,"r,c,1,0,0'], "unexpected end of data"),
    ],
)
def test_wrong_cells_are_named(load, lines, message):
    """A cell that does not fit is named by file, line, column and value."""
    with pytest.raises(TableError, match=re.escape(message)) as raised:
        load(HEAD, *lines)
    assert "rounds.csv: " in str(raised.value)


def test_every_problem_is_listed_at_once(load):
    """One error lists the wrong cells of both columns and the key that is there twice."""
    with pytest.raises(TableError) as raised:
        load(HEAD, "v1,r,c,x,0,0", "v1,r,c,1,y,0")
    assert len(str(raised.value).splitlines()) == 3


def test_whole_numbers_are_exact(load):
    """A whole number beyond 2**53, as a seed may be, is not rounded."""
    assert load(HEAD, "v1,r,c,9007199254740993,0,0")["files_read"].tolist() == [9007199254740993]


def test_rows_come_sorted_by_key(load):
    """Rows are in the order of their key, whatever order the file has."""
    assert load(HEAD, "v2,r,c,1,0,0", "v1,r,c,1,0,0")["round"].tolist() == ["v1", "v2"]


@pytest.mark.parametrize("content", [None, b"", b"round\n\xff\n"])
def test_file_that_is_no_table_is_refused(tmp_path, content):
    """A file that is absent, empty or not UTF-8 is named, with the columns wanted."""
    if content is not None:
        (tmp_path / "rounds.csv").write_bytes(content)
    with pytest.raises(TableError, match=r"rounds\.csv: .*expected a CSV with columns round"):
        load_table("rounds", tmp_path)


def test_value_may_be_nan_in_evaluations_alone(load):
    """Mask R-CNN logs no single accuracy: nan is a value there, and nowhere else."""
    row = dict.fromkeys(COLUMNS["evals"], "1") | {"value": "nan"}
    head = ",".join(row)
    assert load(head, ",".join(row.values()), name="evals")["value"].isna().all()
    with pytest.raises(TableError, match="progress is 'nan', expected a number"):
        load(head, ",".join((row | {"progress": "nan"}).values()), name="evals")


def test_time_to_train_is_run_start_to_run_stop_in_minutes(tmp_path):
    """90,000 ms are 1.5 minutes; a log without its end has no time, rather than none at all."""
    rows = ["v1,o,s,b,0,1000,1,91000,9,success,,,,,,,,p,b", "v1,o,s,b,1,1000,1,,,,,,,,,,cut,p,b"]
    (tmp_path / "runs.csv").write_text("\n".join([",".join(COLUMNS["runs"]), *rows]) + "\n")
    minutes = load_runs(tmp_path)["time_to_train_min"]
    assert minutes[0] == 1.5
    assert minutes.isna().tolist() == [False, True]


@pytest.mark.parametrize("name", COLUMNS)
def test_committed_table_has_rows_and_a_whole_key(committed, name):
    """Every committed table loads, so its key is unique, and no part of a key is empty."""
    keys = committed[name][list(KEYS[name])]
    assert len(keys)
    assert not (keys.isna() | (keys == "")).any(axis=None)


@pytest.mark.parametrize(
    ("round_", "logs", "results"),
    [  # counted in the repositories
        *(("v3.0", 2771, 260), ("v3.1", 2208, 209), ("v4.0", 2418, 205)),
        *(("v4.1", 1309, 154), ("v5.0", 1717, 201), ("v5.1", 1669, 185)),
    ],
)
def test_committed_totals_are_those_of_the_repositories(committed, round_, logs, results):
    """No log and no result of a round was lost or invented."""
    of_round = {name: table[table["round"] == round_] for name, table in committed.items()}
    assert (len(of_round["runs"]), len(of_round["results"])) == (logs, results)
    absent = of_round["results"]["logs_absent"].sum()
    assert of_round["results"]["logs"].sum() == logs + absent
    assert of_round["rounds"]["files_absent"].tolist() == [absent]
    assert of_round["rounds"]["results_left_out"].tolist() == [0]


def test_each_result_has_its_own_runs(committed):
    """A result has as many runs as logs are there, and no run is without a result."""
    counted = committed["runs"].groupby(list(RESULT_KEY)).size().rename("counted").reset_index()
    joined = committed["results"].merge(counted, on=list(RESULT_KEY), how="outer", validate="one_to_one")
    assert (joined["logs"] - joined["logs_absent"] == joined["counted"].fillna(0)).all()


def test_accelerators_multiply(committed):
    """The total is nodes times accelerators per node, in every result."""
    results = committed["results"]
    assert (results["accelerators_total"] == results["nodes"] * results["accelerators_per_node"]).all()


def test_run_that_counts_stopped_after_it_started(committed):
    """A log read without a problem has a status, and its stop stands after its start."""
    runs = committed["runs"].query("problem == ''")
    assert (runs["stop_ms"] > runs["start_ms"]).all()
    assert (runs["stop_line"] > runs["start_line"]).all()
    assert set(runs["status"]) <= {"success", "aborted"}


def test_every_round_is_read_at_its_pin(committed):
    """The tables hold the rounds that sources.csv pins, each at its commit."""
    pins = {pin["name"]: pin["commit"] for pin in load_pins() if pin["name"].startswith("training_results_")}
    rounds = committed["rounds"]
    assert dict(zip("training_results_" + rounds["round"], rounds["commit"], strict=True)) == pins
    assert set(committed["results"]["round"]) == set(rounds["round"])


def test_path_of_a_log_follows_from_its_key(tmp_path):
    """A path that is not stored is that of the result's folder; one that a link leads to is stored."""
    rows = ["v1,o,s,b,0,,,,,,,,,,,,p,,", "v1,o,s,b,1,,,,,,,,,,,,p,elsewhere/log.txt,"]
    (tmp_path / "runs.csv").write_text("\n".join([",".join(COLUMNS["runs"]), *rows]) + "\n")
    assert load_runs(tmp_path)["path"].tolist() == ["o/results/s/b/result_0.txt", "elsewhere/log.txt"]


@pytest.mark.parametrize("name", [*COLUMNS, *CONSTANTS])
def test_dictionary_rows_are_the_columns_both_ways(name):
    """The data dictionary explains every column of a table in order, and no other."""
    assert [row[0] for row in read_dictionary(name)] == list({**COLUMNS, **CONSTANTS}[name])


@pytest.mark.parametrize("name", COLUMNS)
def test_what_the_dictionary_calls_never_empty_never_is(committed, name):
    """No cell is empty in a column of which the dictionary says so."""
    never = [row[0] for row in read_dictionary(name) if row[4] == "never empty"]
    cells = committed[name][never]
    assert never
    assert not (cells.isna() | (cells == "")).any(axis=None)
