"""Find everything that is wrong with an article, each with its place in the file."""

import math
import re
import types
import typing
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from mlperf_claims.claims.formulas import Formula, FormulaError
from mlperf_claims.claims.schema import FORMULA_MEASURES, KINDS, Head, Kind, suggest
from mlperf_claims.claims.stated import TIMES, Stated, StatedError, find_hidden, parse_stated, read_stated
from mlperf_claims.results.select import ANY, COMPARED, SelectionError, parse_size

Place = tuple[str | int, ...]  # where in the file: ("claims", 3, "subject", "round")
FOLDED = ("title", "publisher", "says", "because", "formula")  # may be written over several lines
DEEPEST_CLAIMS = 40  # that rest on one another
PLAIN_TEXT = "expected no control, surrogate or bidi character"
A_RATIO = "expected a ratio: 2.1x, 45% faster, half the time, 30% less"


def find_problems(given: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield every problem of an article, with its place in the file."""
    seen = set()  # what has the wrong shape is not read any further
    for place, text in _check_struct(Head, given, (), "the article"):
        seen.add(place)
        yield place, text
    assumptions = given.get("assumptions") if isinstance(given.get("assumptions"), dict) else {}
    listed = given.get("claims") if isinstance(given.get("claims"), list) else []
    claims = [(number, claim) for number, claim in enumerate(listed) if isinstance(claim, dict)]
    ids = Counter(claim["id"] for _, claim in claims if isinstance(claim.get("id"), str))
    for number, claim in claims:
        id_, place, where = claim.get("id"), ("claims", number), _call(claim, number)
        if isinstance(id_, str) and ids[id_] > 1:
            yield (*place, "id"), f"{where} is there {ids[id_]} times, expected once"
        if isinstance(id_, str) and (name := id_.replace("-", "_")) in assumptions:
            yield (*place, "id"), f"{where} is assumption {name} too, expected two names"
        yield from _check_round(claim.get("round"), (*place, "round"), where)
        yield from ((at, f"{where}: {text}") for at, text in _check_words(claim, place) if at not in seen)
        yield from _check_variants(claim, place, where)
    yield from _check_round(given.get("round"), ("round",), "the article")
    characters = _check_characters(given, (), "the article")
    hidden = [(at, text) for at, text in characters if at not in seen and at[:-1] not in seen - {()}]
    yield from hidden
    seen.update(at for at, _ in hidden)
    yield from ((at, text) for at, text in _check_formulas(claims, assumptions) if at not in seen)


def _call(claim: object, number: int) -> str:
    """Return how a problem calls a claim: by its id, or by its place in the list."""
    id_ = claim.get("id") if isinstance(claim, dict) else None
    return f"claim {_show(id_)}" if isinstance(id_, str) else f"claim {number + 1}"


def _check_characters(given: object, place: Place, where: str, *, key: str = "") -> Iterator[tuple[Place, str]]:
    """Check that every text, and every name, can be shown as it is."""
    if isinstance(given, dict):
        for name, value in given.items():
            inner = f"{where}: {_show_name(name)}" if len(place) != 1 else _show_name(name)
            if isinstance(name, str) and (found := find_hidden(name)):
                yield (*place, name), f"{where}: key {_show(name)} holds {found!a}, {PLAIN_TEXT}"
            elif isinstance(name, str) and name.isspace():
                yield (*place, name), f"{where}: key {_show(name)}, expected more than spaces"
            yield from _check_characters(value, (*place, str(name)), inner, key=str(name))
    elif isinstance(given, list | tuple | set | frozenset):
        for number, value in enumerate(given):
            inner = _call(value, number) if place == ("claims",) else where
            yield from _check_characters(value, (*place, number), inner, key=key)
    elif isinstance(given, str) and key != "stated":  # which is checked as a whole
        if found := find_hidden(given, allowed="\n\t" if key in FOLDED else ""):
            yield place, f"{where} is {_show(given)} and holds {found!a}, {PLAIN_TEXT}"
        elif given and not given.strip():
            yield place, f"{where} is {_show(given)}, expected more than spaces"


def _check_words(claim: Mapping[str, Any], place: Place) -> Iterator[tuple[Place, str]]:
    """Check what is printed, and whether its unit is one of the measure's."""
    text, kind = claim.get("stated"), claim.get("kind")
    if not isinstance(text, str) or not text:
        return
    try:
        stated = read_stated(text, judged=kind != "unverifiable")
    except StatedError as error:
        yield (*place, "stated"), str(error)
        return
    if problem := _find_mismatch(claim, stated):
        yield (*place, "stated"), f"stated is {text!r}, {problem}"
    if kind == "value" and claim.get("per") in ("accelerator", "node") and _is_timed(claim):
        yield (*place, "per"), f"per is {claim['per']!r}, expected none: a time is not shared out"


def _is_timed(claim: Mapping[str, Any]) -> bool:
    return claim.get("measure", "time_to_train") == "time_to_train"


def _find_mismatch(claim: Mapping[str, Any], stated: Stated) -> str:
    """Say why what is printed cannot be what a claim of its kind comes to; empty if it can."""
    kind, has_figure, unit = claim.get("kind"), not math.isnan(stated.value), stated.unit
    is_time, is_place = unit.lower() in TIMES, unit == "place"
    if kind in ("value", "ratio", "efficiency", "count", "derived") and not has_figure:
        return "expected a figure, or a word that stands for one"
    match kind:
        case "value" if _is_timed(claim) and not is_time:
            return f"its unit is {unit!r}, expected a time: s, min, h"
        case "value" if not _is_timed(claim) and (is_time or is_place or stated.is_ratio):
            return f"its unit is {unit!r}, expected a number of {claim['measure']}"
        case "ratio" if not stated.is_ratio:
            return f"its unit is {unit!r}, {A_RATIO}"
        case "count" if claim.get("baseline") is not None and not stated.is_ratio:
            return f"its unit is {unit!r}, {A_RATIO}"
        case "count" if claim.get("baseline") is None and (is_time or is_place or stated.is_ratio):
            return f"its unit is {unit!r}, expected a number, or a baseline to compare it with"
        case "efficiency" if stated.ratio_form not in ("gain", "part in %"):
            return f"its unit is {unit!r}, expected %"
        case "rank" if claim.get("each") is not None and stated.total is None and stated.relation != "all":
            return "expected how many: 5 of 5, all seven, every one"
        case "rank" if claim.get("each") is None and (not has_figure or stated.total is not None or stated.is_ratio):
            return "expected a place (first, fastest, largest) or the figure of who holds it"
        case "rank" if claim.get("each") is None and _is_timed(claim) and not (is_time or is_place):
            return f"its unit is {unit!r}, expected a place (first, fastest) or a time: s, min, h"
        case "rank" if claim.get("each") is None and not _is_timed(claim) and is_time:
            return f"its unit is {unit!r}, expected a place (first, largest) or a number of {claim['measure']}"
        case "only" if not has_figure or is_time or is_place or stated.is_ratio:
            return "expected only, or a figure of the subject's size"
        case "first" if not is_place or stated.value != 1:
            return "expected first"
    return ""


def _check_variants(claim: Mapping[str, Any], place: Place, where: str) -> Iterator[tuple[Place, str]]:
    """Check selections and differences, and the other readings of a claim: each is a claim of the same kind."""
    named = claim.get("named")
    for name in named if isinstance(named, list) else []:
        if name not in COMPARED.values():
            yield (*place, "named"), f"{where}: named has {_show(name)}{suggest(str(name), COMPARED.values())}"
    for role in ("subject", "baseline", "field"):
        yield from _check_selection(claim.get(role), (*place, role), f"{where}: {role}")
    also = claim.get("also") if isinstance(claim.get("also"), dict) else {}
    for name, keys in also.items():
        if not isinstance(keys, dict) or not keys:
            at = (*place, "also", str(name))
            yield at, f"{where}: also {_show_name(name)} is {_show(keys)}, expected the keys of this claim that differ"
            continue
        if fixed := keys.keys() & {"id", "kind", "stated", "also", "says", "headline"}:
            yield (
                (*place, "also", str(name)),
                f"{where}: also {_show_name(name)}: {sorted(fixed)[0]} is the claim's own, expected other keys",
            )
            continue
        merged = {key: value for key, value in claim.items() if key != "also"} | keys
        for inner, text in (
            _check_struct(_kind_of(merged), merged, (), f"{where}: also {_show_name(name)}") if _kind_of(merged) else ()
        ):
            if inner and inner[0] in keys:
                yield (*place, "also", str(name), *inner), text
        said = {text for _, text in _check_words(claim, ())}
        words = [(at, text) for at, text in _check_words(merged, ()) if text not in said]
        yield from (((*place, "also", str(name)), f"{where}: also {_show_name(name)}: {text}") for _, text in words)
        for role in ("subject", "baseline", "field"):
            at = (*place, "also", str(name), role)
            yield from _check_selection(keys.get(role), at, f"{where}: also {_show_name(name)}: {role}")


def _check_selection(given: object, place: Place, where: str) -> Iterator[tuple[Place, str]]:
    if not isinstance(given, dict):
        return
    yield from _check_round(given.get("round"), (*place, "round"), where)
    if isinstance(given.get("benchmark"), list) and ANY in given["benchmark"]:
        yield (*place, "benchmark"), f"{where}: benchmark is {_show(given['benchmark'])}, expected any alone, or names"
    if isinstance(given.get("accelerators"), str):
        try:
            parse_size(given["accelerators"])
        except SelectionError as error:
            yield (*place, "accelerators"), f"{where}: {error}"
    yield from _check_selection(given.get("except"), (*place, "except"), f"{where}: except")


def _check_round(given: object, place: Place, where: str) -> Iterator[tuple[Place, str]]:
    for name in given if isinstance(given, list) else [given]:
        lifted = name == ANY and not isinstance(given, list)
        if isinstance(name, str) and not lifted and not re.fullmatch(r"v\d{1,3}\.\d{1,3}", name, re.ASCII):
            yield place, f"{where}: round is {_show(name)}, expected one such as v5.0"


def _check_formulas(
    claims: Sequence[tuple[int, Mapping[str, Any]]], assumptions: Mapping[str, Any]
) -> Iterator[tuple[Place, str]]:
    """Check that formulas can be read, know their names, and do not rest on themselves."""
    known = {claim["id"].replace("-", "_"): claim for _, claim in claims if isinstance(claim.get("id"), str)}
    rests: dict[str, set[str]] = {}
    places = {}
    for number, claim in claims:
        if claim.get("kind") != "derived":
            continue
        place, where = ("claims", number), _call(claim, number)
        also = claim.get("also") if isinstance(claim.get("also"), dict) else {}
        given = [((*place, "formula"), claim.get("formula"), claim)]
        given += [
            ((*place, "also", str(n), "formula"), k["formula"], {**claim, **k})
            for n, k in also.items()
            if isinstance(k, dict) and "formula" in k
        ]
        for at, text, whole in given:
            if not isinstance(text, str) or not text.strip():
                continue
            try:
                names = Formula(text).names
            except FormulaError as error:
                yield at, f"{where}: {error}"
                continue
            for name in names:
                yield from ((at, f"{where}: {problem}") for problem in _check_name(name, whole, assumptions, known))
            if isinstance(claim.get("id"), str):
                places.setdefault(claim["id"], (*place, "formula"))
                rests.setdefault(claim["id"], set()).update(known[name]["id"] for name in names if name in known)
    for id_, problem in _walk(rests):
        yield places[id_], f"claim {_show(id_)} {problem}"


def _check_name(
    name: str, claim: Mapping[str, Any], assumptions: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    role, _, part = name.partition(".")
    if role in ("subject", "baseline") and part and not (part == "stated" and role in known):
        if not isinstance(claim.get(role), dict):
            yield f"formula has {name!r}, and the claim has no {role}"
        if part not in FORMULA_MEASURES:
            yield f"formula has {_show(name)}{suggest(part, FORMULA_MEASURES)}"
        elif part == "accelerators_at_subject_time" and (role != "baseline" or "subject" not in claim):
            yield f"formula has {name!r}, expected baseline.{part} in a claim with a subject"
    elif name in known and known[name].get("kind") == "unverifiable":
        yield f"formula has {name!r}, which no log gives, expected {name}.stated: its printed figure"
    elif part == "stated" and role in known:
        if not _has_figure(known[role].get("stated")):
            yield f"formula has {name!r}, and what claim {known[role]['id']!r} states is no figure"
    elif not (name in assumptions or name in known):
        yield f"formula has {_show(name)}{suggest(name, [*assumptions, *known])}"


def _has_figure(text: object) -> bool:
    try:
        return not isinstance(text, str) or not math.isnan(parse_stated(text).value)
    except StatedError:  # where it is wanted, it has a problem of its own
        return False


def _walk(rests: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yield each claim that rests on itself, with the way, and each that rests on too many in a row."""
    depths: dict[str, int] = {}
    for start in rests:
        way = {start: iter(sorted(rests[start]))} if start not in depths else {}
        while way:
            at = next(reversed(way))
            other = next(way[at], None)
            if other is None:
                del way[at]
                depths[at] = max((depths.get(one, 0) + 1 for one in rests.get(at, ())), default=0)
                if depths[at] == DEEPEST_CLAIMS + 1:
                    yield at, f"rests on {DEEPEST_CLAIMS + 1} claims in a row, expected at most {DEEPEST_CLAIMS}"
            elif other in way:
                chain = list(way)
                chain = [*chain[chain.index(other) :], other]
                yield other, f"rests on itself: {' → '.join(chain[:10])}{' → …' if len(chain) > 10 else ''}"
            elif other not in depths:
                way[other] = iter(sorted(rests.get(other, ())))


def _check_struct(kind: type[msgspec.Struct], given: object, place: Place, where: str) -> Iterator[tuple[Place, str]]:
    """Check a mapping against a struct, key by key, since msgspec itself stops at the first problem."""
    if not isinstance(given, dict):
        yield place, f"{where} is {_show(given)}, expected keys {', '.join(list_keys(kind))}"
        return
    fields = {one.encode_name: one for one in msgspec.structs.fields(kind)}
    tag = kind.__struct_config__.tag_field
    for key in given:
        if key not in fields and key != tag:
            yield (*place, str(key)), f"{where}: unknown key {_show(key)}{suggest(str(key), fields)}"
    for key, one in fields.items():
        if key in given:
            yield from _check_value(one.type, given[key], (*place, key), f"{where}: {key}")
        elif one.required:
            yield place, f"{where}: no {key}, expected {describe_type(one.type)}"


def _check_value(wanted: Any, given: object, place: Place, where: str) -> Iterator[tuple[Place, str]]:  # noqa: ANN401
    inner = _find_struct(wanted)
    if inner and not (given is None and _allows_none(wanted)):
        yield from _check_struct(inner, given, place, where.replace(": assumptions: ", ": assumption "))
        return
    plain = _strip(wanted)
    if typing.get_origin(plain) is dict and isinstance(given, dict) and _find_struct(typing.get_args(plain)[1]):
        for name, value in given.items():
            if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name, re.ASCII):
                yield (*place, str(name)), f"{where} has {_show(name)}, expected a name of small letters, digits and _"
            inner = f"{where}: {_show_name(name)}"
            yield from _check_value(typing.get_args(plain)[1], value, (*place, str(name)), inner)
        return
    if place == ("claims",) and isinstance(given, list) and given:
        for number, claim in enumerate(given):
            yield from _check_claim(claim, number)
        return
    try:
        msgspec.convert(given, wanted)
    except msgspec.ValidationError:
        quotes = " (put it in quotes)" if isinstance(given, int | float) and str in _list_options(wanted) else ""
        yield place, f"{where} is {_show(given)}, expected {describe_type(wanted)}{quotes}"


def _check_claim(claim: object, number: int) -> Iterator[tuple[Place, str]]:
    place: Place = ("claims", number)
    where = _call(claim, number)
    if not isinstance(claim, dict):
        yield place, f"{where} is {_show(claim)}, expected keys id, says, kind, stated and those of the kind"
    elif "kind" not in claim:
        yield place, f"{where}: no kind, expected one of {', '.join(KINDS)}"
    elif kind := _kind_of(claim):
        yield from _check_struct(kind, claim, place, where)
    else:
        yield (*place, "kind"), f"{where}: unknown kind {_show(claim['kind'])}{suggest(str(claim['kind']), KINDS)}"


def _kind_of(claim: Mapping[str, Any]) -> type[Kind] | None:
    return KINDS.get(claim["kind"]) if isinstance(claim.get("kind"), str) else None


def _strip(wanted: Any) -> Any:  # noqa: ANN401 - a type
    return typing.get_args(wanted)[0] if typing.get_origin(wanted) is Annotated else wanted


def _find_struct(wanted: Any) -> type[msgspec.Struct] | None:  # noqa: ANN401 - a type
    found = [one for one in _list_options(wanted) if isinstance(one, type) and issubclass(one, msgspec.Struct)]
    return found[0] if len(found) == 1 else None


def _list_options(wanted: Any) -> list[Any]:  # noqa: ANN401 - a type
    """Return the types that a union is of, or the one type."""
    plain = _strip(wanted)
    is_union = typing.get_origin(plain) in (types.UnionType, typing.Union)
    return [option for one in typing.get_args(plain) for option in _list_options(one)] if is_union else [plain]


def _allows_none(wanted: Any) -> bool:  # noqa: ANN401 - a type
    return type(None) in typing.get_args(_strip(wanted))


def describe_type(wanted: Any) -> str:  # noqa: ANN401 - a type
    """Say what a key wants: its choices, or its description."""
    plain = _strip(wanted)
    literals = [one for one in _list_options(wanted) if typing.get_origin(one) is Literal]
    choices = [str(value) for one in literals for value in typing.get_args(one)]
    if choices:
        return f"one of {', '.join(choices)}"
    if typing.get_origin(wanted) is Annotated:
        for note in reversed(wanted.__metadata__):  # the nearest says most
            if getattr(note, "description", None):
                kind = "true or false: " if plain is bool else ""
                return kind + note.description
    for one in typing.get_args(plain):  # of what may be left out, too
        for note in getattr(one, "__metadata__", ()):
            if getattr(note, "description", None):
                return note.description
    return {str: "text", bool: "true or false"}.get(plain, "a list of claims")


def list_keys(kind: type[msgspec.Struct]) -> list[str]:
    return [one.encode_name for one in msgspec.structs.fields(kind)]


def _show_name(name: object) -> str:
    """Return a key as it is written, where it can be shown so."""
    return name if isinstance(name, str) and len(name) <= 60 and not find_hidden(name) else _show(name)


def _show(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
