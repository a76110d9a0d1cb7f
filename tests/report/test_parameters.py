"""Tests of `parameters`: what a notebook's parameters cell says, and what a command line may set."""

import json
import os

import pytest

from mlperf_claims import paths
from mlperf_claims.report import parameters
from mlperf_claims.report.parameters import ParameterError, assign, read_parameters, write_parameters

ONE = 'article: str = ""  # unit: none\nsize: int = 4\nratio: float | None = None\nquiet: bool = False\n'


@pytest.fixture
def make(tmp_path):
    """A function: a notebook with one tagged cell for each source."""

    def make_notebook(*sources, name="one"):
        cells = [{"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}]
        cells += [
            {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": source.splitlines(keepends=True)}
            for source in sources
        ]
        path = tmp_path / f"{name}.ipynb"
        path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
        return path

    return make_notebook


def test_parameters_are_names_defaults_and_types(make):
    """Each annotated literal is a parameter; a cell of comments alone has none."""
    assert read_parameters(make(ONE)) == {
        "article": ("", "str"),
        "size": (4, "int"),
        "ratio": (None, "float | None"),
        "quiet": (False, "bool"),
    }
    assert read_parameters(make("# nothing to set")) == {}


@pytest.mark.parametrize(("sources", "count"), [([], 0), ([ONE, ONE], 2)])
def test_not_one_parameters_cell_is_an_error(make, sources, count):
    """Papermill would warn and run the defaults, so anything but one cell is refused."""
    with pytest.raises(ParameterError, match=rf"one\.ipynb has {count} cells tagged parameters, expected one"):
        read_parameters(make(*sources))


@pytest.mark.parametrize(
    "statement",
    [
        "size = 4",  # no type
        "size: int",  # no default
        "size: int = 2 * 2",  # computed: papermill would keep what follows from the default
        "size: int = len('four')",
        "size: int = other",
        "size: list = [print()]",
        "size: dict = {[]: 1}",  # no such dictionary
        "import os",
        "box.size: int = 4",
        "size += 1",
        "print(4)",
        "for size in (1, 2): pass",
        "%matplotlib inline",  # no Python
    ],
)
def test_statement_that_is_no_literal_is_refused(make, statement):
    """Whatever is not `name: type = literal` is an error that shows the notebook and the statement."""
    with pytest.raises(ParameterError, match=r"one\.ipynb.*expected name: type = literal"):
        read_parameters(make(f"article: str = ''\n{statement}"))


def test_name_bound_twice_is_refused(make):
    """Two defaults for one name leave open which holds."""
    with pytest.raises(ParameterError, match="size"):
        read_parameters(make("size: int = 4\nsize: int = 5"))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("SIZE", "16", 16),
        ("SIZE", "-1", -1),
        ("RATIO", "0.5", 0.5),
        ("RATIO", "2", 2),  # a whole number is a float's value too
        ("RATIO", "1e3", 1000.0),
        ("QUIET", "True", True),
    ],
)
def test_value_has_the_type_of_its_parameter(make, name, text, value):
    """A text of the command line becomes the value that the annotation asks for."""
    assigned = assign([make(ONE)], "paper", {name: text})
    assert assigned == {"one": {"article": "paper", name.lower(): value}}
    assert type(assigned["one"][name.lower()]) is type(value)


@pytest.mark.parametrize("text", ["16", "'; rm -rf /", "", "None", "ü"])
def test_text_is_taken_as_it_stands(make, text):
    """A parameter of type str takes any text, quotes and all."""
    notebook = make("label: str = 'a'")
    assert assign([notebook], "paper", {"LABEL": text})["one"]["label"] == text


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("SIZE", "four", "int"),
        ("SIZE", "4.5", "int"),
        ("SIZE", "", "int"),
        ("SIZE", "True", "int"),  # Python would count it as 1
        ("SIZE", "2,496", "int"),
        ("SIZE", "__import__('os')", "int"),
        ("SIZE", "(" * 500, "int"),
        ("SIZE", "{[]}", "int"),  # Python raises TypeError for it
        ("SIZE", "-" * 5000 + "1", "int"),  # deeper than the parser's stack
        ("RATIO", "half", "float"),
        ("RATIO", "nan", "float"),
        ("RATIO", "1e400", "float"),  # Python reads infinity
        ("QUIET", "yes", "bool"),
        ("QUIET", "1", "bool"),
    ],
)
def test_value_of_a_wrong_type_is_refused(make, name, text, wanted):
    """A value that the annotation does not allow is named with the type wanted."""
    with pytest.raises(ParameterError, match=rf"{name}=.*, expected {wanted}$"):
        assign([make(ONE)], "paper", {name: text})


@pytest.mark.parametrize("name", ["SIZ", "size", "SIZE "])
def test_unknown_parameter_suggests_the_nearest(make, name):
    """A name that no notebook has is an error, where papermill would warn and run the defaults."""
    with pytest.raises(ParameterError, match=rf"nor the article has a parameter {name}; did you mean SIZE\?"):
        assign([make(ONE)], "paper", {name: "4"})


def test_every_unknown_parameter_is_listed(make):
    """One error names both."""
    with pytest.raises(ParameterError) as raised:
        assign([make(ONE)], "paper", {"SIZ": "1", "RATO": "1"})
    assert [line.split(";")[0][-4:].strip() for line in str(raised.value).splitlines()] == ["SIZ", "RATO"]


def test_article_is_no_parameter_of_its_own(make):
    """The article is given as such, and not twice."""
    with pytest.raises(ParameterError, match="neither a notebook nor the article has a parameter ARTICLE"):
        assign([make(ONE)], "paper", {"ARTICLE": "other"})


def test_parameter_goes_to_the_notebooks_that_have_it(make):
    """A notebook without the parameter gets the article alone."""
    notebooks = [make(ONE), make('article: str = ""', name="two")]
    assert assign(notebooks, "paper", {"SIZE": "16"}) == {
        "one": {"article": "paper", "size": 16},
        "two": {"article": "paper"},
    }


def test_assumption_of_the_article_goes_by_its_name(make):
    """A notebook that takes assumptions is given those named on the command line, any other is not."""
    notebooks = [make(ONE), make("assumptions: dict[str, float] = {}", name="two")]
    assigned = assign(notebooks, "paper", {"CHIPS_PER_RACK": "16"}, assumptions=["chips_per_rack", "price"])
    assert assigned == {
        "one": {"article": "paper"},
        "two": {"article": "paper", "assumptions": {"chips_per_rack": 16.0}},
    }


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e400", "many", ""])
def test_assumption_out_of_range_is_refused(make, text):
    """A rack holds no chip less than nothing: refused before a kernel starts."""
    notebook = make("assumptions: dict[str, float] = {}")
    with pytest.raises(ParameterError, match=r"CHIPS_PER_RACK=.*expected"):
        assign([notebook], "paper", {"CHIPS_PER_RACK": text}, assumptions=["chips_per_rack"])


def test_assumptions_are_no_parameter_of_their_own(make):
    """They go by their names, and not all at once."""
    with pytest.raises(ParameterError, match="a parameter ASSUMPTIONS"):
        assign([make("assumptions: dict[str, float] = {}")], "paper", {"ASSUMPTIONS": "{}"})


def test_only_what_changed_is_written(tmp_path):
    """A file is rewritten only when its content changes, since make goes by its time."""
    assigned = {"one": {"article": "paper"}, "two": {"article": "paper", "size": 4}}
    folder = tmp_path / "new" / "parameters"
    assert [path.name for path in write_parameters(assigned, folder)] == ["one.json", "two.json"]
    os.utime(folder / "one.json", (1, 1))
    assert [path.name for path in write_parameters(assigned | {"two": {"size": 5}}, folder)] == ["two.json"]
    assert (folder / "one.json").stat().st_mtime == 1
    assert json.loads((folder / "two.json").read_text()) == {"size": 5}
    assert sorted(path.name for path in folder.iterdir()) == ["one.json", "two.json"]  # no leftover


@pytest.fixture
def project(make, tmp_path, monkeypatch):
    """A made-up project with an article `paper` and one notebook; gives its folder."""
    make(ONE)
    monkeypatch.setattr(parameters, "_list_assumptions", lambda article, given: ["chips_per_rack"] if given else [])
    (tmp_path / "paper.yaml").touch()
    for name in ("NOTEBOOKS", "ARTICLES", "BUILD"):
        monkeypatch.setattr(paths, name, tmp_path)
    return tmp_path


def test_command_line_writes_a_file_for_each_notebook(project):
    """Variables of the Makefile are passed over, parameters are written."""
    given = ["--names", "ARTICLE JOBS", "--given", "ARTICLE=paper JOBS=3 SIZE=16", "paper"]  # as the Makefile does
    assert parameters.main(given) == 0
    written = json.loads((project / "paper" / "parameters" / "one.json").read_text())
    assert written == {"article": "paper", "size": 16}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["papr"], "no article 'papr' in data/articles, expected one of paper"),
        (["--given", "SIZ=1", "paper"], "neither a notebook nor the article has a parameter SIZ; did you mean SIZE?"),
        (["--given", "SIZE=a=b", "paper"], "SIZE='a=b', expected int"),  # cut at the first sign alone
    ],
)
def test_command_line_refuses_what_is_unknown(project, capsys, arguments, message):
    """A wrong article or parameter is told on stderr, with a status and without a file."""
    assert parameters.main(arguments) == 1
    assert message in capsys.readouterr().err
    assert not (project / "paper").exists()


@pytest.mark.parametrize("notebook", sorted(paths.NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_committed_notebook_takes_an_article(notebook):
    """Every notebook has one parameters cell of literals, and the article is among them."""
    assert read_parameters(notebook)["article"] == ("", "str")


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("", {}),
        ("A=1 B=x", {"A": "1", "B": "x"}),
        (r"A=1\ 6", {"A": "1 6"}),  # make escapes a blank in a value
        ("A=it's", {"A": "it's"}),  # and no quote
        ("A=b=c", {"A": "b=c"}),
    ],
)
def test_overrides_are_split_as_make_joins_them(text, given):
    """What stands on make's command line comes out as it was given."""
    assert parameters.split_overrides(text) == given
