"""Words of the pages about the documents that no item has: how to read them, and what verdicts mean."""

from __future__ import annotations

COUNTED = ("agree", "agree in part", "disagree", "not tested", "definitions", "need data", "need people")
MEANINGS = {
    "agrees": "What the document says is there, in our numbers, tests or code.",
    "partly": "A part of it is there, or all of it in some settings or data only.",
    "no": "We measured it, and found something else.",
    "not tested": "Nobody has tested it here, often because the document leaves constants open.",
    "definition": "A definition, a convention or a drawing: there is nothing to agree with.",
    "needs data": "It needs data that is not freely available.",
    "needs people": "It needs people to take part.",
}
WRITTEN = "<!-- From src/rankloop/lab/suites by `python -m rankloop.lab.suites.paper_pages docs/papers`. -->"
INDEX = f"""# The papers, figure by figure

{WRITTEN}

Five documents describe most of what this library does. These pages list each of their numbered items:
figures, tables, algorithms, theorems, equations. Each item has what the document says, what we found, and
whether the two agree. [Experiments](experiments.md) lists the commands that repeat them.
"""
READING = """## How to read the pages

- **As printed** is a policy with the document's own settings. **Ours** is the same policy with our defaults.
  The experiments have both side by side.
- Most measurements are short: 3 seeds and some hundred or thousand rounds, made in November 2026. They show
  the direction of an effect, and seldom whether a small difference is real. Pages of policies have longer
  ones.
- The documents' own collections are not shipped: MSLR-WEB10K, Yahoo! LTRC and NP2003. A fragment of
  MSLR-WEB30K (1 % of its queries), MQ2008 and 85 % of MQ2007 stand for them. If you have the originals, name
  them with `--data`.
- Three numbers in a row are for perfect, navigational and informational [users](../users.md), in this order.

## Where next

[Experiments](experiments.md) · [Results](../results.md) · [I do research](../researcher.md)
"""
RUNNING = f"""# Experiments of the papers

{WRITTEN}

An experiment is a question with an id. It answers with a sweep of simulated runs, with a computed table, or
with a picture of data. One command runs them all:

```console
$ rankloop lab run pairrank/fig6 --quick --rounds 30 --data linear --out fig6
$ rankloop lab run fig6/spec.json --out again
```

- A sweep that says nothing else runs 5000 rounds with 5 seeds on the world `nonlinear`, and users stop only
  after a click. `--data`, `--rounds` and `--seeds` change that. `--quick` is a small version, mostly 200
  rounds with 2 seeds.
- The terminal and the report show the metrics of the question first. What else was measured is below them.
- Experiments on the same runs share them: with the same `--out`, `pairrank/fig4` takes its runs from
  `pairrank/fig3`.
- Skylines learn from the true labels. They are shown for reference only, and are run once, since they ask no
  user.
- Experiments of a paper have our settings beside the printed ones.
"""
AFTER = """## Where next

[The papers, figure by figure](index.md) · [Compare policies](../experiments.md) · [Results](../results.md)
"""
