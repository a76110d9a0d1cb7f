"""Feed the log parser mangled logs, and count what comes of them.

    python bench/fuzz.py COUNT [SEED]

Each input is a small valid log changed at random: bytes flipped, cut, doubled, lines swapped or
merged, numbers and keys replaced. A log must come out as a record or as a LogError, and as the same
one whether all evaluations are kept or not; anything else stops the run and prints the input.
"""

import dataclasses
import json
import random
import sys
import time
from collections import Counter

from mlperf_claims.read.training_log import MARKER, Log, LogError, parse_log


def record(time_ms: int, key: str, value: object = None, **metadata: object) -> bytes:
    fields = {"namespace": "", "time_ms": time_ms, "event_type": "POINT_IN_TIME", "key": key, "value": value}
    return MARKER + b" " + json.dumps(fields | {"metadata": metadata}).encode()


RECORDS = [
    record(1000, "init_start"),
    b"0: " + record(1500, "global_batch_size", 16),
    record(2000, "run_start"),
    b"some other line \xff\xfe with bytes that are not UTF-8",
    record(3000, "eval_accuracy", 0.5, samples_count=64),
    record(4000, "run_stop", status="success"),
]
PIECES = [
    b":::MLLOG",
    b"{",
    b"}",
    b"[" * 2000,
    b"\x00",
    b"\r",
    b"\n",
    b'"',
    b"\\u0000",
    b"\\ud800",
    b"NaN",
    b"Infinity",
    b"1e999",
]
PIECES += [
    b"9" * 400,
    b"run_start",
    b"run_stop",
    b"null",
    b"true",
    b"\x1b[0m",
    b"\xef\xbb\xbf",
    b'"metric": "FID", ',
    b"-",
    b"aborted",
]


def main() -> None:
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    chance, outcomes, start = random.Random(seed), Counter(), time.perf_counter()
    for _ in range(count):
        text = mangle(b"\n".join(RECORDS) + b"\n", chance)
        try:
            every, few = (read(text, all_evaluations=wanted) for wanted in (True, False))
        except BaseException:
            print(f"neither a record nor a LogError for {text!r}")
            raise
        if every != few:
            sys.exit(f"{every} with all evaluations, {few} with those that decide, for {text!r}")
        outcomes["log errors" if isinstance(every, str) else "records"] += 1
    took = time.perf_counter() - start
    print(f"{count:,} inputs with seed {seed}: " + ", ".join(f"{n:,} {what}" for what, n in sorted(outcomes.items())))
    print(f"{took:.0f} s")


def read(text: bytes, *, all_evaluations: bool) -> Log | str:
    """Return the facts but for the evaluations, or what is wrong."""
    try:
        return dataclasses.replace(parse_log(text, all_evaluations=all_evaluations), evaluations=())
    except LogError as error:
        return str(error)


def mangle(text: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        at, to = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        match chance.randrange(6):
            case 0:
                text = text[:at] + text[to:]
            case 1:
                text = text[:at] + chance.choice(PIECES) + text[at:]
            case 2:
                text = text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]
            case 3:
                lines = text.split(b"\n")
                chance.shuffle(lines)
                text = b"\n".join(lines)
            case 4:
                text = text[:to] + text[at:to] + text[to:]
            case 5:
                text = text.replace(b"\n", b"", 1)
    return text


if __name__ == "__main__":
    main()
