"""Tests of `guide`: the page and the schema in the project are those that articles are checked with."""

import re

import pytest

from mlperf_claims.claims.guide import GUIDE, SCHEMA, write_guide, write_schema
from mlperf_claims.claims.schema import KINDS
from mlperf_claims.claims.stated import RELATIONS


@pytest.mark.parametrize(("path", "write"), [(SCHEMA, write_schema), (GUIDE, write_guide)], ids=["schema", "guide"])
def test_committed_file_is_what_make_kinds_writes(path, write):
    """Neither can say what the loader does not; make kinds writes them anew."""
    assert path.read_text(encoding="utf-8") == write()


def test_guide_explains_every_kind_with_an_example():
    """Each kind has a part with its keys and a claim of an article that is shipped; each word is listed."""
    parts = re.split(r"^### ", write_guide(), flags=re.MULTILINE)[1:]
    assert [part.split("\n")[0] for part in parts] == [f"`{kind}`" for kind in KINDS]
    assert [part.split("\n")[0] for part in parts if "```yaml" not in part] == []
    assert [word for word in RELATIONS if word not in write_guide()] == []
