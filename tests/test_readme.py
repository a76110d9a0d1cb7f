"""Tests of the README: what it names is there."""

import re

import pytest

from mlperf_claims import paths

README = (paths.ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (paths.ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z]+):.*?## ", MAKEFILE, re.MULTILINE))


def test_every_target_it_names_is_real():
    """`make x` in the README is a target of the Makefile that bare `make` lists."""
    named = set(re.findall(r"make ([a-z]+)", README))
    assert named
    assert named <= TARGETS


def test_every_target_is_listed_with_a_sentence():
    """A public target has a ## line, which bare make prints."""
    phony = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())
    assert phony - TARGETS <= {"parameters"}  # a step of report, not for the caller


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:notebooks|mlperf_claims|data|tests|bench)/[^`<*]*)`", README)))
)
def test_every_path_it_draws_exists(path):
    """A path in the README is a path of the project."""
    assert (paths.ROOT / path).exists()


def test_every_notebook_is_described():
    """The README says what each notebook is for."""
    assert [path.name for path in sorted(paths.NOTEBOOKS.glob("*.ipynb")) if path.name not in README] == []
