"""Tests of `run`: an executed copy says only what its notebook found, also where a cell fails."""

import json
import re

import pytest

from mlperf_claims.report import execute as run
from mlperf_claims.report.execute import run_notebook

SIZE = "size: int = 4"
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


@pytest.fixture(scope="module")
def execute(tmp_path_factory):
    """A function: execute a notebook of these cells with size=16, in a folder of its own each time."""

    def execute_cells(*sources):
        folder = tmp_path_factory.mktemp("run")
        cells = [
            {"cell_type": "code", "id": f"cell-{number}", "source": source, "metadata": {}}
            | {"outputs": [], "execution_count": None}
            for number, source in enumerate((SIZE, *sources))
        ]
        cells[0]["metadata"] = {"tags": ["parameters"]}
        content = {"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}
        (folder / "tiny.ipynb").write_text(json.dumps(content))
        (folder / "tiny.json").write_text('{"size": 16}')
        executed = folder / "new" / "tiny.ipynb"
        failure = run_notebook(folder / "tiny.ipynb", folder / "tiny.json", executed)
        return failure, executed

    return execute_cells


GOOD = (
    "import pandas as pd\nprint(size)",
    "from mlperf_claims.report.show import say\nsay(f'{size} chips')",
    "pd.DataFrame({'a': [1, 2]})",
    "import warnings\nwarnings.warn('careful')",
)


@pytest.fixture(scope="module")
def twice(execute):
    """Two executions of the same notebook."""
    return [execute(*GOOD) for _ in range(2)]


@pytest.fixture(scope="module")
def failed(execute):
    """An execution of which the second cell of three fails, with a message of two lines."""
    return execute("size", "raise ValueError('no chip\\nat all')", "print('never')")


def outputs(executed):
    return [output for cell in json.loads(executed.read_text())["cells"] for output in cell["outputs"]]


def without_warning(executed):
    content = json.loads(executed.read_text())
    return content["cells"][:-1]


def test_parameters_reach_the_cells(twice):
    """The value given is the one that the cells work with, and not the default."""
    failure, executed = twice[0]
    assert failure == ""
    assert outputs(executed)[0]["text"] == ["16\n"]
    assert outputs(executed)[1]["data"]["text/markdown"] == ["16 chips"]


def test_same_inputs_give_the_same_bytes(twice):
    """Two executions in two kernels and two folders leave the same file, but for a warning's."""
    (_, one), (_, other) = twice
    assert without_warning(one) == without_warning(other)


def test_warning_gives_the_same_bytes_too(twice):
    """Python warns with the path of a cell's file, which holds the number of the kernel's process."""
    (_, one), (_, other) = twice
    assert one.read_bytes() == other.read_bytes()


def test_copy_has_no_time_and_no_path(twice):
    """Neither times nor folders of the machine stand in an executed copy, outside of a warning."""
    _, executed = twice[0]
    text = json.dumps(without_warning(executed))
    assert str(executed.parent.parent) not in text
    assert re.findall(r"/tmp|/home|/work|\d{4}-\d\d-\d\d|papermill|duration|iopub", text) == []
    assert list(json.loads(executed.read_text())["metadata"]) == ["kernelspec"]


def test_ids_are_kept_and_the_injected_cell_has_a_fixed_one(twice):
    """Papermill gives the injected cell an id of chance; ours is always the same."""
    cells = json.loads(twice[0][1].read_text())["cells"]
    assert [cell["id"] for cell in cells[:3]] == ["cell-0", "injected-parameters", "cell-1"]


def test_nothing_is_left_beside_the_copy(twice, failed):
    """The copy is written whole, then moved into place."""
    for _, executed in (*twice, failed):
        assert [path.name for path in executed.parent.iterdir()] == ["tiny.ipynb"]


def test_failure_is_told_in_a_line(failed):
    """What failed is the cell, the error and its message, on one line of a log."""
    failure, _ = failed
    assert failure.startswith("cell 4: ValueError: no chip")
    assert "\n" not in failure


def test_failed_copy_is_written(failed):
    """The copy of a failed notebook is there for the report, with what failed."""
    _, executed = failed
    assert [output["output_type"] for output in outputs(executed)] == ["execute_result", "error"]


def test_failed_notebook_runs_again(tmp_path, monkeypatch):
    """Its parameters file goes, which make then writes anew: newer than the copy, so the notebook runs again."""
    parameters = tmp_path / "tiny.json"
    for failure, there in (("", True), ("cell 2: ValueError: no", False)):
        parameters.write_text("{}")
        monkeypatch.setattr(run, "run_notebook", lambda *_, failure=failure: failure)
        assert run.main(["tiny.ipynb", str(parameters), "out.ipynb"]) == 0
        assert parameters.is_file() == there


def test_notebook_with_nothing_to_audit_ends_without_failing(execute):
    """NoClaims ends a notebook at the cell that says so; its words are shown, and what follows is left out."""
    source = "from mlperf_claims.claims.articles import NoClaims\nraise NoClaims('No claim of this kind.')"
    failure, executed = execute(source, "print('never')")
    assert failure == ""
    assert [output["data"] for output in outputs(executed)] == [{"text/markdown": "No claim of this kind."}]
    assert "never" not in executed.read_text()


def test_failed_copy_holds_every_cell_and_no_notice_of_papermill(failed):
    """Cells after the failing one are kept, unexecuted; the notices that papermill adds are not."""
    cells = json.loads(failed[1].read_text())["cells"]
    assert ["".join(cell["source"]) for cell in cells][-1] == "print('never')"
    assert len(cells) == 5  # the four, and the injected one


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import os\nos._exit(3)", "ernel died"),  # a crash, as for want of memory
        ("raise SystemExit(0)", "SystemExit"),  # papermill takes it for success, and later cells never ran
    ],
)
def test_dead_kernel_is_a_failure_like_any_other(execute, source, message):
    """A kernel that ends early leaves a marked copy, so that the report is still written."""
    failure, executed = execute(source, "print('never')")
    assert message in failure
    assert "error" in [output["output_type"] for output in outputs(executed)]


def test_command_line_reports_and_goes_on(monkeypatch, capsys):
    """A failed notebook is named and make goes on to the report, which marks it."""
    monkeypatch.setattr(run, "run_notebook", lambda *_: "cell 2: ValueError: no")
    assert run.main(["a/tiny.ipynb", "p.json", "b/tiny.ipynb"]) == 0
    assert "FAILED in cell 2: ValueError: no" in capsys.readouterr().out
