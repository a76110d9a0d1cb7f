"""Tests of `pdf`: a page is printed whole, or what is lacking is said."""

import os

import pytest

from mlperf_claims.report import pdf


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<!doctype html><title>t</title><p>one page of text")
    return path


def make_browser(folder, script):
    """A program in a folder of its own that stands for the browser."""
    browser = folder / "bin" / "chromium"
    browser.parent.mkdir()
    browser.write_text(f"#!/bin/sh\n{script}\n")
    browser.chmod(0o755)
    return str(browser.parent)


def test_page_is_printed(page, tmp_path):
    """With a Chromium there, a PDF stands where it was wanted, and nothing beside it."""
    if pdf.find_browser() is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            f"no Chromium, nothing was printed: {pdf.HOW_TO_GET_ONE}"
        )
    pdf.print_page(page, tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", "page.pdf"}


def test_without_a_browser_it_says_how_to_get_one(page, tmp_path, monkeypatch):
    """No Chromium is an error in words."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(pdf.PdfError, match=r"found none of chromium, .*apt-get install chromium"):
        pdf.print_page(page, tmp_path / "page.pdf")


@pytest.mark.parametrize(
    ("script", "words"), [("echo no display >&2; exit 3", "no display"), ("exit 0", "wrote no PDF of .*status 0")]
)
def test_browser_that_fails_leaves_nothing(page, tmp_path, monkeypatch, script, words):
    """What the browser said is passed on, and no file is left, nor the old one lost."""
    monkeypatch.setenv("CHROMIUM", make_browser(tmp_path, script) + "/chromium")
    (tmp_path / "page.pdf").write_text("older")
    with pytest.raises(pdf.PdfError, match=words):
        pdf.print_page(page, tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_text() == "older"


def test_page_that_is_not_there_is_named(tmp_path):
    """A report that was not built is named, with how to build it."""
    with pytest.raises(pdf.PdfError, match=r"no .*gone.html, expected a report: run make report"):
        pdf.print_page(tmp_path / "gone.html", tmp_path / "gone.pdf")
