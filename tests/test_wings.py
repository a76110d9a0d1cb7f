"""Tests of the package as a whole: imports only point left."""

import ast

import pytest

from mlperf_claims import paths

WINGS = ("read", "results", "claims", "report")  # along the way of the data
PACKAGE = paths.ROOT / "mlperf_claims"


@pytest.mark.parametrize("wing", WINGS)
def test_no_wing_knows_one_to_its_right(wing):
    """A module imports from its own wing and from those before it, wherever in the file."""
    right = [f"mlperf_claims.{name}" for name in WINGS[WINGS.index(wing) + 1 :]]
    for path in sorted((PACKAGE / wing).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: a relative import"
                names = [f"{node.module}.{name}" for name in names]
            found = [name for name in names if f"{name}.".startswith(tuple(f"{wing}." for wing in right))]
            assert not found, f"{path} line {node.lineno} imports from a wing to its right: {', '.join(found)}"
