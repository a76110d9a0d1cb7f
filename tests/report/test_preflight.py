"""Tests of `preflight`: whatever is wrong with an article is said once, before any notebook runs."""

import pytest

from mlperf_claims import paths
from mlperf_claims.claims import findings
from mlperf_claims.claims.articles import load_article
from mlperf_claims.report import preflight

HEAD = "title: t\npublisher: p\npublished: 2026-01-02\nround: v5.0\nbenchmark: bert\nclaims:\n"
CLAIM = "  - {id: %s, says: s, kind: value, stated: 9 GPUs, measure: accelerators, subject: {%s}}\n"


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """A function: write an article, run the preflight, give its status, what it printed, and what it wrote."""
    monkeypatch.setattr(findings, "load_article", lambda name: load_article(name, folder=tmp_path))
    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")

    def run(text):
        (tmp_path / "paper.yaml").write_text(text, encoding="utf-8")
        status = preflight.main(["paper"])
        written = tmp_path / "build" / "paper" / "problems.txt"
        return status, capsys.readouterr().err.splitlines(), written.read_text() if written.is_file() else None

    return run


def test_every_claim_that_fails_is_named_on_a_line(check):
    """All of them, each with what was met or is nearest; the build goes on, to mark them in the report."""
    status, lines, written = check(HEAD + CLAIM % ("none", "submitter: Nobody") + CLAIM % ("many", "accelerators: 8"))
    assert status == 0
    assert [line.split(" fails: ")[0] for line in lines] == ["claim 'none'", "claim 'many'"]
    assert ["no submitter 'Nobody'" in lines[0], "expected exactly one; it met: " in lines[1]] == [True, True]
    assert written == "".join(f"{line}\n" for line in lines)


def test_round_that_is_not_held_is_said_too(check):
    """Such a claim is not checked here; it may be a misspelt round."""
    status, (line,), _ = check(HEAD + CLAIM % ("later", "round: v9.9"))
    assert (status, line.startswith("claim 'later' is not checked here: round v9.9 is not in data/")) == (0, True)


def test_file_that_is_no_article_ends_the_build(check):
    """Its problems are listed, and nothing is written."""
    status, lines, written = check(HEAD + CLAIM % ("bad id", "rond: v5.0"))
    assert (status, len(lines), written) == (1, 2, None)
    assert all(line.startswith("paper.yaml line 7: ") for line in lines)
