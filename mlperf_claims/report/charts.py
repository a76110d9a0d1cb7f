"""One Altair theme, and the charts of the report: frame → chart."""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
from IPython.display import Markdown

from mlperf_claims.claims.findings import Finding, format_value
from mlperf_claims.claims.kinds import CLOCK, OFFICIAL, PACE

MIME = "application/vnd.vegalite.v5+json"  # the one JupyterLab draws offline; our specs are valid in v5 and v6
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
)  # Okabe and Ito, safe for colour blindness
WIDTH, HEIGHT = (
    640,
    320,
)  # pixels, of the static picture and in JupyterLab; the report makes a chart as wide as its column
MUTED = "#767676"
OTHERS = "other readings"
READINGS = (OFFICIAL, CLOCK, PACE, OTHERS)  # each in one colour, in every chart


@alt.theme.register("mlperf_claims", enable=True)
def _theme() -> alt.theme.ThemeConfig:
    return {
        "config": {
            "background": "transparent",
            "font": "system-ui, sans-serif",
            "view": {"continuousHeight": HEIGHT, "stroke": None},
            "axis": {
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "gridOpacity": 0.4,
            },
            "legend": {
                "orient": "bottom",
                "labelFontSize": 12,
                "titleFontSize": 12,
                "labelLimit": 400,
                "columns": 2,
                "columnPadding": 40,  # a reader's font may be wider than the one that was measured
            },
            "title": {"anchor": "start", "fontSize": 14, "fontWeight": 600, "offset": 12},
            "range": {"category": list(COLOURS)},
        }
    }


def _bundle(spec: dict[str, Any], **_: object) -> dict[str, Any]:
    plain = spec.get("description", "a chart")
    return {MIME: spec | {"$schema": "https://vega.github.io/schema/vega-lite/v5.json"}, "text/plain": plain}


alt.renderers.register("mlperf_claims", _bundle)
alt.renderers.enable("mlperf_claims")


def chart_time_to_train(submissions: pd.DataFrame, *, title: str) -> alt.LayerChart:
    """Draw time to train against size, both axes logarithmic, with an ideal-scaling line.

    Args:
        submissions: one row per submission: accelerators_total, official_min, wall_clock_min,
            series (what the colour tells apart), system, ideal_min (of the line to draw).
    """
    submissions = submissions.rename(columns={"system": "system_folder"})[
        ["series", "system_folder", "accelerators_total", "official_min", "wall_clock_min", "ideal_min"]
    ]
    logarithmic = alt.Scale(type="log", nice=False, padding=16)
    sizes = submissions["accelerators_total"]
    doublings = [2**power for power in range(64) if sizes.min() <= 2**power <= sizes.max()]
    x = alt.X("accelerators_total:Q", title="accelerators", scale=logarithmic, axis=alt.Axis(values=doublings))
    y = alt.Y("official_min:Q", title="official time to train (minutes)", scale=logarithmic)
    line = alt.Chart(submissions).mark_line(strokeDash=[5, 4], color=MUTED).encode(x=x, y="ideal_min:Q")
    series = alt.Chart(submissions).encode(x=x, y=y, color=alt.Color("series:N", title=None))
    points = series.mark_point(filled=True, size=90, opacity=1).encode(
        shape=alt.Shape("series:N", legend=None),
        tooltip=[
            alt.Tooltip("series:N", title="submission"),
            alt.Tooltip("system_folder:N", title="system"),
            alt.Tooltip("accelerators_total:Q", title="accelerators", format=","),
            alt.Tooltip("official_min:Q", title="official score (min)", format=".2f"),
            alt.Tooltip("wall_clock_min:Q", title="wall clock (min)", format=".2f"),
        ],
    )
    return _finish(
        line + series.mark_line(opacity=0.5) + points,
        title,
        f"{len(submissions)} submissions; dashed: ideal scaling.",
    )


def chart_deviations(findings: Sequence[Finding], *, title: str) -> alt.LayerChart | Markdown:
    """Draw how far each reading of each claim lies from the printed figure, in %, and what its digits allow.

    Args:
        findings: those without a printed figure, or without readings, are left out.
    Returns: a chart; a sentence where there is nothing to draw.
    """
    drawn = [one for one in findings if one.readings and one.printed]
    if not drawn:
        return Markdown("No claim here has both a printed figure and a recomputed one.")
    rows = [
        {
            **{"claim": one.id, "stated": one.stated, "reading": _group(reading.name), "name": reading.name},
            **{"deviation_pct": _deviate(reading.value, one), "verdict": reading.verdict},
            "value": format_value(reading.value, one.unit, decimals=one.decimals),
        }
        for one in drawn
        for reading in one.readings
        if reading.counts or reading.name == CLOCK
    ]
    bands = [
        {"claim": one.id, "stated": one.stated, "low": _deviate(one.low, one), "high": _deviate(one.high, one)}
        for one in drawn
    ]
    frame = pd.DataFrame(rows, columns=["claim", "stated", "reading", "name", "deviation_pct", "verdict", "value"])
    allowed = pd.DataFrame(bands, columns=["claim", "stated", "low", "high"])
    widest = min(60.0, max(10.0, 1.1 * float(frame["deviation_pct"].abs().max() if len(frame) else 0)))
    frame["shown_pct"] = frame["deviation_pct"].clip(-widest, widest)
    allowed = allowed.fillna({"low": -widest, "high": widest}).assign(
        low=lambda band: band["low"].clip(-widest, widest), high=lambda band: band["high"].clip(-widest, widest)
    )
    y = alt.Y("claim:N", title=None, sort=[one.id for one in drawn], axis=alt.Axis(labelLimit=220))
    scale = alt.Scale(domain=[-widest, widest], nice=False)
    colours = alt.Scale(domain=list(READINGS), range=list(COLOURS[: len(READINGS)]))
    band = (
        alt.Chart(allowed)
        .mark_bar(color=MUTED, opacity=0.25, height=16)
        .encode(y=y, x=alt.X("low:Q", title="recomputed against the printed figure (%)", scale=scale), x2="high:Q")
    )
    dots = (
        alt.Chart(frame)
        .mark_point(filled=True, size=90, opacity=0.9)
        .encode(
            y=y,
            x=alt.X("shown_pct:Q", scale=scale),
            color=alt.Color("reading:N", title=None, scale=colours),
            shape=alt.Shape("reading:N", title=None, scale=alt.Scale(domain=list(READINGS))),
            tooltip=[
                "claim:N",
                alt.Tooltip("stated:N", title="as stated"),
                alt.Tooltip("name:N", title="reading"),
                "value:N",
                alt.Tooltip("deviation_pct:Q", title="against the printed figure (%)", format="+.1f"),
                "verdict:N",
            ],
        )
    )
    described = f"{len(drawn)} claims; grey: what the printed digits allow; a dot for each reading; "
    described += f"what lies further off than {widest:.0f} % is drawn at the edge."
    return _finish(band + dots, title, described).properties(height=max(60, 26 * len(drawn)))


def _deviate(value: float | None, finding: Finding) -> float | None:
    return None if value is None else 100 * (value / finding.printed - 1)


def _group(reading: str) -> str:
    return reading if reading in READINGS else OTHERS


def chart_efficiency(sizes: pd.DataFrame, *, title: str) -> alt.LayerChart:
    """Draw scaling efficiency against size, a line per reading.

    Args:
        sizes: accelerators_total, reading, efficiency_pct.
    """
    x = alt.X("accelerators_total:Q", title="accelerators", scale=alt.Scale(nice=False, padding=16))
    base = alt.Chart(sizes).encode(
        x=x,
        y=alt.Y("efficiency_pct:Q", title="scaling efficiency (%)", scale=alt.Scale(zero=False, padding=12)),
        color=alt.Color("reading:N", title=None, scale=alt.Scale(domain=list(READINGS[:3]), range=list(COLOURS[:3]))),
        tooltip=[
            "reading:N",
            alt.Tooltip("accelerators_total:Q", title="accelerators", format=","),
            alt.Tooltip("efficiency_pct:Q", title="efficiency (%)", format=".2f"),
        ],
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(shape=alt.Shape("reading:N", legend=None))
    ideal = (
        alt.Chart(pd.DataFrame({"efficiency_pct": [100.0]}))
        .mark_rule(strokeDash=[5, 4], color=MUTED)
        .encode(y="efficiency_pct:Q")
    )
    sizes_drawn = sizes["accelerators_total"].nunique()
    return _finish(ideal + base.mark_line() + points, title, f"{sizes_drawn} sizes; dashed: 100 %, perfect scaling.")


def chart_assumption(
    curve: pd.DataFrame, stated: tuple[float, float], assumed: float, *, axes: tuple[str, str], title: str
) -> alt.LayerChart:
    """Draw what a derived claim comes to over a range of one assumption, a line per reading.

    Args:
        curve: reading, assumption, value.
        stated: the interval that the printed figure stands for; open sides are cut at the axis.
        assumed: the value that the claim is judged with.
        axes: titles of the assumption and of the claim's figure.
    """
    top, bottom = float(curve["value"].max()), min(0.0, float(curve["value"].min()))
    band = alt.Chart(pd.DataFrame([{"low": max(stated[0], bottom), "high": min(stated[1], top)}]))
    rule = alt.Chart(pd.DataFrame([{"assumption": assumed}])).mark_rule(color=MUTED, strokeDash=[5, 4])
    lines = (
        alt.Chart(curve)
        .mark_line(interpolate="monotone")
        .encode(
            x=alt.X("assumption:Q", title=axes[0], scale=alt.Scale(nice=False, padding=12)),
            y=alt.Y("value:Q", title=axes[1], scale=alt.Scale(domain=[bottom, top])),
            color=alt.Color("reading:N", title=None, sort=list(curve["reading"].unique())),
            tooltip=[
                "reading:N",
                alt.Tooltip("assumption:Q", title=axes[0], format=",.2f"),
                alt.Tooltip("value:Q", title=axes[1], format=",.2f"),
            ],
        )
    )
    shaded = band.mark_rect(color=MUTED, opacity=0.2).encode(y="low:Q", y2="high:Q")
    described = f"Grey band: what the printed digits allow; dashed: {assumed:g}, as the article assumes."
    return _finish(shaded + rule.encode(x="assumption:Q") + lines, title, described)


def chart_what_if(
    formula: str, assumptions: Mapping[str, float], stated: tuple[float, float], *, unit: str, title: str
) -> alt.LayerChart:
    """Draw what a derived claim comes to, with a slider for each assumption that a reader moves; the axis stays.

    Args:
        formula: arithmetic over the names of the assumptions alone.
        assumptions: where the sliders start; each goes from a quarter to four times of it.
        stated: the interval that the printed figure stands for.
    """
    sliders = [
        alt.param(
            name=name,
            value=value,
            bind=alt.binding_range(min=value / 4, max=value * 4, step=value / 64, name=f"{name.replace('_', ' ')} "),
        )
        for name, value in assumptions.items()
    ]
    edges = [edge for edge in stated if math.isfinite(edge)]
    widest = 2.5 * max(edges)
    low, high = (edge if math.isfinite(edge) else limit for edge, limit in zip(stated, (0.0, widest), strict=True))
    base = alt.Chart(pd.DataFrame([{"low": low, "high": high}])).transform_calculate(
        value=formula, label=f"format({formula}, ',.2f') + ' {unit}'"
    )
    scale = alt.Scale(domain=[0, widest], clamp=True, nice=False)  # fixed, so that the bar is seen to move
    axis = alt.X("low:Q", title=unit or "figure", scale=scale)
    band = base.mark_rect(color=MUTED, opacity=0.25).encode(x=axis, x2="high:Q")
    bar = base.mark_bar(height=24, color=COLOURS[0]).encode(
        x=alt.X("value:Q", scale=alt.Scale(domain=[0, widest], clamp=True))
    )
    label = base.mark_text(align="left", dy=-24, fontSize=13, fontWeight=600).encode(x=alt.value(0), text="label:N")
    described = f"{len(sliders)} sliders, at first as the article assumes; grey band: what the printed digits allow."
    return _finish((band + bar + label).add_params(*sliders), title, described).properties(height=90)


def chart_convergence(evals: pd.DataFrame, *, title: str) -> alt.LayerChart | Markdown:
    """Draw what each evaluation of the runs saw, and where the reference converges.

    Args:
        evals: progress (samples), value, series, run, reference_mean (samples, one for each series).
    Returns: a chart; a sentence where there is nothing to draw.
    """
    if evals.empty:
        return Markdown("The evaluations of these results are not kept in the project's data.")
    evals = evals[["progress", "value", "series", "run", "reference_mean"]]
    reference = evals[["series", "reference_mean"]].drop_duplicates()
    x = alt.X("progress:Q", title="samples trained", scale=alt.Scale(zero=False, padding=12))
    color = alt.Color("series:N", title=None)
    lines = (
        alt.Chart(evals)
        .mark_line(point=True, opacity=0.8)
        .encode(
            x=x,
            y=alt.Y("value:Q", title="evaluation loss", scale=alt.Scale(zero=False)),
            color=color,
            detail="run:N",
            tooltip=[
                "series:N",
                "run:N",
                alt.Tooltip("progress:Q", title="samples", format=","),
                alt.Tooltip("value:Q", title="loss", format=".3f"),
            ],
        )
    )
    rules = (
        alt.Chart(reference)
        .mark_rule(strokeDash=[5, 4])
        .encode(
            x=alt.X("reference_mean:Q"),
            color=color,
            tooltip=[
                "series:N",
                alt.Tooltip("reference_mean:Q", title="reference converges at (samples)", format=",.0f"),
            ],
        )
    )
    runs = len(evals[["series", "run"]].drop_duplicates())
    return _finish(
        lines + rules, title, f"Evaluations of {runs} runs; dashed: where the reference converges on average."
    )


def _finish(chart: alt.LayerChart, title: str, described: str) -> alt.LayerChart:
    # the description is the text alternative of the chart in the report
    return chart.properties(width=WIDTH, height=HEIGHT, title=title, description=f"{title}. {described}")


def draw_svg(spec: Mapping[str, Any]) -> str:
    """Draw a chart's specification as a static SVG, WIDTH pixels wide."""
    import vl_convert

    return vl_convert.vegalite_to_svg({**spec, "background": "white"}, vl_version=_vl_version())


def bundle_runtime() -> str:
    """Return the JavaScript that draws charts with no network: Vega, Vega-Lite and Vega-Embed, as `vegaEmbed`."""
    import vl_convert

    snippet = "window.vegaEmbed = vegaEmbed;"
    return vl_convert.javascript_bundle(snippet, vl_version=_vl_version())


def _vl_version() -> str:
    return "v" + "_".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


if __name__ == "__main__":
    sys.stdout.write(bundle_runtime())
