"""Read a printed figure, such as "over 3x" or "just under 4 minutes", into the values that it stands for."""

import difflib
import math
import re
import unicodedata
from dataclasses import dataclass, replace

ABOUT = 0.05  # "around" is read as within 5 % of the figure, or within its printed digits where these are wider

RELATIONS = {  # words in front of a printed figure, and how they bind it
    **dict.fromkeys(("exactly", "just", "only", "up to", "as little as", "as few as"), "exactly"),
    **dict.fromkeys(("over", "more than", "well over", "greater than", "above", "beyond", ">"), "over"),
    **dict.fromkeys(("at least", "no less than", "no fewer than", "≥", ">="), "at least"),
    **dict.fromkeys(("under", "less than", "well under", "fewer than", "below", "within", "<"), "under"),
    **dict.fromkeys(("at most", "no more than", "≤", "<="), "at most"),
    **dict.fromkeys(("around", "about", "roughly", "approximately", "some", "~", "≈", "circa"), "around"),
    **dict.fromkeys(("nearly", "almost", "just under", "close to", "just below", "slightly under"), "nearly"),
    **dict.fromkeys(("slightly less than", "just short of"), "nearly"),
    **dict.fromkeys(("just over", "just above", "slightly over", "slightly more than"), "just over"),
}
MEANINGS = {  # how each relation binds a figure
    "exactly": "the printed digits: half a unit of the last one to either side, the upper edge left out",
    "over": "any larger value",
    "at least": "the figure or any larger value",
    "under": "any smaller value",
    "at most": "the figure or any smaller value",
    "around": f"within {100 * ABOUT:g} % of the figure, or within its printed digits where these are wider",
    "nearly": "the same, below the figure only",
    "just over": "the same, above the figure only",
}
NUMBERS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
PLACES = ("first", "second", "third", "fourth", "fifth")
_TIMES_WORDS = {
    **dict.fromkeys(("doubled", "double", "twice", "twofold"), 2.0),
    **dict.fromkeys(("tripled", "triple", "thrice", "threefold"), 3.0),
    **dict.fromkeys(("quadrupled", "quadruple", "fourfold"), 4.0),
}
_PARTS_WORDS = {
    **dict.fromkeys(("half", "a half", "one half"), 0.5),
    **dict.fromkeys(("a third", "one third"), 1 / 3),
    **dict.fromkeys(("a quarter", "one quarter"), 0.25),
    "two thirds": 2 / 3,
    "three quarters": 0.75,
}
WORDS = {  # figures printed as words: how they bind, the value, the unit
    **{word: ("exactly", value, "x") for word, value in (_TIMES_WORDS | _PARTS_WORDS).items()},
    "several": ("at least", 3.0, ""),
    **dict.fromkeys(("larger", "faster", "higher", "more"), ("over", 1.0, "x")),
    **dict.fromkeys(("smaller", "slower", "lower", "fewer"), ("under", 1.0, "x")),
    **{word: ("exactly", float(place), "place") for place, word in enumerate(PLACES, start=1)},
    **dict.fromkeys(("fastest", "largest", "record", "records", "top", "leading"), ("exactly", 1.0, "place")),
    **dict.fromkeys(("only", "only one", "sole", "unique"), ("exactly", 1.0, "")),
    **dict.fromkeys(("all", "every", "every one", "each"), ("all", math.nan, "")),
}
FIGURES = frozenset(_TIMES_WORDS | _PARTS_WORDS)  # words that a relation may bind as it binds digits
TIMES = {  # minutes in a unit of time
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1 / 60),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 1.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 60.0),
    **dict.fromkeys(("d", "day", "days"), 1440.0),
}
# how a ratio is printed: as so many times, as the gain in percent, as a share of the baseline's time, as a part of
# what else it has, as what is saved
_TIMED = r"(?:time|minutes|duration)\b"
_SHARE = re.compile(
    rf"(x|×|times|%) ?(?:(?:of )?(?:the|its|their|that|as much)? ?(?:training )?{_TIMED}.*|as long\b.*|longer\b.*"
    r"|(?:of )?(?:that|as much))"
)
_SAVED = re.compile(r"% ?(?:less|shorter|lower|smaller|fewer|reduction|of the (?:training )?time saved)\b.*")
_PART = re.compile(r"% of\b.*")
_TIMES = re.compile(r"(?:x|×|times)(?:\W.*)?")
_GAIN = re.compile(r"%(?:\W.*)?")
_WORSE = re.compile(r"\b(?:less|shorter|lower|smaller|fewer|slower|worse|reduction)\b")
_FAST = re.compile(r"\b(?:performance|throughput|speed|faster)\b")

# digits, and then no more of them: neither a comma that groups otherwise nor the second half of a range
_FIGURE = re.compile(
    r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.(\d{1,15}))?(?![\d,.]|[eE]\d)(?!\s*[\d–-]\s*\d?)(.*)", re.ASCII
)
_DIGITS = 15  # that a number keeps apart from its neighbours
_OF = re.compile(r"of (\d{1,6})\b(.*)", re.ASCII)
_ALL = re.compile(r"(?:all|every|each)(?: of)?(?: the)? (\d{1,6})\b(.*)", re.ASCII | re.IGNORECASE)
_NAMES = re.compile(r"[A-Za-z]+\d[\w.]*", re.ASCII)  # H100: digits that are no figure
_PLACED = re.compile(r"(?:st|nd|rd|th)(?: place| fastest| largest)?")
# what would make another figure of the one before it: a range, a fraction, a clock, a sum, thousands
_GOES_ON = re.compile(
    rf"(?:to|or|and|plus|through|{'|'.join(NUMBERS)}|half|third|quarter|(?:dozen|hundred|thousand|million|billion|trillion)s?"
    r"|[kKmMB]|bn|mn)\b|[^\w\s%×(]|.*\+"
)
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format (bidi among them), surrogate, line, paragraph
_LONGEST = 200  # characters of a stated text


class StatedError(ValueError):
    """A printed figure that cannot be read, or can be read in more than one way."""


@dataclass(frozen=True)
class Stated:
    """A figure as printed: `1.5x` is the value 1.5 to one decimal, unit x, relation exactly."""

    text: str
    value: float  # nan where the text has no figure ("yes"), or means all of a number that only the data know
    unit: str
    relation: str  # a key of MEANINGS, or all
    decimals: int = 0
    total: int | None = None  # 5 in "4 of 5"
    word: bool = False  # a word holds or does not; printed digits can be too high or too low

    @property
    def interval(self) -> tuple[float, float]:
        """The values that the text stands for: [low, high); one side is infinite for over, under."""
        half = 0.5 * 10.0**-self.decimals
        if self.relation in ("around", "nearly", "just over"):
            half = max(half, abs(self.value) * ABOUT)
        # rounded, since 2.1 - 0.05 is 2.0500000000000003 in binary and the edge belongs to the figure
        low, high = (round(edge, self.decimals + 6) for edge in (self.value - half, self.value + half))
        above = math.nextafter(self.value, math.inf)
        return {
            "exactly": (low, high),
            "over": (above, math.inf),
            "at least": (self.value, math.inf),
            "under": (-math.inf, self.value),
            "at most": (-math.inf, above),
            "around": (low, math.nextafter(high, math.inf)),
            "nearly": (low, self.value),
            "just over": (above, math.nextafter(high, math.inf)),
            "all": (math.nan, math.nan),
        }[self.relation]

    def out_of(self, total: int) -> "Stated":
        """Return what "all" or "5 of 5" stands for where there are `total` of them."""
        return replace(self, value=float(total), relation="exactly") if self.relation == "all" else self

    @property
    def is_ratio(self) -> bool:
        """Tell units in which a ratio can be printed: 2.1x, 45% faster, half the time."""
        return self.ratio_form != ""

    @property
    def ratio_form(self) -> str:
        """How a ratio is printed; empty if it is none, or reads both ways, such as 30% slower.

        Returns: times, gain (in %), share or share in % (of the baseline's time), part in % (of what else it has),
            saved (in %).
        """
        unit = self.unit.lower()
        if _SAVED.fullmatch(unit):
            return "" if _FAST.search(unit) else "saved"
        if share := _SHARE.fullmatch(unit):
            return "share in %" if share[1] == "%" else "share"
        if _WORSE.search(unit):
            return ""
        if _PART.fullmatch(unit):
            return "part in %"
        return "times" if _TIMES.fullmatch(unit) else "gain" if _GAIN.fullmatch(unit) else ""


def find_hidden(text: str, *, allowed: str = "") -> str:
    """Return the first character that a page does not show, or that steers how others are shown; empty if none."""
    if text.isprintable():
        return ""
    return next((one for one in text if one not in allowed and unicodedata.category(one) in _HIDDEN), "")


def parse_stated(text: str) -> Stated:
    """Parse a figure as printed, such as "12.5 min", "over 3x", "around 40 racks", "1,024 chips", "all seven".

    Raises: StatedError for a figure that can be read in more than one way, such as "1,5x" or "10-20 min",
        and for an unknown word in front of one, with the nearest known.
    """
    if not text.strip() or len(text) > _LONGEST or find_hidden(text):
        raise StatedError(f"stated is {text[:60]!r}, expected one line of 1 to {_LONGEST} printable characters")
    plain = " ".join(text.split())
    relation, words = ("exactly", plain) if plain.lower() in WORDS else _split_relation(plain)
    words = re.sub(r"^(every|each) one\b", r"\1", words, flags=re.IGNORECASE)
    if word := _find_word(words):
        return _read_word(text, relation, word, words[len(word) :].strip())
    words = _replace_numbers(words)
    if match := _ALL.fullmatch(words):
        if relation != "exactly" or not _is_unit(match[2]):
            raise StatedError(_explain(text, words))
        return Stated(text, float(match[1]), match[2].strip(), "exactly", total=int(match[1]))
    if word := _find_word(re.sub(r"^(?:the|a|an) ", "", words, flags=re.IGNORECASE)):
        return _read_word(text, relation, word, words[words.lower().index(word) + len(word) :].strip())
    if match := _FIGURE.fullmatch(words):
        return _read_figure(text, relation, *match.groups())
    if any(map(str.isnumeric, words)):
        raise StatedError(_explain(text, words))
    if relation != "exactly":
        raise StatedError(f"stated is {text!r}, expected a figure after the word")
    return Stated(text, math.nan, words, relation, word=True)


def read_stated(text: str, *, judged: bool) -> Stated:
    """Parse a figure as printed; where no log can judge it, any line will do, as words if not as a figure."""
    try:
        return parse_stated(text)
    except StatedError:
        if judged or not text.strip() or len(text) > _LONGEST or find_hidden(text):
            raise
        return Stated(text, math.nan, " ".join(text.split()), "exactly", word=True)


def _find_word(words: str) -> str:
    """Return the longest word that stands for a figure at the beginning of a text; empty if there is none."""
    begins = (word for word in WORDS if re.match(rf"{word}(?!\w|-\w)", words, re.IGNORECASE))
    found = max(begins, key=len, default="")
    return "" if _ALL.fullmatch(_replace_numbers(words)) else found  # all seven


def _read_word(text: str, relation: str, word: str, rest: str) -> Stated:
    means, value, unit = WORDS[word]
    if any(map(str.isnumeric, _NAMES.sub("", _replace_numbers(rest)))):
        raise StatedError(_explain(text, rest))
    if word in FIGURES:
        decimals = 1 if word in _PARTS_WORDS else 0
        return Stated(text, value, f"{unit} {rest}".strip(), relation, decimals)
    if relation != "exactly":
        raise StatedError(f"stated is {text!r}, expected {word!r} alone, or a figure after the word before it")
    return Stated(text, value, unit, means, word=True)


def _read_figure(text: str, relation: str, whole: str, fraction: str | None, unit: str) -> Stated:
    whole, fraction, unit = whole.replace(",", ""), fraction or "", unit.strip()
    value, total = float(f"{whole}.{fraction or '0'}"), None
    if of := _OF.match(unit):
        total, unit = int(of[1]), of[2].strip()
    if not _is_unit(unit) or len(whole + fraction) > _DIGITS or (total is not None and (fraction or value > total)):
        raise StatedError(_explain(text, ""))
    if _PLACED.fullmatch(unit) and not fraction:
        return Stated(text, value, "place", relation, word=True)
    return Stated(text, value, unit, relation, len(fraction), total)


def _is_unit(text: str) -> bool:
    """Tell a unit from what would make another figure of the one before it."""
    return not _GOES_ON.match(text.strip()) and not any(map(str.isnumeric, _NAMES.sub("", text)))


def _split_relation(words: str) -> tuple[str, str]:
    for word in sorted(RELATIONS, key=len, reverse=True):
        apart = r"(?=\s)" if word[-1].isalpha() else ""  # a sign stands right before its figure
        if re.match(re.escape(word) + apart, words, re.IGNORECASE):
            return RELATIONS[word], words[len(word) :].strip()
    return "exactly", words


def _replace_numbers(words: str) -> str:
    """Write the first number in digits where it is spelled, and the one after of: four of five."""
    spelled = {word: str(number) for number, word in enumerate(NUMBERS, start=1)}
    either = "|".join(spelled)
    found = re.match(rf"(\D*?)\b({either})\b", words, re.IGNORECASE)
    words = f"{found[1]}{spelled[found[2].lower()]}{words[found.end() :]}" if found else words
    return re.sub(rf"(?<=\d of )({either})\b", lambda found: spelled[found[1].lower()], words, flags=re.IGNORECASE)


def _explain(text: str, words: str) -> str:
    before = re.match(r"(\D+?)\s*\d", words)
    if before and (word := before[1].strip().lower()) not in RELATIONS:
        known = [*RELATIONS, *WORDS]
        close = difflib.get_close_matches(word, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(RELATIONS)}"
        return f"stated is {text!r}: unknown word {before[1].strip()!r} before the figure, {hint}"
    return f"stated is {text!r}, expected one figure such as 1.5x, 27.3 min or 1,024 GPUs, or words"
