"""What a notebook shows besides charts: sentences and tables."""

import html
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from IPython.display import HTML, Markdown

from mlperf_claims.claims.findings import Finding, explain, format_interval, format_recomputed, format_value
from mlperf_claims.claims.kinds import CLOCK
from mlperf_claims.claims.verdicts import VERDICTS

NOTHING = "–"


def say(template: str, rows: pd.DataFrame | Mapping[str, Any] | None = None, *, otherwise: str = "") -> Markdown:
    """Show a sentence, Markdown, whose figures are filled in from a row, or one for each row of a frame.

    Args:
        template: with {column} for each value, as `str.format` has it: {official_min:.2f}.
        rows: none where the sentence is rendered already.
        otherwise: said of a frame without rows.
    """
    if rows is None:
        return Markdown(template)
    listed = rows.to_dict("records") if isinstance(rows, pd.DataFrame) else [dict(rows)]
    return Markdown(" ".join(_Sentence().vformat(template, (), row) for row in listed) or otherwise)


class _Sentence(string.Formatter):
    """Fills in a template; what is missing is shown as a dash."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - a cell
        return _format(value, format_spec)


def tabulate(findings: Sequence[Finding]) -> pd.DataFrame:
    """Return findings as rows for sentences and tables.

    Returns: one row per finding, in order: `claim`, `says`, `stated`, `verdict`, `headline`, `recomputed` as text,
        `reading` (the deciding one), `differences` and `unnamed` as texts, `explained`: a sentence, or "".
    """
    rows = [
        {
            **{"claim": finding.id, "says": finding.says, "stated": finding.stated, "verdict": finding.verdict},
            **{"headline": finding.headline, "recomputed": format_recomputed(finding)},
            "reading": finding.readings[0].name if finding.readings else "",
            "differences": "; ".join(finding.differences),
            "unnamed": ", ".join(finding.unnamed) or "none",
            "explained": explain(finding),
        }
        for finding in findings
    ]
    columns = ["claim", "says", "stated", "verdict", "headline", "recomputed", "reading"]
    return pd.DataFrame(rows, columns=[*columns, "differences", "unnamed", "explained"])


def count_verdicts(findings: Sequence[Finding]) -> Markdown:
    """Say how many of the findings have which verdict."""
    counts = [(sum(finding.verdict == verdict for finding in findings), verdict) for verdict in VERDICTS]
    said = [f"{count} {verdict}" for count, verdict in counts if count]
    return Markdown(f"**Of {len(findings)} {'claim' if len(findings) == 1 else 'claims'} here: {', '.join(said)}.**")


def show_table(
    frame: pd.DataFrame,
    *,
    caption: str,
    columns: Mapping[str, str] | None = None,
    formats: Mapping[str, str] | None = None,
    right: Iterable[str] = (),
) -> HTML:
    """Show a table.

    Args:
        caption: which rows are in it.
        columns: column: heading with unit, in the order wanted; all columns under their own names
            if not given.
        formats: column: format specification of its numbers, such as ",.2f".
        right: columns of figures that are text already; they stand to the right, as numbers do.
    """
    columns = dict(columns or {column: str(column) for column in frame.columns})
    formats = formats or {}
    right = frozenset(right)
    numeric = {column: column in right or pd.api.types.is_numeric_dtype(frame[column].dtype) for column in columns}
    head = "".join(_cell("th", heading, numeric[column], ' scope="col"') for column, heading in columns.items())
    body = "".join(
        "<tr>"
        + "".join(_cell("td", _format(row[column], formats.get(column, "")), numeric[column]) for column in columns)
        + "</tr>"
        for _, row in frame[list(columns)].iterrows()
    )
    text = f"<caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return HTML(f'<div class="table"><table>{text}</table></div>')


def show_answers(findings: Sequence[Finding], *, caption: str = "The claims of this kind") -> HTML:
    """Show the answers to claims: as stated, recomputed, on the clock, under other readings, spread, verdict."""
    rows = pd.DataFrame([_answer(finding) for finding in findings])
    empty = [column for column in rows if (rows[column] == NOTHING).all()]
    figures = [column for column in rows if column not in ("claim", "under other readings", "verdict")]
    return show_table(rows.drop(columns=empty), caption=caption, right=figures)


def list_sentences(findings: Iterable[Finding], *verdicts: str, otherwise: str) -> Markdown:
    """Explain findings in a sentence each, those of some verdicts or all; `otherwise` is said where none needs one."""
    asked = [finding for finding in findings if finding.verdict in (verdicts or VERDICTS) and explain(finding)]
    lines = [f"- **{finding.id}** ({finding.says}): {explain(finding)}" for finding in asked]
    return Markdown("\n".join(lines) or otherwise)


def _answer(finding: Finding) -> dict[str, str]:
    def shown(value: float) -> str:
        return format_value(value, finding.unit, decimals=finding.decimals)

    rest = {reading.name: shown(reading.value) for reading in finding.readings[1:]}
    clock = rest.pop(CLOCK, NOTHING)
    low, high = finding.spread or (None, None)
    return {
        "claim": finding.id,
        "as stated": finding.stated,
        "stands for": format_interval(finding),
        "recomputed": format_recomputed(finding),
        f"on the {CLOCK}": clock,
        "under other readings": "; ".join(f"{value} {name}" for name, value in rest.items()) or NOTHING,
        "between single runs": f"{shown(low)} to {shown(high)}" if finding.spread else NOTHING,
        "verdict": finding.verdict + ("" if finding.robust in (True, None) else ", not under every reading"),
    }


def _cell(tag: str, text: str, number: bool, attributes: str = "") -> str:
    kind = ' class="number"' if number else ""
    return f"<{tag}{attributes}{kind}>{html.escape(text)}</{tag}>"


def _format(value: object, specification: str) -> str:
    if pd.isna(value):
        return NOTHING
    if isinstance(value, float) and specification == "," and value.is_integer():
        value = int(value)  # a count, in a column where others are missing
    return format(value, specification) if specification else str(value)
