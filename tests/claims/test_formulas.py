"""Tests of `formulas`: arithmetic over names, and nothing else."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlperf_claims.claims.formulas import Formula, FormulaError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", 6.0),
        ("a + b * 2", 10.0),
        ("(a + b) × 2", 16.0),
        ("a ÷ b − 1", 2.0),
        ("-a / -b", 3.0),
        ("subject.size / 3", 4.0),
        ("1.5", 1.5),
        ("a - (b - (a - b))", 8.0),
        ("a / b / 3", 1.0),  # from the left
    ],
)
def test_arithmetic_is_that_of_school(text, value):
    """+ − × ÷, parentheses and precedence."""
    assert Formula(text).work_out({"a": 6.0, "b": 2.0, "subject.size": 12.0}) == value


def test_names_are_listed_once():
    """What a formula needs is known before it is worked out."""
    assert Formula("a * subject.size / (a + rack_size)").names == ("a", "subject.size", "rack_size")


@pytest.mark.parametrize(
    "text",
    [
        "print(1)",
        "__import__('os')",
        "a.b.c",
        "a[0]",
        "a ** 2",
        "a // 2",
        "a % 2",
        "a < b",
        "lambda: 1",
        "a if b else 1",
        "[a]",
        "(a, b)",
        "{a}",
        "'text'",
        "True",
        "1j",
        "+a",
        "not a",
        "a := 1",
        "a; b",
        "a\nb",
        "f'{a}'",
        "a @ b",
        "~a",
        "await a",
        "1e999",
        "9" * 400,
        "",
        " ",
        "a +",
        "(",
        "1_000_000" * 80,
    ],
)
def test_anything_else_is_refused(text):
    """No call, attribute chain, subscript, power, comparison, text or number beyond a float."""
    with pytest.raises(FormulaError):
        Formula(text)


@pytest.mark.parametrize("text", ["(a+" * 90 + "a" + ")" * 90, "-" * 400 + "a", "+".join("a" * 120)])
def test_deep_formulas_are_refused(text):
    """A formula that nests without end takes no time and no stack."""
    with pytest.raises(FormulaError, match=r"nests|arithmetic|characters"):
        Formula(text)


def test_division_by_zero_is_named():
    """The divisor that is zero is shown."""
    with pytest.raises(FormulaError, match="a - b is zero"):
        Formula("1 / (a - b)").work_out({"a": 2.0, "b": 2.0})


def test_missing_value_stays_missing():
    """A name whose value is not known makes the result not known, and no error."""
    assert math.isnan(Formula("a * 2").work_out({"a": math.nan}))


def test_formula_is_written_for_readers_and_for_machines():
    """Texts take the place of names, with the signs of school or of JavaScript."""
    formula = Formula("a * (b - 1000) / c")
    values = {"a": "2.5", "b": "9", "c": "rack_size"}
    assert formula.write(values) == "(2.5 × (9 − 1,000)) ÷ rack_size"
    assert formula.write(values, signs=False) == "((2.5 * (9 - 1000)) / rack_size)"


numbers = st.integers(1, 50).map(str)
expressions = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=20,
)


@given(expressions)
def test_result_is_that_of_python(text):
    """On plain arithmetic the two agree."""
    assert Formula(text).work_out({}) == float(eval(text))


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    """Nothing but FormulaError is ever raised, and nothing runs."""
    with contextlib.suppress(FormulaError):
        Formula(text)


@pytest.mark.parametrize("text", ["~" * 499 + "a", "a" + ".b" * 249, "a" + "()" * 249, "not " * 120 + "a", "(" * 250])
def test_depth_of_what_is_refused_has_a_bound_too(text):
    """The message shows its beginning, and takes no stack to write."""
    with pytest.raises(FormulaError) as raised:
        Formula(text)
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("text", ["a # / 2", "𝐚 + 1", "ª", "a\u200b", "a\x0c+\x00b"])
def test_text_that_python_would_read_otherwise_is_refused(text):
    """A comment is not passed over, nor a letter of another script taken for its like."""
    with pytest.raises(FormulaError, match="expected"):
        Formula(text)


def test_formula_may_be_folded_over_lines():
    """As long texts are in YAML."""
    assert Formula("a\n  + b\n").work_out({"a": 1.0, "b": 2.0}) == 3.0


values = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))
shapes = st.recursive(
    st.sampled_from("abc"),
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        | inner.map(lambda text: f"-{text}")
    ),
    max_leaves=20,
)


@given(shapes, st.fixed_dictionaries(dict.fromkeys("abc", values)))
def test_division_and_signs_are_those_of_python(text, given):
    """With names and any values; where Python divides by zero, that is said. What is written out comes to the same."""
    formula = Formula(text)
    try:
        wanted = eval(text, {}, given)
    except ZeroDivisionError:
        with pytest.raises(FormulaError, match="is zero"):
            formula.work_out(given)
        return
    assert formula.work_out(given) == pytest.approx(wanted, nan_ok=True, rel=0)
    written = formula.write({name: f"({value!r})" for name, value in given.items()}, signs=False)
    assert eval(written) == pytest.approx(wanted, nan_ok=True, rel=0)
