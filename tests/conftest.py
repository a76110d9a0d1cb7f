"""What several test files share."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator

import msgspec
import pandas as pd
import pytest

from mlperf_claims.claims.articles import Article, Claim
from mlperf_claims.claims.kinds import Answer
from mlperf_claims.claims.schema import KINDS
from mlperf_claims.claims.stated import parse_stated
from mlperf_claims.results.select import Selection

MARK = ":::MLLOG "

# A tiny results repository beside reference points: path below a folder of repositories, content
SYSTEM = {
    **{"submitter": "Org and Friends", "system_name": "box, 8 chips", "framework": "F 2.0"},
    **{"division": "closed", "status": "onprem", "accelerator_model_name": "X1"},
    **{"number_of_nodes": "2", "accelerators_per_node": 4},  # text in most repositories, a number in some
}
RESULT = "training_results_v5.0/Org/results/box/tiny"
SYSTEM_PATH, SCALING_PATH = "training_results_v5.0/Org/systems/box.json", f"{RESULT}/scaling.json"
REFERENCE_PATH = "reference_convergence/training_5.0.0/rcps_tiny.json"
LOG_PATH = f"{RESULT}/result_1.txt"


def record(key, time_ms, value=None, **metadata):
    """A line of a log."""
    fields = {"namespace": "", "time_ms": time_ms, "event_type": "POINT_IN_TIME", "key": key, "value": value}
    return f"{MARK}{json.dumps(fields | {'metadata': metadata})}\n"


def log_text(*, stop_ms=61_000):
    """A run of which the clock started on line 3 at 1,000 ms and stopped on line 5."""
    return (
        record("init_start", 500)
        + record("seed", 600, 7)
        + record("run_start", 1000)
        + record("eval_accuracy", 2000, 0.75, samples_count=64)
        + record("run_stop", stop_ms, status="success")
    )


POINTS = {"b": {"BS": 16, "samples to converge": [70]}, "a": {"BS": 8, "Epochs to converge": [3, 2.5]}}
GOOD = {
    SYSTEM_PATH: json.dumps(SYSTEM),
    SCALING_PATH: '{"scaling_factor": 1.25}',
    REFERENCE_PATH: json.dumps(POINTS),
    f"{RESULT}/result_0.txt": log_text(),
    LOG_PATH: log_text(stop_ms=62_000),
    f"{RESULT}/result_2.txt": log_text(),
    "training_results_v5.0/README.md": "not read",
}


@pytest.fixture(scope="session", autouse=True)
def _git_of_its_own() -> Iterator[None]:
    """Commit as a made-up author, whatever the machine's configuration or a hook's GIT_DIR says."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for name in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{name}_NAME", "Test")
            patch.setenv(f"GIT_{name}_EMAIL", "test@example.org")
        yield


@pytest.fixture(scope="session")
def git() -> Callable[..., str]:
    """Return a function that runs git and gives what it printed."""

    def run(*arguments: object, cwd: object = None) -> str:
        command = ["git", *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()

    return run


@pytest.fixture
def pins(tmp_path, git):
    """A function: turn the folders in raw into git remotes, pin them, remove the folders; give the CSV."""

    def pin():
        rows = ["name,repository,commit"]
        for folder in sorted((tmp_path / "raw").iterdir()):
            git("init", "--quiet", cwd=folder)
            git("config", "uploadpack.allowFilter", "true", cwd=folder)
            git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=folder)
            git("add", "--all", cwd=folder)
            git("commit", "--quiet", "--message=results", cwd=folder)
            commit = git("rev-parse", "HEAD", cwd=folder)
            git("rm", "--quiet", "-r", ".", cwd=folder)
            git("commit", "--quiet", "--message=gone", cwd=folder)  # the pin is not the remote's HEAD
            rows.append(f"{folder.name},{folder.as_uri()},{commit}")
        (tmp_path / "pins.csv").write_text("\n".join(rows) + "\n")
        return ("--pins", str(tmp_path / "pins.csv"), "--clones", str(tmp_path / "clones"))

    return pin


def make_claim(id_="fast", *, says="The box is faster", stated="2.1x", kind="ratio", headline=True, **keys):
    """A claim of a kind, with selections of its own where the kind wants them."""
    about = KINDS[kind]
    wanted = {one.name for one in msgspec.structs.fields(about) if one.required}
    roles = {role: Selection() for role in ("subject", "baseline", "field") if role in wanted}
    given = {"id": id_, "says": says, "stated": stated, "headline": headline, **roles, **keys}
    return Claim(about(**given), parse_stated(stated))


def make_article(*claims, title="Box beats box", name="paper", **given):
    """An article of these claims."""
    texts = {"publisher": "P", "published": "2026-01-02", "source": "s", "round": "v1", "benchmark": "b"}
    return Article(name, title, **texts, division="closed", **{"assumptions": {}, "claims": claims, **given})


def make_answer(readings, **given):
    """What a claim comes to under readings, without comparisons behind it."""
    return Answer(readings, pd.DataFrame(), **given)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in red what was skipped and why, since a skipped check looks like one that passed."""
    for reason in sorted({report.longrepr[2] for report in terminalreporter.stats.get("skipped", [])}):
        terminalreporter.write_sep("!", reason.removeprefix("Skipped: "), red=True, bold=True)
