"""Tests of `site`: every article has its report, and one page leads to all."""

import json
import re

import pytest

from mlperf_claims import paths
from mlperf_claims.claims.verdicts import VERDICTS
from mlperf_claims.report import site


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return a function that writes what a report's build leaves, for the site to gather."""
    monkeypatch.setattr(paths, "BUILD", tmp_path)

    def write(name, *, title="Box beats box", published="2026-01-02", verdict="confirmed"):
        about = {"name": name, "title": title, "publisher": "News", "published": published}
        about |= {"source": "", "round": "v1.0", "benchmark": "tiny", "division": "closed"}
        claim = {"says": "Faster", "stated": "2.1x", "recomputed": 2.12, "unit": "x", "decimals": 1}
        claim |= {"verdict": verdict, "robust": False, "headline": True}
        folder = tmp_path / name
        folder.mkdir()
        (folder / "claims.json").write_text(json.dumps({"article": about, "claims": [claim]}))
        for file in ("report.html", "claims.csv", "claims.schema.json"):
            (folder / file).write_text(f"{file} of {name}")

    return write


def test_site_holds_every_report_and_an_index_newest_first(build, tmp_path):
    """Each article's files lie in a folder of its name, and the index leads there."""
    build("older", title="Old news")
    build("newer", title="New news", published="2026-03-04", verdict="overstated")
    site.write_site(["newer", "older"], tmp_path / "_site")
    index = (tmp_path / "_site" / "index.html").read_text(encoding="utf-8")
    assert index.index("New news") < index.index("Old news")
    links = re.findall(r'href="([^"]+)"', index)
    assert {"newer/index.html", "older/index.html", "older/claims.json"} <= set(links)
    assert all((tmp_path / "_site" / link).is_file() for link in links)
    assert (tmp_path / "_site/newer/index.html").read_text() == "report.html of newer"
    assert "1 overstated" in index
    assert "recomputed 2.120x" in index


def test_site_without_a_report_is_refused_and_the_old_one_stays(build, tmp_path):
    """An article that is not built is named, and what was published is not touched."""
    build("there")
    site.write_site(["there"], tmp_path / "_site")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(site.SiteError, match="no report of gone, expected one: run make site"):
        site.write_site(["gone", "there"], tmp_path / "_site")
    assert sorted(tmp_path.rglob("*")) == before


def test_site_is_written_anew(build, tmp_path):
    """An article that is no more is not published any longer."""
    build("first")
    build("second")
    site.write_site(["first", "second"], tmp_path / "_site")
    site.write_site(["second"], tmp_path / "_site")
    assert not (tmp_path / "_site" / "first").exists()


def test_title_that_looks_like_markup_is_text(build, tmp_path):
    """The index escapes what articles say."""
    build("odd", title="<script>alert(1)</script>")
    site.write_site(["odd"], tmp_path / "_site")
    index = (tmp_path / "_site" / "index.html").read_text(encoding="utf-8")
    assert "<script" not in index
    assert "&lt;script&gt;alert(1)" in index


def test_every_verdict_has_a_colour():
    """The style knows each verdict, in reports and in the index."""
    css = (paths.ROOT / "mlperf_claims/report/template/report.css").read_text(encoding="utf-8")
    assert [verdict for verdict in VERDICTS if f".{verdict.replace(' ', '-')}" not in css] == []
