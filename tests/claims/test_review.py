"""Tests of `review`: how a build is held against the reviewed verdicts, and the README against a build."""

import json

import pytest

from mlperf_claims import paths
from mlperf_claims.claims import review
from mlperf_claims.claims.review import ReviewError, compare, load_reviewed, replace_findings, write_reviewed

C, O = "confirmed", "overstated"  # noqa: E741 - a letter each, for the table below


def row(claim, verdict=C, robust="yes"):
    return {"claim": claim, "verdict": verdict, "robust": robust}


@pytest.mark.parametrize(
    ("built", "reviewed", "lines"),
    [
        ([row("a"), row("b")], [row("b"), row("a")], []),  # the order does not matter
        ([row("a", O)], [row("a")], ["a: overstated, robust, reviewed as confirmed, robust"]),
        ([row("a", robust="no")], [row("a")], ["a: confirmed, not robust, reviewed as confirmed, robust"]),
        ([row("a")], [], ["a: confirmed, robust, reviewed as absent"]),  # a new claim
        ([], [row("a", "unverifiable", "")], ["a: absent, reviewed as unverifiable"]),  # a claim that went
        ([row("a")], [row("a", robust="Yes")], ["a: confirmed, robust, reviewed as confirmed, robust 'Yes'"]),
        ([row("b", O), row("a", O)], [row("a"), row("b")], ["b: ", "a: "]),  # in the order of the build
    ],
)
def test_each_difference_is_a_line(built, reviewed, lines):
    """Every claim whose verdict or robustness is not the reviewed one is named, and no other."""
    found = compare(built, reviewed)
    assert len(found) == len(lines)
    assert all(line.startswith(start) for line, start in zip(found, lines, strict=True))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A made-up project in which the article `paper` was built with two claims; gives its folder."""
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(paths, "ARTICLES", tmp_path)
    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")
    claims = [
        {"id": "a", "verdict": "confirmed", "robust": False},
        {"id": "b, or not", "verdict": "unverifiable", "robust": None},
    ]
    (tmp_path / "build" / "paper").mkdir(parents=True)
    (tmp_path / "build" / "paper" / "claims.json").write_text(json.dumps({"claims": claims}))
    return tmp_path


def test_missing_review_says_how_to_make_one(project):
    """Without reviewed verdicts the message names the file and the command."""
    with pytest.raises(ReviewError, match=r"no .*paper\.verdicts\.csv: .* make accept ARTICLE=paper"):
        load_reviewed("paper")


@pytest.mark.parametrize(
    "text",
    [
        "claim,verdict\na,confirmed\n",  # a column is missing
        "verdict,claim,robust\n",  # another order
        "",  # empty
        "claim;verdict;robust\n",  # another separator
    ],
)
def test_review_with_other_columns_is_refused(project, text):
    """A file that is no list of verdicts is refused, with the columns wanted."""
    (project / "paper.verdicts.csv").write_text(text)
    with pytest.raises(ReviewError, match=r"paper\.verdicts\.csv: columns .*, expected claim, verdict, robust"):
        load_reviewed("paper")


@pytest.mark.parametrize(
    "lines",
    [
        "a,confirmed\n",  # a cell is missing
        "a,confirmed,yes,more\n",  # a cell is too many
        "a,overstated,yes\na,confirmed,no\n",  # a claim twice: which one was reviewed?
    ],
)
def test_broken_row_of_a_review_is_refused(project, lines):
    """A row that is not three cells, or a claim there twice, is an error and not a match."""
    (project / "paper.verdicts.csv").write_text("claim,verdict,robust\n" + lines)
    with pytest.raises(ReviewError, match=r"paper\.verdicts\.csv"):
        load_reviewed("paper")


def test_review_is_read_as_written(project):
    """What accept writes, check reads: commas and empty cells as well."""
    rows = [row("a, b", O, "no"), row("c", "unverifiable", "")]
    write_reviewed("paper", rows)
    assert load_reviewed("paper") == rows
    assert [path.name for path in project.glob("paper.*")] == ["paper.verdicts.csv"]  # no leftover


def test_check_without_a_review_fails(project, capsys):
    """`make check` before the first `make accept` fails and says what to do."""
    assert review.main(["check", "paper"]) == 1
    assert "make accept ARTICLE=paper" in capsys.readouterr().err


def test_accept_then_check_agree(project, capsys):
    """After accept, check finds no difference."""
    assert review.main(["accept", "paper"]) == 0
    assert review.main(["check", "paper"]) == 0
    assert "2 verdicts, differences from what was reviewed: 0" in capsys.readouterr().out


def test_check_fails_where_a_verdict_changed(project, capsys):
    """A verdict other than the reviewed one is printed, and the exit status says so."""
    write_reviewed("paper", [row("a", "confirmed", "yes"), row("b, or not", "unverifiable", "")])
    assert review.main(["check", "paper"]) == 1
    out = capsys.readouterr().out
    assert "a: confirmed, not robust, reviewed as confirmed, robust\n" in out
    assert "reviewed: 1" in out


def test_findings_in_the_readme_are_replaced_and_nothing_else():
    """The table goes between its marks; a README without them is refused."""
    marked = f"above\n{review.README_START}\nold\n{review.README_END}\nbelow\n"
    assert replace_findings(marked, "| new |") == marked.replace("old", "| new |")
    with pytest.raises(ReviewError, match=r"README\.md has no"):
        replace_findings("above\nbelow\n", "| new |")


def test_readme_with_other_findings_than_the_build_fails_the_check(project, capsys):
    """Accept writes the headline claims into the README; a figure changed there by hand fails the check."""
    claim = {"id": "a", "says": "Fast", "stated": "2x", "verdict": C, "robust": False, "headline": True, "unit": "x"}
    claim |= {
        "decimals": 0,
        "readings": [{"name": "official score", "value": 2.25}, {"name": "wall clock", "value": 1.5}],
    }
    (project / "build" / "paper" / "claims.json").write_text(json.dumps({"claims": [claim]}))
    readme = project / "README.md"
    readme.write_text(f"{review.README_START}\n{review.README_END}\n")
    assert review.main(["accept", "paper", "--readme", str(readme)]) == 0
    assert "| Fast | 2x | 2.25x | 1.50x | confirmed, not under every reading |" in readme.read_text()
    readme.write_text(readme.read_text().replace("1.50x", "1.90x"))
    assert review.main(["check", "paper", "--readme", str(readme)]) == 1
    assert "make accept writes them" in capsys.readouterr().out
