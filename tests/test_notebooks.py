"""Tests of the committed notebooks: clean, without arguments of their own, and about no one in particular."""

import ast
import json
import math
import re

import pytest

from mlperf_claims import paths
from mlperf_claims.claims.articles import list_articles, load_article
from mlperf_claims.claims.stated import parse_stated
from mlperf_claims.results.tables import load_results

NOTEBOOKS = sorted(paths.NOTEBOOKS.glob("*.ipynb"))
PACKAGE = sorted(path for path in (paths.ROOT / "mlperf_claims").rglob("*") if path.suffix in (".py", ".j2", ".js"))
ORDINARY = {  # words of a company's name that mean something else as well
    *("Cloud", "Technology", "University", "Research", "Computing", "and", "of", "Data", "power", "dc"),
    "Lambda",  # Python's keyword
}
PRODUCTS = ("Blackwell", "Hopper", "NVL72", "Carina", "Gaudi", "Instinct", "Radeon", "GeForce", "TPU", "EPYC")


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def cells(request):
    """The cells of one committed notebook."""
    return json.loads(request.param.read_text(encoding="utf-8"))["cells"]


@pytest.fixture(scope="module")
def companies():
    """Every word that names a submitter, by folder or by system description."""
    results = load_results()
    names = {*results["organization"], *results["submitter"]}
    return {word for name in names for word in re.split(r"[+_ -]+", name)} - ORDINARY


@pytest.fixture(scope="module")
def products():
    """Every accelerator's model number in the results, and the names of product lines."""
    tokens = {token for text in load_results()["accelerator"] for token in re.split(r"[ ()-]+", text)}
    return {token for token in tokens if re.search("[A-Za-z]", token) and re.search(r"\d", token)} | {*PRODUCTS}


@pytest.fixture(scope="module")
def figures():
    """Every figure that an article states or assumes, of two digits or more."""
    articles = [load_article(name) for name in list_articles()]
    stated = [claim.stated for article in articles for claim in article.claims]
    values = [one.value for one in stated if not math.isnan(one.value) and sum(map(str.isdigit, one.text)) > 1]
    return {*values, *(one.value for article in articles for one in article.assumptions.values())}


def sources(cells, *, kind=""):
    return ["".join(cell["source"]) for cell in cells if not kind or cell["cell_type"] == kind]


def find_names(text, names):
    """The names that stand in a text as words, in any case; an underscore ends a word."""
    return sorted(
        name for name in names if re.search(rf"(?<![a-z0-9]){re.escape(name.lower())}(?![a-z0-9])", text.lower())
    )


def test_there_are_notebooks():
    """The families below are not empty."""
    assert [path.name[:3] for path in NOTEBOOKS[:2]] == ["00-", "01-"]


def test_exactly_one_cell_is_tagged_parameters(cells):
    """Papermill injects after this cell, and only warns where there is none or more."""
    tagged = [cell["cell_type"] for cell in cells if "parameters" in cell["metadata"].get("tags", [])]
    assert tagged == ["code"]


def test_first_cell_is_a_single_title(cells):
    """A notebook begins with its H1 and has no other."""
    text = "\n".join(sources(cells, kind="markdown"))
    assert cells[0]["cell_type"] == "markdown"
    assert "".join(cells[0]["source"]).startswith("# ")
    assert len(re.findall(r"^(?:# |=+$)", text, flags=re.MULTILINE)) == 1


def test_no_outputs_are_committed(cells):
    """The executed copy lives in build/: neither output nor counter is committed."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []


def test_cells_have_no_metadata_but_tags(cells):
    """Folding, times and the like are noise in a diff."""
    assert {key for cell in cells for key in cell["metadata"]} <= {"tags"}
    assert all(not cell.get("attachments") for cell in cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_has_no_metadata_noise(path):
    """The notebook says its kernel and language, and no version of either."""
    metadata = json.loads(path.read_text(encoding="utf-8"))["metadata"]
    assert metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }


def test_cell_ids_are_unique(cells):
    """A link or a comment can name a cell."""
    ids = [cell["id"] for cell in cells]
    assert len(set(ids)) == len(ids)


def test_no_cell_is_empty(cells):
    """A stray empty cell says nothing."""
    assert all(source.strip() for source in sources(cells))


def test_no_function_and_no_assert(cells):
    """What wants a name belongs in the package, what must hold is held by a test."""
    found = [
        type(node).__name__
        for source in sources(cells, kind="code")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assert)
    ]
    assert found == []


def test_no_clock_and_no_chance(cells):
    """Neither time, nor network, nor random numbers enter an argument."""
    text = "\n".join(sources(cells, kind="code"))
    assert re.findall(r"\b(?:time|datetime|random|requests|urllib|socket|uuid|sample)\b[.(]", text) == []


def test_no_company_is_named(cells, companies):
    """A notebook argues about a kind of claim, whoever makes it."""
    assert find_names("\n".join(sources(cells)), companies) == []


def test_no_product_is_named(cells, products):
    """No accelerator is named, not even in a parameter."""
    assert find_names("\n".join(sources(cells)), products) == []


def test_no_article_is_named(cells):
    """The article comes from the parameters, or is the default."""
    text = "\n".join(sources(cells))
    titles = [load_article(name).title for name in list_articles()]
    assert [name for name in (*list_articles(), *titles) if name in text] == []


def test_no_claim_is_named(cells):
    """A notebook audits every claim of its kind, and none by its id."""
    ids = {claim.id for name in list_articles() for claim in load_article(name).claims if "-" in claim.id}
    assert find_names("\n".join(sources(cells)), ids) == []


def test_no_figure_of_an_article_is_typed(cells, figures):
    """What an article states or assumes comes from its YAML."""
    text = "\n".join(sources(cells))
    numbers = re.findall(r"(?<![\w.:])\d[\d,]*(?:\.\d+)?(?![\w.]|,\d)", text)
    assert [number for number in numbers if parse_stated(number.rstrip(",")).value in figures] == []


def test_names_are_found_as_words():
    """The searches above would find what they look for."""
    assert find_names("h100_racks and an H200.", {"H100", "H200", "H2", "B200"}) == ["H100", "H200"]


@pytest.mark.parametrize("path", PACKAGE, ids=lambda path: path.name)
def test_package_names_no_company(path, companies):
    """The package serves an article about anyone."""
    assert find_names(path.read_text(encoding="utf-8"), companies) == []
