"""Judge stated figures by their own digits."""

import math

from mlperf_claims.claims.stated import Stated

CONFIRMED = "confirmed"
UNDERSTATED = "understated"
OVERSTATED = "overstated"
CONTRADICTED = "contradicted"
NOT_CHECKED = "not checked here"
NO_DATA = "no public data"
FAILED = "failed"
VERDICTS = {  # in the order a reader wants them
    CONFIRMED: "the recomputed value falls within the printed digits",
    UNDERSTATED: "it falls outside, to the claimant's disfavour",
    OVERSTATED: "it falls outside, in the claimant's favour",
    CONTRADICTED: "the data say otherwise",
    NOT_CHECKED: "a public source would answer it, which was not read here",
    NO_DATA: "no public source is known that would answer it",
    FAILED: "this report did not get as far as a verdict; the fault is not the claim's",
}
OPEN = (NOT_CHECKED, NO_DATA, FAILED)  # verdicts without a figure


class VerdictError(ValueError):
    """A verdict that cannot be given."""


def judge_value(stated: Stated, value: float, *, flatters: str) -> str:
    """Judge a recomputed value by the digits of the stated figure.

    Args:
        value: recomputed, in the stated figure's unit.
        flatters: "high" if a higher figure is in the claimant's favour, "low" if a lower one is.
    Returns: confirmed, understated or overstated; a word such as "several" is confirmed or contradicted.
    Raises: VerdictError if the stated text has no figure, or the value is no finite number.
    """
    if math.isnan(stated.value) or not math.isfinite(value):
        raise VerdictError(f"{stated.text!r} against {value}, expected a figure in both")
    low, high = stated.interval
    if low <= value < high:
        return CONFIRMED
    if stated.word:
        return CONTRADICTED
    says_too_much = value < low if flatters == "high" else value >= high
    return OVERSTATED if says_too_much else UNDERSTATED
