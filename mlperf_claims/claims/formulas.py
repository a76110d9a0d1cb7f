"""Work out a formula: names, numbers, + − × ÷ and parentheses, and nothing else."""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

LONGEST = 500  # characters of a formula
DEEPEST = 50  # operations within one another
SIGNS = {"×": "*", "÷": "/", "−": "-"}  # as a reader may write them
# Python itself would pass over a comment, and read a letter of another script as its like
_FOREIGN = re.compile(r"[^A-Za-z0-9_.+*/() -]")
_EXPECTED = "expected only names, numbers, + − × ÷ and parentheses"
_OPERATORS: dict[type, tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("−", operator.sub),
    ast.Mult: ("×", operator.mul),
    ast.Div: ("÷", operator.truediv),
}


class FormulaError(ValueError):
    """A formula that cannot be read, or not be worked out."""


class Formula:
    """A parsed formula: `subject.accelerators / gpus_per_rack`."""

    def __init__(self, text: str, *, longest: int = LONGEST) -> None:
        """Parse a formula.

        Raises: FormulaError if it holds anything but names, names.of_parts, numbers, + − × ÷ and parentheses.
        """
        self.text = text
        plain = text
        for sign, plainly in SIGNS.items():
            plain = plain.replace(sign, plainly)
        if len(plain) > longest or not plain.strip():
            raise FormulaError(f"formula has {len(text)} characters, expected 1 to {longest}")
        plain = " ".join(plain.split())
        if other := _FOREIGN.search(plain):
            raise FormulaError(f"formula {_show(text)} has {other[0]!r}, {_EXPECTED}")
        try:
            self._tree = ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise FormulaError(f"formula is {_show(text)}, expected arithmetic such as (a + 2) * b / c") from error
        self.names = tuple(dict.fromkeys(_list_names(self._tree, plain)))

    def work_out(self, values: Mapping[str, float]) -> float:
        """Return the value, nan where a name's value is nan; FormulaError for a division by zero."""
        return _work_out(self._tree, values, self.text)

    def write(self, values: Mapping[str, str], *, signs: bool = True) -> str:
        """Return the formula with texts in the place of names, with × and ÷, or as JavaScript has them."""
        text = _write(self._tree, values, signs)
        return text[1:-1] if signs and isinstance(self._tree, ast.BinOp) else text


def _list_names(tree: ast.expr, text: str, depth: int = 0) -> list[str]:
    if depth > DEEPEST:
        raise FormulaError(f"formula {_show(text)} nests more than {DEEPEST} operations, expected fewer")
    match tree:
        case ast.BinOp(left, operation, right) if type(operation) in _OPERATORS:
            return _list_names(left, text, depth + 1) + _list_names(right, text, depth + 1)
        case ast.UnaryOp(ast.USub(), operand):
            return _list_names(operand, text, depth + 1)
        case ast.Constant(int() | float() as value) if not isinstance(value, bool) and _is_finite(value):
            return []
        case ast.Name(name):
            return [name]
        case ast.Attribute(ast.Name(name), part):
            return [f"{name}.{part}"]
    found = text[tree.col_offset : tree.end_col_offset]  # not unparsed: that has no bound on its depth
    raise FormulaError(f"formula {_show(text)} has {_show(found)}, {_EXPECTED}")


def _work_out(tree: ast.expr, values: Mapping[str, float], text: str) -> float:
    match tree:
        case ast.BinOp(left, operation, right):
            one, other = _work_out(left, values, text), _work_out(right, values, text)
            try:
                return _OPERATORS[type(operation)][1](one, other)
            except ZeroDivisionError as error:
                raise FormulaError(f"{text}: {ast.unparse(right)} is zero, and something is divided by it") from error
        case ast.UnaryOp(_, operand):
            return -_work_out(operand, values, text)
        case ast.Constant(value):
            return float(value)
    return values[ast.unparse(tree)]


def _write(tree: ast.expr, values: Mapping[str, str], signs: bool) -> str:
    match tree:
        case ast.BinOp(left, operation, right):
            sign = _OPERATORS[type(operation)][0]
            shown = sign if signs else SIGNS.get(sign, sign)
            return f"({_write(left, values, signs)} {shown} {_write(right, values, signs)})"
        case ast.UnaryOp(_, operand):
            return f"(-{_write(operand, values, signs)})"
        case ast.Constant(value):
            return f"{value:,}" if signs else repr(value)
    return values[ast.unparse(tree)]


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _show(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
