"""Compare the report with what stock nbconvert makes of the same executed notebooks, in one run.

    python bench/page.py PLAIN [ARTICLE]

PLAIN is an environment as `bench/report.py` wants it. The article's executed notebooks are joined into one,
their charts put in as Altair's own HTML with Vega inlined, and that is converted with jupyter nbconvert.
Both pages are opened from disk in headless Chromium without network, turn by turn: the medians of first
contentful paint, and of the time until the last chart that is drawn at all stands.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import altair as alt
from playwright.sync_api import Browser, sync_playwright

from mlperf_claims import paths
from mlperf_claims.claims.articles import load_article
from mlperf_claims.report.charts import MIME
from mlperf_claims.report.pdf import HOW_TO_GET_ONE, find_browser

TURNS = 11
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
DRAWN = "document.querySelectorAll('figure.chart .drawn svg, .vega-embed svg.marks, .vega-embed canvas.marks').length"
WAIT = f"""most => new Promise(done => {{
  const start = performance.now();
  let count = 0, last = 0;
  const look = () => {{
    const now = performance.now(), found = {DRAWN};
    if (found > count) [count, last] = [found, now];
    if (count >= most || now - Math.max(start, last) > 3000) done([count, last]); else requestAnimationFrame(look);
  }};
  look();
}})"""


def main() -> None:
    plain, article = Path(sys.argv[1]).resolve() / "bin", (sys.argv[2:] or [load_article().name])[0]
    build = paths.build_dir(article)
    browser_path = find_browser() or sys.exit(f"no Chromium: {HOW_TO_GET_ONE}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        stock, charts = convert(build, Path(folder), plain)
        pages = {"report.html": build / "report.html", "stock nbconvert": stock}
        browser = playwright.chromium.launch(executable_path=browser_path, args=OPTIONS)
        measured = {name: [] for name in pages}
        for _ in range(TURNS):
            for name, path in pages.items():
                measured[name].append(open_page(browser, path, charts))
        browser.close()
        print("| page | MB | first contentful paint (s) | last chart drawn (s) | charts drawn | requests to the web |")
        print("|---|---|---|---|---|---|")
        for name, path in pages.items():
            paint, last = (statistics.median(turn[key] for turn in measured[name]) / 1000 for key in ("paint", "last"))
            drawn, asked = measured[name][-1]["drawn"], measured[name][-1]["asked"]
            size = path.stat().st_size / 1e6
            print(f"| {name} | {size:.2f} | {paint:.2f} | {last:.2f} | {drawn} of {charts} | {asked} |")


def convert(build: Path, folder: Path, plain: Path) -> tuple[Path, int]:
    """Join the executed notebooks, with charts as Altair's HTML, and convert them; return page and count of charts."""
    notebooks = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((build / "notebooks").glob("*.ipynb"))]
    cells = [cell for notebook in notebooks for cell in notebook["cells"]]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    outputs = [output for cell in cells for output in cell.get("outputs", ()) if MIME in output.get("data", {})]
    for output in outputs:
        output["data"] = {"text/html": draw_inline(output["data"][MIME])}
    joined = folder / "joined.ipynb"
    joined.write_text(json.dumps(notebooks[0] | {"cells": cells}), encoding="utf-8")
    subprocess.run([plain / "jupyter", "nbconvert", "--to", "html", joined], check=True, capture_output=True)
    return folder / "joined.html", len(outputs)


def draw_inline(spec: dict[str, Any]) -> str:
    spec = spec | {"$schema": alt.SCHEMA_URL}
    return alt.Chart.from_dict(spec).to_html(inline=True, fullhtml=False)


def open_page(browser: Browser, path: Path, charts: int) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.url.startswith("http") else None)
    context.route("http*://**", lambda route: route.abort())
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    drawn, last = page.evaluate(WAIT, charts)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    context.close()
    return {"paint": paint, "last": last, "drawn": drawn, "asked": len(asked)}


if __name__ == "__main__":
    main()
