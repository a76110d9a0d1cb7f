"""What a notebook shows besides charts: sentences and tables."""

import html
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from IPython.display import HTML, Markdown

from mlperf_claims.claims.findings import CLOCK, Finding, explain, format_interval, format_recomputed, format_value

NOTHING = "–"


def say(text: str) -> Markdown:
    """Show a sentence, Markdown, whose figures were rendered from values."""
    return Markdown(text)


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


def show_answers(findings: Sequence[Finding], *, caption: str) -> HTML:
    """Show the answers to claims: as stated, recomputed, on the clock, under other readings, spread, verdict."""
    rows = pd.DataFrame([_answer(finding) for finding in findings])
    empty = [column for column in rows if (rows[column] == NOTHING).all()]
    figures = [column for column in rows if column not in ("claim", "under other readings", "verdict")]
    return show_table(rows.drop(columns=empty), caption=caption, right=figures)


def list_sentences(findings: Iterable[Finding], *, otherwise: str) -> Markdown:
    """Explain findings in a sentence each; `otherwise` is said where there are none."""
    lines = [f"- **{finding.id}** ({finding.says}): {explain(finding)}" for finding in findings]
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
    return format(value, specification) if specification else str(value)
