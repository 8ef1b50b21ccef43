"""Trouble in the log of the process: one line for each, with what, where, why and what to do about it.

No line holds a key, a body, a client's or a person's id: the words are ours, and causes are those of errors.
"""

from __future__ import annotations

import logging

LONGEST = 300  # characters of a cause


def warn_operator(
    logger: logging.Logger, what: str, *, where: str, why: BaseException | str, do: str = ""
) -> None:
    """Say what is wrong, once: whoever calls it decides what is new.

    >>> import sys
    >>> logger = logging.Logger("example")
    >>> logger.addHandler(logging.StreamHandler(sys.stdout))
    >>> warn_operator(logger, "cannot write", where="the log", why=OSError("disk full"), do="make room")
    cannot write; where: the log; why: OSError: disk full; do: make room
    """
    cause = why if isinstance(why, str) else f"{type(why).__name__}: {why}"
    data = {"what": what, "where": where, "why": cause[:LONGEST], **({"do": do} if do else {})}
    words = "; ".join(f"{name}: {text}" for name, text in data.items() if name != "what")
    logger.warning("%s; %s", what, words, extra={"data": data})
