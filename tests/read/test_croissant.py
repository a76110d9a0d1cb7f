"""Tests of `croissant`: the description of the data is valid, up to date, and loads every row."""

import csv
import json

import mlcroissant
import pytest

from mlperf_claims import paths
from mlperf_claims.read.croissant import DESCRIPTION, describe_data
from mlperf_claims.read.grains import COLUMNS, KEYS
from mlperf_claims.results.tables import CONSTANTS


@pytest.fixture(scope="module")
def dataset():
    """The committed description, as MLCommons' own library reads it; it raises on what is not valid."""
    return mlcroissant.Dataset(jsonld=DESCRIPTION)


def test_description_is_valid_and_lacks_nothing_recommended(dataset):
    """The library finds no error, and no property that it would recommend."""
    assert dataset.metadata.ctx.issues.errors == set()
    assert dataset.metadata.ctx.issues.warnings == set()


def test_description_is_up_to_date():
    """Checksums, columns, types and words are those of the tables and the data dictionary."""
    assert json.loads(DESCRIPTION.read_text(encoding="utf-8")) == describe_data(), "run: make data"


@pytest.mark.parametrize("name", [*COLUMNS, *CONSTANTS])
def test_every_row_loads_through_the_description(dataset, name):
    """Read by the description alone, a table has its rows and columns, and the first row its values."""
    path = (paths.TRAINING if name in COLUMNS else paths.DATA) / f"{name}.csv"
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    records = list(dataset.records(name))
    assert len(records) == len(rows) > 0
    assert list(records[0]) == [f"{name}/{column}" for column in rows[0]]
    for column, text in rows[0].items():
        value = records[0][f"{name}/{column}"]
        assert text in ("", value.decode() if isinstance(value, bytes) else str(value)) or float(text) == value


def test_keys_are_those_of_the_tables():
    """A program that joins tables finds the same keys as the package uses."""
    described = {record["name"]: record["key"] for record in describe_data()["recordSet"]}
    for name, key in KEYS.items():
        assert [one["@id"] for one in described[name]] == [f"{name}/{column}" for column in key]
