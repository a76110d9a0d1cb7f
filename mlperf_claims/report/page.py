"""Join executed notebooks into one HTML file that needs no network."""

import argparse
import html
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import mistune
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from mlperf_claims import paths
from mlperf_claims.claims import findings
from mlperf_claims.claims.articles import Article, ArticleError, load_article
from mlperf_claims.claims.findings import Finding, FindingError, format_recomputed, format_value, load_findings
from mlperf_claims.claims.kinds import CLOCK
from mlperf_claims.claims.verdicts import FAILED, VERDICTS
from mlperf_claims.report.charts import MIME as CHART
from mlperf_claims.report.charts import draw_svg
from mlperf_claims.report.exports import SCHEMA, describe_claims, format_csv, review_claims
from mlperf_claims.results.tables import TableError, load_table

PAGE = Path(__file__).parent / "template"
FRAME = '<div class="table">'  # around every table a notebook shows, and so around none that pandas prints
TITLE = "MLPerf claims, recomputed from the raw logs"


@dataclass
class Heading:
    """A heading of the page: its level there, its anchor, its text as HTML."""

    level: int
    anchor: str
    text: str


@dataclass
class Section:
    """One notebook as a part of the page."""

    name: str
    blocks: list[Markup] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    failure: str = ""

    @property
    def title(self) -> str:
        return self.headings[0].text if self.headings else self.name


@dataclass
class _Page:
    """What is numbered and collected across the whole page."""

    claims: frozenset[str]
    specs: list[Mapping[str, Any]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


def write_report(article: Article, folder: Path, *, runtime: str) -> list[str]:
    """Write report.html, claims.json, its schema, claims.csv and failures.txt, each whole or not at all.

    Args:
        folder: of the article's build, with `notebooks/` executed.
        runtime: the JavaScript that draws charts.
    Returns: a line for each notebook that failed.
    """
    notebooks = sorted((folder / "notebooks").glob("*.ipynb"))
    judged = load_findings(article, folder / "notebooks")
    page = _Page(frozenset(finding.id for finding in judged))
    sections = [render_notebook(path.stem, json.loads(path.read_text(encoding="utf-8")), page) for path in notebooks]
    homes = {
        finding.id: path.stem
        for path in notebooks
        for finding in findings.read_findings(json.loads(path.read_text(encoding="utf-8")))
    }
    failures = [f"{section.name}: {section.failure}" for section in sections if section.failure]
    failures += [f"claim {finding.id}: {finding.because}" for finding in judged if finding.verdict == FAILED]
    texts = {
        "report.html": render_page(article, sections, judged, homes, page.specs, runtime),
        "claims.json": json.dumps(describe_claims(article, judged), indent=1, ensure_ascii=False, allow_nan=False)
        + "\n",
        SCHEMA: (PAGE / SCHEMA).read_text(encoding="utf-8"),
        "claims.csv": format_csv(judged),
        "failures.txt": "".join(f"{failure}\n" for failure in failures),
    }
    for name, text in texts.items():
        temporary = folder / f".{name}.tmp"
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(folder / name)
    return failures


def render_notebook(name: str, notebook: Mapping[str, Any], page: _Page) -> Section:
    """Render one executed notebook, its headings one level down."""
    section = Section(name)
    code: list[Markup] = []  # of neighbouring cells, which fold as one

    def add(block: Markup) -> None:
        if code:
            inside = Markup("").join(code)
            section.blocks.append(Markup(f'<details class="code"><summary>Code</summary>{inside}</details>'))
            code.clear()
        section.blocks.append(block)

    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            add(_render_markdown(source, section, page))
        elif cell["cell_type"] == "code" and source.strip():
            outputs = cell.get("outputs", ())
            code.append(_render_code(source, cell["metadata"].get("tags", [])))
            code += [_render_output(output, section, page) for output in outputs if _is_working(output)]
            for output in outputs:
                if not _is_working(output) and findings.MIME not in output.get("data", {}):
                    add(_render_output(output, section, page))
    add(Markup(""))
    return section


def render_page(
    article: Article,
    sections: Sequence[Section],
    judged: Sequence[Finding],
    homes: Mapping[str, str],
    specs: Sequence[Mapping[str, Any]],
    runtime: str,
) -> str:
    """Render the whole page; the same inputs give the same bytes."""
    if "</script" in runtime.lower():
        raise ValueError("the chart runtime contains </script, expected JavaScript that can stand inside a page")
    return (
        open_templates()
        .get_template("report.html.j2")
        .render(
            article=article,
            sections=sections,
            findings=judged,
            headlines=[finding for finding in judged if finding.headline],
            summary=findings.summarise(judged),
            homes=homes,
            titles={section.name: section.title for section in sections},
            ranks={verdict: rank for rank, verdict in enumerate(VERDICTS)},
            verdicts={verdict: sum(finding.verdict == verdict for finding in judged) for verdict in VERDICTS},
            rounds=load_table("rounds").to_dict("records"),
            specs=specs,
            reviews=review_claims(article, judged, reviewer=TITLE),
            script=Markup((PAGE / "report.js").read_text(encoding="utf-8")),
            runtime=Markup(runtime),
        )
    )


def open_templates() -> jinja2.Environment:
    """Return the templates of `page/`, which escape what they are given, with the project's style and title."""
    loader = jinja2.FileSystemLoader(PAGE)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"recomputed": format_recomputed, "value": format_value, "json": _to_script}
    environment.filters["clock"] = _read_clock
    environment.globals |= {"kicker": TITLE, "css": Markup((PAGE / "report.css").read_text(encoding="utf-8"))}
    return environment


class _Renderer(mistune.HTMLRenderer):
    """Markdown with headings one level down, anchored and collected."""

    def __init__(self, section: Section, page: _Page) -> None:
        super().__init__(escape=True)
        self.section, self.page = section, page

    def heading(self, text: str, level: int, **_: object) -> str:
        plain = html.unescape(re.sub(r"<[^>]+>", "", text))
        anchor, level = f"notebook-{self.section.name}-{_slug(plain)}", min(level + 1, 6)
        while anchor in self.page.anchors:
            anchor += "-more"
        self.page.anchors.add(anchor)
        self.section.headings.append(Heading(level, anchor, plain))
        return f'<h{level} id="{html.escape(anchor)}">{text}</h{level}>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return text

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return super().link(text, url, title) if url.startswith("https://") else text


def _render_markdown(source: str, section: Section, page: _Page) -> Markup:
    return Markup(mistune.create_markdown(renderer=_Renderer(section, page))(source))


def _is_working(output: Mapping[str, Any]) -> bool:
    """Tell output for whoever edits the notebook, a print or a bare frame, from what it shows its readers."""
    data = output.get("data", {})
    shown = findings.MIME in data or CHART in data or "text/markdown" in data  # findings stand in a part of their own
    return output["output_type"] != "error" and not shown and FRAME not in "".join(data.get("text/html", ""))


def _render_code(source: str, tags: Iterable[str]) -> Markup:
    label = {
        "parameters": "Parameters, as the notebook has them",
        "injected-parameters": "Parameters of this report",
    }
    name = next((f"<p>{label[tag]}:</p>" for tag in tags if tag in label), "")
    code = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
    return Markup(f'{name}<pre tabindex="0"><code>{code}</code></pre>')


def _render_output(output: Mapping[str, Any], section: Section, page: _Page) -> Markup:
    match output["output_type"]:
        case "stream":
            return Markup(f'<pre class="stream">{html.escape("".join(output["text"]))}</pre>')
        case "error":
            section.failure = " ".join(f"{output['ename']}: {output['evalue']}".split())
            return Markup(f'<pre class="failure">{html.escape(section.failure)}</pre>')
    data = output["data"]
    if CHART in data:
        return _render_chart(data[CHART], page)
    if "text/markdown" in data:
        return _render_markdown("".join(data["text/markdown"]), section, page)
    if "text/html" in data:
        return Markup(_link_claims("".join(data["text/html"]), page.claims))
    return Markup(f'<pre class="stream">{html.escape("".join(data.get("text/plain", "")))}</pre>')


def _render_chart(spec: Mapping[str, Any], page: _Page) -> Markup:
    page.specs.append(spec)
    number = len(page.specs)
    described = html.escape(spec.get("description", ""))
    static = draw_svg(spec).replace("<svg ", f'<svg role="img" aria-label="{described}" ', 1)
    caption = html.escape(spec.get("description", "").removeprefix(f"{spec.get('title', '')}. "))
    return Markup(
        f'<figure class="chart" id="chart-{number}"><div class="static">{static}</div>'
        f'<div class="drawn" role="img" aria-label="{described}" hidden></div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _link_claims(table: str, claims: frozenset[str]) -> str:
    """Link cells that name a claim, and the figures beside them, to its evidence; mark those that hold a verdict."""

    headings = re.findall(r"<th[^>]*>([^<]*)</th>", table)

    def link_row(match: re.Match) -> str:
        claim = next((text for text in re.findall(r"<td>([^<]*)</td>", match[0]) if text in claims), "")
        labels = iter(headings)  # beside each cell where a narrow window shows a claim as a block

        def link_cell(cell: re.Match) -> str:
            kind, text = cell[1], cell[2]
            label = f' data-label="{next(labels, "")}"' if claim else ""
            verdict = text.partition(",")[0]
            if verdict in VERDICTS:
                return f'<td class="verdict"{label}><span class="{verdict.replace(" ", "-")}">{text}</span></td>'
            if text in claims:
                return f'<td class="claim"><a href="#claim-{text}">{text}</a></td>'
            if claim and re.search(r"\d", text):
                text = f'<a class="figure" href="#claim-{claim}">{text}</a>'
            return f"<td{kind}{label}>{text}</td>"

        return re.sub(r"<td([^>]*)>([^<]*)</td>", link_cell, match[0])

    # pandas' own tables bring a style element of their own, which the page has no use for
    table = re.sub(r"<div>\s*<style.*?</style>\s*<table border=\"1\"", f"{FRAME}<table", table, flags=re.DOTALL)
    table = table.replace("<th></th>", "<td></td>")  # above their index
    head, end_of_head, body = table.partition("</thead>")
    table = head.replace("<th>", '<th scope="col">') + end_of_head + body.replace("<th>", '<th scope="row">')
    return re.sub(r"<tr>.*?</tr>", link_row, table, flags=re.DOTALL)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "part"


def _read_clock(finding: Finding) -> float | None:
    return next((reading.value for reading in finding.readings if reading.name == CLOCK), None)


def _to_script(value: object) -> Markup:
    """Return JSON that can stand inside a script element, whatever its texts hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mlperf_claims.report.page", description=__doc__)
    parser.add_argument("article")
    options = parser.parse_args(arguments)
    runtime = (paths.BUILD / "vega.js").read_text(encoding="utf-8")
    try:
        write_report(load_article(options.article), paths.build_dir(options.article), runtime=runtime)
    except (ArticleError, FindingError, TableError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
