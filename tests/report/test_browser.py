"""Tests of the report in a real browser: headless Chromium over the file that make report wrote."""

import os
import re
import subprocess
import sys

import pytest

from mlperf_claims import paths
from mlperf_claims.claims.articles import load_article
from mlperf_claims.report.pdf import HOW_TO_GET_ONE, find_browser

CHROMIUM = find_browser()
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
HOW = f"no Chromium found, so NOTHING was checked in a browser: {HOW_TO_GET_ONE}; then run make test"


@pytest.fixture(scope="module")
def report():
    """The address of the default article's report, built if it is not there or not up to date."""
    if CHROMIUM is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(HOW)
    subprocess.run(["make", "-C", paths.ROOT, "report", "JOBS=2"], check=True, stdout=sys.stderr, env=_without_make())
    return (paths.build_dir(load_article().name) / "report.html").as_uri()


def _without_make():
    """The environment without what a make around the tests would tell one within them."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


@pytest.fixture(scope="module")
def browser(report):
    """One headless Chromium for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser, report):
    """Return a function that opens the report and waits until every chart is drawn."""
    pages = []

    def open_and_wait(*, width=1280, scripts=True, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=scripts, color_scheme=scheme
        )
        pages.append(context)
        page = context.new_page()
        page.seen = {"requests": [], "errors": []}
        page.on("request", lambda request: page.seen["requests"].append(request.url))
        page.on("console", lambda line: page.seen["errors"].append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: page.seen["errors"].append(str(error)))
        page.goto(report)
        if scripts:
            for figure in page.locator("figure.chart").all():
                figure.locator(".drawn svg").wait_for(timeout=20_000)
        return page

    yield open_and_wait
    for context in pages:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_opens_without_network_or_errors(open_page, report, scheme):
    """Opening the file asks for the file and nothing else, and nothing is complained of."""
    page = open_page(scheme=scheme)
    assert page.seen == {"requests": [report], "errors": []}


def test_no_notebook_warns(open_page):
    """No library complains in what the notebooks print, folded or not."""
    page = open_page(scripts=False)
    printed = page.locator("pre.stream").all_text_contents()
    assert len(printed) > 5
    assert [text for text in printed if "Warning" in text] == []


def test_every_chart_is_drawn_over_its_picture(open_page):
    """Each chart is drawn by script, and its static picture is out of sight then."""
    page = open_page()
    charts = page.locator("figure.chart")
    assert charts.count() > 0
    assert page.locator("figure.chart.ready").count() == charts.count()
    assert not any(picture.is_visible() for picture in page.locator("figure.chart .static").all())


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_accessible(open_page, width, scheme):
    """Axe finds no violation, also in what is folded and with the charts drawn."""
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(width=width, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    page.wait_for_timeout(300)
    found = Axe().run(page).response["violations"]
    assert {one["id"]: [node["html"][:200] for node in one["nodes"]] for one in found} == {}


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_page_does_not_scroll_sideways(open_page, width):
    """Wide tables scroll in themselves, not the page."""
    page = open_page(width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_every_verdict_and_chart_is_there(open_page):
    """With scripts off each claim still shows its verdict, and each chart its picture."""
    page = open_page(scripts=False)
    claims = {claim.id for claim in load_article().claims}
    shown = page.locator("article.claim")
    assert {one.get_attribute("id").removeprefix("claim-") for one in shown.all()} == claims
    verdicts = page.locator("table.claims td.verdict span:visible").all_inner_texts()
    assert verdicts == [one.locator("h3 .chip").text_content() for one in shown.all()]
    pictures = page.locator("figure.chart .static svg")
    assert pictures.count() > 0
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        assert picture.bounding_box()["height"] > 100
        assert picture.is_visible()


def test_sliders_move_the_figure(open_page):
    """The what-if chart follows its sliders: twice the assumption that the figure is divided by, half the figure."""
    page = open_page()
    figure = page.locator("figure.chart", has=page.locator(".vega-bindings"))
    slider = figure.locator("input[type=range]").first
    shown = figure.locator(".drawn svg text", has_text=re.compile(r"^\d+\.\d+ x$"))
    before = float(shown.text_content().split()[0])
    slider.evaluate("input => { input.value = 2 * input.value; input.dispatchEvent(new Event('input')); }")
    page.wait_for_timeout(300)
    assert float(shown.text_content().split()[0]) == pytest.approx(before / 2, abs=0.02)


def test_one_switch_opens_all_code(open_page):
    """The switch opens every fold of code, and closes it again."""
    page = open_page()
    folds = page.locator("details.code")
    page.locator("#code-switch").click()
    assert page.locator("details.code[open]").count() == folds.count() > 0
    page.locator("#code-switch").click()
    assert page.locator("details.code[open]").count() == 0


def test_link_from_the_table_opens_the_evidence(open_page):
    """A claim in the summary leads to its evidence, unfolded, with links to log lines at a commit."""
    page = open_page()
    link = page.locator("section.notebook > .table td.claim a").first
    target = link.get_attribute("href")
    link.click()
    evidence = page.locator(f"{target} details.evidence[open]")
    evidence.wait_for()
    assert "#L" in evidence.locator("a").first.get_attribute("href")


ROWS = "table.claims tbody tr:visible"


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_claims_are_shown_by_verdict(open_page, by):
    """A verdict's button leaves its claims and says how many they are; the first brings all of them back."""
    page = open_page()
    total = page.locator(ROWS).count()
    for verdict in ("confirmed", "not checked here"):
        press(page.locator(f'.filters button[data-verdict="{verdict}"]'), by)
        rows = page.locator(ROWS)
        assert 0 < rows.count() < total
        assert {row.get_attribute("data-verdict") for row in rows.all()} == {verdict}
        assert page.locator(".filters [role=status]").inner_text() == f"{rows.count()} of {total} claims"
        assert page.locator(".filters button[aria-pressed=true]").count() == 1
    press(page.locator('.filters button[data-verdict=""]'), by)
    assert page.locator(ROWS).count() == total == len(load_article().claims)


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_claims_are_sorted_by_a_column(open_page, by):
    """A heading sorts up, then down, then as in the article; a claim without a figure stands last both times."""
    page = open_page()
    ids = "rows => rows.map(row => row.querySelector('a.id').textContent)"
    as_written = page.locator(ROWS).evaluate_all(ids)
    head = page.locator("table.claims thead th", has_text="recomputed")
    keys = "rows => rows.map(row => row.cells[2].dataset.key)"
    for direction, sign in (("ascending", 1), ("descending", -1)):
        press(head.locator("button"), by)
        assert head.get_attribute("aria-sort") == direction
        found = page.locator(ROWS).evaluate_all(keys)
        figures = [float(key) for key in found if key]
        assert figures == sorted(figures, key=lambda figure: sign * figure)
        assert len(figures) > 5
        assert set(found[len(figures) :]) == {""}
    press(head.locator("button"), by)
    assert head.get_attribute("aria-sort") is None
    assert page.locator(ROWS).evaluate_all(ids) == as_written


def press(button, by):
    if by == "mouse":
        button.click()
    else:
        button.focus()
        button.press("Enter")


def test_every_figure_of_a_headline_leads_to_its_evidence(open_page):
    """A figure on a card opens the files behind it, which name blob, commit, factor and lines of start and stop."""
    page = open_page()
    figures = page.locator(".card dd a")
    assert figures.count() >= 2 * page.locator(".card").count() > 0
    for figure in figures.all():
        target = figure.get_attribute("href")
        figure.click()
        evidence = page.locator(f"{target} details.evidence[open]")
        evidence.wait_for()
        text = evidence.inner_text()
        assert all(
            word in text for word in ("blob", "commit", "(run_start)", "(run_stop)", "scaling factor", "result_")
        )


def test_first_screen_tells_what_holds(open_page):
    """Without scrolling a reader meets title, article, outcome, tally and the headline claims."""
    page = open_page(width=1440)
    page.evaluate("scrollTo(0, 0)")
    for part in ("h1", ".audited", ".finding", ".tally", ".card"):
        box = page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 900


def test_on_paper_the_page_is_light_and_its_charts_are_static(open_page):
    """Printed from a dark desktop too, the page is dark on light, code is left out, and charts are pictures."""
    page = open_page(scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(31, 35, 40)"
    assert all(picture.is_visible() for picture in page.locator("figure.chart .static").all())
    assert not any(drawn.is_visible() for drawn in page.locator("figure.chart .drawn").all())
    hidden = page.locator("nav.contents, .filters, details.code")
    assert hidden.count() > 3
    assert not any(one.is_visible() for one in hidden.all())
