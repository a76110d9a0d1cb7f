"""One Altair theme, and the charts of the report: frame → chart."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

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


def chart_time_to_train(submissions: pd.DataFrame, ideal: pd.DataFrame, *, title: str) -> alt.LayerChart:
    """Draw time to train against size, both axes logarithmic, with an ideal-scaling line.

    Args:
        submissions: one row per submission: accelerators_total, official_min, wall_clock_min,
            series (what the colour tells apart), system.
        ideal: accelerators_total, official_min of the line to draw.
    """
    logarithmic = alt.Scale(type="log", nice=False, padding=16)
    sizes = submissions["accelerators_total"]
    doublings = [2**power for power in range(64) if sizes.min() <= 2**power <= sizes.max()]
    x = alt.X("accelerators_total:Q", title="accelerators", scale=logarithmic, axis=alt.Axis(values=doublings))
    y = alt.Y("official_min:Q", title="official time to train (minutes)", scale=logarithmic)
    line = alt.Chart(ideal).mark_line(strokeDash=[5, 4], color=MUTED).encode(x=x, y=y)
    series = alt.Chart(submissions).encode(x=x, y=y, color=alt.Color("series:N", title=None))
    points = series.mark_point(filled=True, size=90, opacity=1).encode(
        shape=alt.Shape("series:N", legend=None),
        tooltip=[
            alt.Tooltip("series:N", title="submission"),
            alt.Tooltip("system:N"),
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


def chart_speedups(dots: pd.DataFrame, claims: pd.DataFrame, *, title: str) -> alt.LayerChart:
    """Draw each claim's speed-up: a dot per pair of runs, the official score, the wall clock, the stated interval.

    Args:
        dots: claim, speedup_x: one row per (claim, subject run, baseline run).
        claims: claim, official_x, wall_clock_x, stated_low_x, stated_high_x (cut at the axis where infinite).
    """
    y = alt.Y("claim:N", title=None, sort=list(claims["claim"]), axis=alt.Axis(labelLimit=220))
    base = alt.Chart(claims).encode(y=y)
    scale = alt.Scale(zero=True, nice=True)
    stated = base.mark_bar(color=MUTED, opacity=0.25, height=16).encode(
        x=alt.X("stated_low_x:Q", title="speed-up (times faster)", scale=scale), x2="stated_high_x:Q"
    )
    runs = (
        alt.Chart(dots)
        .mark_circle(size=26, opacity=0.45, color=COLOURS[0])
        .encode(
            y=y,
            x="speedup_x:Q",
            tooltip=["claim:N", alt.Tooltip("speedup_x:Q", title="one pair of runs (x)", format=".3f")],
        )
    )
    long = claims.melt("claim", ["official_x", "wall_clock_x"], var_name="reading", value_name="speedup_x")
    long["reading"] = long["reading"].map({"official_x": "official score", "wall_clock_x": "wall clock"})
    readings = (
        alt.Chart(long)
        .mark_tick(thickness=3, size=18, opacity=1)
        .encode(
            y=y,
            x="speedup_x:Q",
            color=alt.Color("reading:N", title=None, scale=alt.Scale(range=list(COLOURS[:2]))),
            tooltip=["claim:N", "reading:N", alt.Tooltip("speedup_x:Q", title="speed-up (x)", format=".3f")],
        )
    )
    described = f"{len(claims)} claims; grey: what the printed digits allow; dots: single pairs of runs, normalised."
    return _finish(stated + runs + readings, title, described).properties(height=34 * len(claims))


def chart_efficiency(sizes: pd.DataFrame, *, title: str) -> alt.LayerChart:
    """Draw scaling efficiency against size, a line per reading.

    Args:
        sizes: accelerators_total, reading, efficiency_pct.
    """
    x = alt.X("accelerators_total:Q", title="accelerators", scale=alt.Scale(nice=False, padding=16))
    base = alt.Chart(sizes).encode(
        x=x,
        y=alt.Y("efficiency_pct:Q", title="scaling efficiency (%)", scale=alt.Scale(zero=False, padding=12)),
        color=alt.Color("reading:N", title=None),
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


def chart_racks(
    curve: pd.DataFrame, stated: Mapping[str, float], assumed: float, *, breaks: Sequence[float], title: str
) -> alt.LayerChart:
    """Draw the rack reduction against accelerators per baseline rack, a line per reading.

    Args:
        curve: per_rack, racks, reduction_x, reading.
        stated: low, high: the interval that the printed reduction stands for.
        assumed: the accelerators per rack that the claim is judged with.
        breaks: the accelerators per rack at which its verdict changes, under the first reading.
    """
    band = alt.Chart(pd.DataFrame([dict(stated)])).mark_rect(color=MUTED, opacity=0.2).encode(y="low:Q", y2="high:Q")
    marks = pd.DataFrame(
        [{"per_rack": assumed, "mark": "as assumed"}, *({"per_rack": at, "mark": "verdict changes"} for at in breaks)]
    )
    rules = (
        alt.Chart(marks)
        .mark_rule(color=MUTED)
        .encode(
            x="per_rack:Q",
            strokeDash=alt.StrokeDash("mark:N", legend=None, scale=alt.Scale(range=[[5, 4], [1, 3]])),
            tooltip=["mark:N", alt.Tooltip("per_rack:Q", title="accelerators per rack", format=".1f")],
        )
    )
    lines = (
        alt.Chart(curve)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "per_rack:Q",
                title="accelerators per baseline rack",
                scale=alt.Scale(zero=False, nice=False, padding=12),
            ),
            y=alt.Y("reduction_x:Q", title="rack reduction (times fewer racks)"),
            color=alt.Color("reading:N", title=None, sort=list(curve["reading"].unique())),
            tooltip=[
                "reading:N",
                alt.Tooltip("per_rack:Q", title="accelerators per rack"),
                alt.Tooltip("racks:Q", title="baseline racks", format=".1f"),
                alt.Tooltip("reduction_x:Q", title="reduction (x)", format=".2f"),
            ],
        )
    )
    described = f"Grey band: what the printed digits allow; dashed: {assumed:g} accelerators per rack, as assumed; "
    described += "dotted: where the verdict of the first reading changes."
    return _finish(band + rules + lines, title, described)


def chart_what_if(
    *, accelerators: int, subject_racks: float, speedup_x: float, per_rack: float, title: str
) -> alt.LayerChart:
    """Draw the subject's racks beside those the baseline would need, with two sliders that a reader moves.

    Args:
        accelerators: of the subject.
        speedup_x, per_rack: where the sliders start.
    """
    density = alt.param(
        name="per_rack",
        value=per_rack,
        bind=alt.binding_range(min=4, max=72, step=1, name="accelerators per baseline rack "),
    )
    rate = alt.param(
        name="speedup",
        value=round(speedup_x, 3),
        bind=alt.binding_range(min=0.5, max=4, step=0.001, name="speed-up per accelerator (x) "),
    )
    rows = [
        {"system": "subject", "order": 0, "accelerators": accelerators, "used": subject_racks},
        {"system": "baseline", "order": 1, "accelerators": accelerators, "used": subject_racks},
    ]
    base = (
        alt.Chart(pd.DataFrame(rows))
        .transform_calculate(
            racks="datum.order == 0 ? datum.used : datum.accelerators * speedup / per_rack",
        )
        .transform_calculate(
            label="format(datum.racks, '.1f') + ' racks' + "
            "(datum.order == 0 ? '' : ', ' + format(datum.racks / datum.used, '.2f') + ' times as many')"
        )
        .encode(y=alt.Y("system:N", title=None, sort=["subject", "baseline"]))
    )
    bars = base.mark_bar(height=24).encode(
        x=alt.X("racks:Q", title="racks", scale=alt.Scale(domainMin=0)),
        color=alt.Color("system:N", legend=None, sort=["subject", "baseline"]),
    )
    labels = base.mark_text(align="left", dy=-24, fontSize=13, fontWeight=600).encode(x=alt.value(0), text="label:N")
    chart = (bars + labels).add_params(density, rate)
    described = f"Two sliders, at first {per_rack:g} accelerators per baseline rack and a speed-up of {speedup_x:.2f}."
    return _finish(chart, title, described).properties(height=150)


def chart_convergence(evals: pd.DataFrame, reference: pd.DataFrame, *, title: str) -> alt.LayerChart:
    """Draw what each evaluation of the runs saw, and where the reference converges.

    Args:
        evals: progress (samples), value, series, run.
        reference: series, reference_mean (samples): one rule for each series.
    """
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
