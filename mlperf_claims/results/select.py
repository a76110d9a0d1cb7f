"""Pick exactly the results that a claim is about, or say why not."""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import pandas as pd

from mlperf_claims.read.grains import RESULT_KEY
from mlperf_claims.results.benchmarks import incomparable, order_round
from mlperf_claims.results.convergence import normalise_runs, recompute_factors
from mlperf_claims.results.tables import load_constants, load_results, load_runs, load_table
from mlperf_claims.results.training import mark_runs, score_results

ANY = "any"  # as round, benchmark or division of a selection: not only the article's
CATEGORIES = {"cloud": "cloud", "on premise": "prem", "preview": "preview"}  # of availability: a word they hold
# What the MLPerf results messaging guidelines want named where compared results differ in it.
COMPARED = {
    "round": "round",
    "division": "division",
    "benchmark": "benchmark",
    "availability": "availability",
    "accelerators_total": "accelerator count",
    "accelerator": "accelerator",
    "submitter": "submitter",
    "framework": "software",
}
SERIES = ("round", "benchmark", "division", "submitter", "accelerator")  # alike in all sizes of one series

# no control characters but line ends, no marks that turn the direction of text, no halves of a character
_SHOWN = r"^(?:[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff])+$"
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1000, pattern=_SHOWN, description="printable text")]
Names = Text | Annotated[list[Text], msgspec.Meta(min_length=1)]
_SIZE = re.compile(
    r"(over|more than|at least|under|less than|fewer than|up to) (\d{1,3}(?:,\d{3}){1,2}|\d{1,9})", re.ASCII
)


class SelectionError(ValueError):
    """A selection that meets no result, or several, or one without a score."""


class NotHeldError(SelectionError):
    """A selection from a round that `data/` does not hold."""


class Selection(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"besides": "except"},
):
    """Which results are meant: those that meet every condition given."""

    round: Annotated[Names | None, msgspec.Meta(description="a round, such as v5.0, several, or any")] = None
    benchmark: Annotated[
        Names | None, msgspec.Meta(description="a benchmark as its folder is named, several, or any")
    ] = None
    division: Annotated[Text | None, msgspec.Meta(description="closed, open, or any")] = None
    submitter: Annotated[
        Names | None, msgspec.Meta(description="a submitter's whole name, or one name of a joint submission")
    ] = None
    organization: Annotated[Text | None, msgspec.Meta(description="the submitter's folder, exactly")] = None
    system: Annotated[Text | None, msgspec.Meta(description="the system's folder, exactly")] = None
    accelerator: Annotated[
        Names | None, msgspec.Meta(description="text that the accelerator's name holds, or several")
    ] = None
    maker: Annotated[
        Text | None, msgspec.Meta(description="who makes the accelerator, as data/makers.csv names it")
    ] = None
    accelerators: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=10**9)] | Text | None,
        msgspec.Meta(description='how many in all: a whole number, or words such as "over 1,000"'),
    ] = None
    availability: Annotated[Text | None, msgspec.Meta(description="category: cloud, on premise or preview")] = None
    pick: Annotated[Literal["fastest", "largest"] | None, msgspec.Meta(description="of several, the one meant")] = None
    besides: Annotated["Selection | None", msgspec.Meta(description="what is left out: a selection again")] = None

    def within(self, scope: Mapping[str, Any]) -> "Selection":
        """Return the selection with what it does not say itself taken from a scope, and `any` lifted."""
        found = {key: getattr(self, key) if getattr(self, key) is not None else value for key, value in scope.items()}
        return msgspec.structs.replace(self, **{key: None if value == ANY else value for key, value in found.items()})

    def __str__(self) -> str:
        return _show(msgspec.to_builtins(self))


def _show(given: Any) -> str:  # noqa: ANN401 - what YAML holds
    if isinstance(given, dict):
        return "{" + ", ".join(f"{key}: {_show(value)}" for key, value in given.items()) + "}"
    return f"[{', '.join(map(str, given))}]" if isinstance(given, list) else str(given)


def load_submissions() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load `data/training`, scored.

    Returns: (results, runs): one row per (round, organization, system, benchmark), with the columns
        of `training.score_results`, `maker` of the accelerator, the repository and the commit; one
        row per log, with those of `training.mark_runs` and `convergence.normalise_runs`.
    """
    results = load_results()
    logs = load_runs()
    factors = recompute_factors(logs, load_table("reference_convergence"))
    runs = normalise_runs(mark_runs(logs, results), factors)
    rounds = load_table("rounds")[["round", "repository", "commit"]]
    scored = score_results(results, runs).merge(rounds, on="round", how="left", validate="many_to_one")
    makers = dict(load_constants("makers").itertuples(index=False, name=None))
    return scored.assign(maker=[find_maker(name, makers) for name in scored["accelerator"]]), runs


def find_maker(accelerator: str, makers: Mapping[str, str]) -> str:
    """Return who makes an accelerator, by the texts its name may hold; empty if none is known."""
    return next((maker for text, maker in makers.items() if text in accelerator), "")


def narrow(results: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """Return the results that meet every condition of a selection, whatever their number.

    Raises: NotHeldError if it names a round that is not among the results; SelectionError if what it leaves out
        is named as no result is.
    """
    _check_held(results, selection)
    return _narrow(results, selection)


def _check_held(results: pd.DataFrame, selection: Selection) -> None:
    if absent := sorted(set(_list(selection.round)) - set(results["round"])):
        held = ", ".join(sorted(set(results["round"])))
        raise NotHeldError(
            f"round {', '.join(absent)} is not in data/, which holds {held}: add a line for "
            f"{' and '.join(f'training_results_{name}' for name in absent)} to data/sources.csv and run make data"
        )
    if selection.besides:
        _check_held(results, selection.besides)
        check_known(results, selection.besides)


def _narrow(results: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    met = pd.Series(True, index=results.index)
    for condition in _find_conditions(results, selection).values():
        met &= condition
    kept = results[met]
    if selection.submitter:
        kept = _keep_submitters(kept, _list(selection.submitter))
    if selection.besides:
        scope = {key: getattr(selection, key) for key in ("round", "benchmark", "division")}
        kept = kept.drop(_narrow(kept, selection.besides.within(scope)).index)
    return kept


def check_known(results: pd.DataFrame, selection: Selection) -> None:
    """Raise SelectionError if a selection names what no result at all has, and so meets nothing by mistake."""
    if hints := list(_find_unknown(results, selection)):
        raise SelectionError(f"{selection} meets no result; {'; '.join(hints)}")


def select_one(results: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """Return the one result that a selection meets; with `pick`, the fastest or the largest of several.

    Raises: SelectionError listing what it met, or the nearest others, and what to change.
    """
    met = pick(narrow(results, selection), selection)
    if len(met) != 1:
        raise SelectionError(_explain(results, selection, met))
    return met


def select_some(results: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """Return the results a selection meets; SelectionError if there are none."""
    met = pick(narrow(results, selection), selection)
    if met.empty:
        raise SelectionError(_explain(results, selection, met))
    return met


def pick(met: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """Return, of the results met, those that `pick` means; all of them where it is not given."""
    if selection.pick == "fastest":
        return met.nsmallest(1, "official_min", keep="all") if met["official_min"].notna().any() else met
    if selection.pick == "largest":
        return met.nlargest(1, "accelerators_total", keep="all")
    return met


def check_score(result: pd.Series, selection: Selection) -> None:
    """Raise SelectionError if a result has no score."""
    if result["no_score"]:
        found = f"{result['submitter']}, {result['system']}, {result['benchmark']}"
        raise SelectionError(f"{selection} meets {found}, without a score: {result['no_score']}")


def check_comparable(one: pd.Series, other: pd.Series) -> None:
    """Raise SelectionError if times of two results may not be compared: other benchmark, or other version of it."""
    if reason := incomparable(one["benchmark"], one["round"], other["benchmark"], other["round"]):
        raise SelectionError(reason)


def normalise_availability(text: str) -> str:
    """Return the category of availability, which is written in several ways."""
    words = text.lower().replace("-", " ")
    return next((category for category, word in CATEGORIES.items() if word in words), words)


def split_submitter(name: str) -> list[str]:
    """Return the partners of a joint submission, or the one submitter."""
    return [part.strip() for part in name.split("+")]


def find_series(results: pd.DataFrame, result: pd.Series) -> pd.DataFrame:
    """Return every size of a result's own series, smallest first: submitter, accelerator and benchmark alike."""
    alike = (results[list(SERIES)] == result[list(SERIES)]).all(axis=1)
    return results[alike & (results["no_score"] == "")].sort_values("accelerators_total")


def find_nearest(others: pd.DataFrame, size: int) -> pd.DataFrame:
    """Return the results of one size, or else those of the nearest smaller and the nearest larger one."""
    sizes = others["accelerators_total"]
    return others[sizes.isin([sizes[sizes <= size].max(), sizes[sizes >= size].min()])].sort_values(
        "accelerators_total"
    )


def find_rivals(results: pd.DataFrame, subject: pd.Series) -> pd.DataFrame:
    """Return the scored results that others have on a result's benchmark, each compared with it.

    Returns: one row per result of another submitter in the same round and division, smallest first, with
        `choice` (fastest of any size, same size, nearest smaller or larger; else empty) and how many times
        faster the subject is: `official_x`, `wall_clock_x`, `per_accelerator_x`, `throughput_x`.
    """
    alike = (results[list(SERIES[:3])] == subject[list(SERIES[:3])]).all(axis=1)
    rivals = results[alike & (results["submitter"] != subject["submitter"]) & (results["no_score"] == "")]
    size = subject["accelerators_total"]
    apart = rivals["accelerators_total"] - size
    names = {apart[apart <= 0].max(): "nearest smaller", apart[apart >= 0].min(): "nearest larger", 0: "same size"}
    fastest = rivals["official_min"] == rivals["official_min"].min()
    official = rivals["official_min"] / subject["official_min"]
    return rivals.assign(
        choice=apart.map(names).fillna("").mask(fastest, "fastest of any size"),
        official_x=official,
        wall_clock_x=rivals["wall_clock_min"] / subject["wall_clock_min"],
        per_accelerator_x=official * rivals["accelerators_total"] / size,
        throughput_x=subject["samples_per_min"] / rivals["samples_per_min"],
    ).sort_values("accelerators_total", kind="stable")


def find_repeats(runs: pd.DataFrame, keys: pd.DataFrame) -> pd.DataFrame:
    """Find runs that stand in an earlier round too: the same start, stop and seed.

    Args:
        keys: round, organization, system and benchmark of the results that are asked about.
    Returns: one row per (result, earlier round): its key, `round_earlier`, `runs`: how many.
    """
    key, moment = ["round", "organization", "system", "benchmark"], ["start_ms", "stop_ms", "seed"]
    mine = runs.merge(keys[key].drop_duplicates(), on=key).dropna(subset=["start_ms", "stop_ms"])
    again = mine.merge(runs[["round", *moment]], on=moment, suffixes=("", "_earlier"))
    earlier = again[again["round_earlier"].map(order_round) < again["round"].map(order_round)]
    return earlier.groupby([*key, "round_earlier"]).size().reset_index(name="runs")


def describe_differences(one: pd.Series, other: pd.Series) -> tuple[str, ...]:
    """Return in what two compared results differ, as the messaging guidelines want it named."""
    return tuple(
        f"{name}: {_text(one[column])} against {_text(other[column])}"
        for column, name in COMPARED.items()
        if _normalise(column, one[column]) != _normalise(column, other[column])
    )


def prefix(role: str, row: pd.Series) -> dict[str, Any]:
    """Return a result's columns under a role: `subject_system`, say."""
    return {f"{role}_{column}": value for column, value in row.items()}


def split_roles(row: pd.Series) -> pd.DataFrame:
    """Return the keys of a comparison's two results: `role`, round, organization, system, benchmark."""
    roles = ("subject", "baseline")
    return pd.DataFrame([{"role": role, **{name: row[f"{role}_{name}"] for name in RESULT_KEY}} for role in roles])


def keys_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the key of every result behind comparisons, once each."""
    found = [split_roles(row) for _, row in rows.iterrows()]
    keys = pd.concat(found) if found else pd.DataFrame(columns=list(RESULT_KEY))
    return keys[list(RESULT_KEY)].dropna().drop_duplicates(ignore_index=True)


def take_role(row: pd.Series, role: str) -> pd.Series:
    """Return the columns of one role, `subject_…` say, without its prefix."""
    mine = [name for name in row.index if name.startswith(f"{role}_")]
    return row[mine].rename(lambda name: name.removeprefix(f"{role}_"))


def match_peaks(results: pd.DataFrame, peaks: pd.DataFrame) -> pd.DataFrame:
    """Join each result with the peak figures of its accelerator, whose name contains theirs (the longest).

    Returns: one row per result, in order, with the columns of `peaks`; nan where none is known.
    """
    names = list(peaks["accelerator"])
    matched = results["accelerator"].map(
        lambda accelerator: max((n for n in names if n in accelerator), key=len, default="")
    )
    known = peaks.rename(columns={"accelerator": "matched"})
    return results.assign(matched=matched).merge(known, on="matched", how="left", suffixes=("_model", "_peak"))


def parse_size(given: int | str) -> tuple[float, float]:
    """Parse a number of accelerators, or words such as "over 1,000", into the sizes meant: from … to …, both included.

    Raises: SelectionError if it is neither.
    """
    if isinstance(given, int):
        return given, given
    match = _SIZE.fullmatch(given.strip())
    if not match:
        raise SelectionError(f'accelerators is {given!r}, expected a whole number, or words such as "over 1,000"')
    size = int(match[2].replace(",", ""))
    match match[1]:
        case "over" | "more than":
            return size + 1, math.inf
        case "at least":
            return size, math.inf
        case "up to":
            return 0, size
        case _:
            return 0, size - 1


def _find_conditions(results: pd.DataFrame, selection: Selection) -> dict[str, pd.Series]:
    """Return, for each condition but the submitter's, which results meet it."""
    found = {
        key: results[key].isin(_list(getattr(selection, key)))
        for key in ("round", "benchmark", "division", "organization", "system", "maker")
        if getattr(selection, key) is not None
    }
    if selection.accelerator is not None:
        names = _list(selection.accelerator)
        found["accelerator"] = results["accelerator"].map(lambda text: any(name in text for name in names))
    if selection.accelerators is not None:
        found["accelerators"] = results["accelerators_total"].between(*parse_size(selection.accelerators))
    if selection.availability is not None:
        wanted = normalise_availability(selection.availability)
        found["availability"] = results["availability"].map(normalise_availability) == wanted
    return found


def _keep_submitters(met: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Keep what a submitter of each of these names, or else a joint submission with it, handed in."""
    known = set(met["submitter"])
    meant = {one for name in names for one in ([name] if name in known else known) if name in _list_parts(one)}
    return met[met["submitter"].isin(meant)]


def _list_parts(submitter: str) -> list[str]:
    """Return the names by which a submitter is found: the whole one, and each of a joint one, however joined."""
    return [submitter, *(part.strip() for part in re.split(r"[+,&/_-]", submitter))]


def _explain(results: pd.DataFrame, selection: Selection, met: pd.DataFrame) -> str:
    if len(met):
        return f"{selection} meets {len(met)} results, expected exactly one; it met:\n{_describe(met.head(5))}"
    hints = "".join(f"; {hint}" for hint in _find_unknown(results, selection))
    nearest = _describe(_rank_by_nearness(results, selection))
    return f"{selection} meets no result{hints}; nearest:\n{nearest}"


def _find_unknown(results: pd.DataFrame, selection: Selection) -> Iterable[str]:
    """Name the values that no result at all has, each with the nearest that one has."""
    for key in ("benchmark", "division", "submitter", "organization", "system", "maker", "accelerator", "availability"):
        known = sorted(set(results[key] if key != "availability" else results[key].map(normalise_availability)))
        for name in _list(getattr(selection, key)):
            near, name = known, normalise_availability(name) if key == "availability" else name
            if key == "submitter":
                near = sorted({part for one in known for part in _list_parts(one)})
            if name == ANY or name in near or (key == "accelerator" and any(name in one for one in known)):
                continue
            alike = [one for one in near if one.lower() == name.lower()]
            close = alike or difflib.get_close_matches(name, near, n=1, cutoff=0.4)
            yield f"no {key} {name!r} in data/" + (f", did you mean {close[0]!r}?" if close else "")


def _rank_by_nearness(results: pd.DataFrame, selection: Selection, *, most: int = 5) -> pd.DataFrame:
    """Return the results that miss the fewest conditions, nearest in size first."""
    conditions = list(_find_conditions(results, selection).values())
    if selection.submitter:
        kept = _keep_submitters(results, _list(selection.submitter)).index
        conditions.append(pd.Series(results.index.isin(kept), index=results.index))
    met = sum(condition.astype(int) for condition in conditions)
    low, high = parse_size(selection.accelerators) if selection.accelerators is not None else (0, math.inf)
    size = high if math.isfinite(high) else low
    apart = (results["accelerators_total"] - size).abs()
    order = pd.DataFrame({"met": -met, "apart": apart}).sort_values(["met", "apart"], kind="stable").index
    return results.loc[order].head(most)


def _list(names: Names | None) -> list[str]:
    return [] if names is None else names if isinstance(names, list) else [names]


def _normalise(column: str, value: Any) -> Any:  # noqa: ANN401 - a cell
    return normalise_availability(value) if column == "availability" else value


def _text(value: Any) -> str:  # noqa: ANN401 - a cell
    return value if isinstance(value, str) else f"{value:,}"


def _describe(results: pd.DataFrame) -> str:
    columns = ("round", "benchmark", "division", "submitter", "accelerator", "accelerators_total", "system")
    return "\n".join("  " + ", ".join(str(row[column]) for column in columns) for _, row in results.iterrows())
