r"""Text in LaTeX: names, captions, notes and figures, as they stand in a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping

HEAD = "% Written by rankloop. Needs the packages booktabs (tables), graphicx (PDF) or svg (SVG).\n"
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "±": r"$\pm$",
    "²": r"\textsuperscript{2}",
    "–": "--",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "△": r"$\ast$",
    "▲": r"$\ast\ast$",
    "▽": r"$\dagger$",
    "▼": r"$\ddagger$",
}
SHOWN = {
    "pdf": r"\includegraphics{figures/%s.pdf}",
    "svg": r"\includesvg{figures/%s}",
}  # how LaTeX shows a file


def escape(text: str) -> str:
    r"""Escape text so that LaTeX prints it as it is; marks of tests become daggers and stars.

    >>> print(escape("95 % of pairrank:step_size=0.1 & more"))
    95 \% of pairrank:step\_size=0.1 \& more
    """
    return "".join(SPECIAL.get(letter, letter) for letter in " ".join(text.split()))


def format_number(text: str) -> str:
    r"""Escape text with numbers, of which negative ones have a minus and no hyphen.

    >>> print(format_number("-8.3 ± 0.5 %"))
    $-$8.3 $\pm$ 0.5 \%
    """
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", escape(text))


def format_code(name: str) -> str:
    r"""Format a name in type of one width, whose lines may break between settings.

    >>> print(format_code("MGD(step_size=0.1)"))
    \texttt{MGD(\allowbreak{}step\_size=0.1)}
    """
    broken = re.sub(r"([:,(])", r"\1\\allowbreak{}", escape(name))
    return rf"\texttt{{{broken}}}"


def format_key(abbreviations: Mapping[str, str]) -> str:
    """Say what short names stand for, as a sentence of a note; nothing if there are none."""
    pairs = [f"{escape(brief)}: {format_code(name)}" for brief, name in abbreviations.items()]
    return f"Key: {'; '.join(pairs)}." if pairs else ""


def format_note(note: str) -> list[str]:
    r"""Format a note below a table or a caption: small and ragged, because code tears justified lines.

    >>> print(*format_note("Key: a: b."))
    \par\smallskip{\footnotesize\raggedright Key: a: b.\par}
    """
    return [rf"\par\smallskip{{\footnotesize\raggedright {note}\par}}"] if note else []


def format_figure(name: str, kind: str, *, caption: str, note: str, wide: bool) -> str:
    """Format the environment that shows a file of `figures/` with its caption, and a note below it."""
    star = "*" if wide else ""
    return "\n".join(
        [
            rf"\begin{{figure{star}}}[t]",
            r"\centering",
            SHOWN[kind] % name,
            rf"\caption{{{caption}}}",
            rf"\label{{fig:{name}}}",
            *format_note(note),
            rf"\end{{figure{star}}}",
            "",
        ]
    )


def make_slug(text: str) -> str:
    """Make a name for labels and files.

    >>> make_slug("offline nDCG@10")
    'offline-ndcg-10'
    """
    return "-".join(re.findall("[a-z0-9]+", text.casefold()))[:60] or "chart"
