"""Tables and figures on explainable recommendation.

Jia: Toward reliable decision-making in information systems. Dissertation, University of Virginia 2022,
chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from rankloop.lab.data.review_data import load_reviews
from rankloop.lab.suites.paper_items import PaperTable
from rankloop.lab.suites.recommendation_tables import (
    explanations,
    figure_4_3,
    figure_4_5,
    figure_4_6,
    figure_4_7,
    figure_4_8,
    figure_4_9,
    figure_4_10,
    table_4_1,
    table_4_2,
    table_4_3,
    table_4_5,
)

SHOP = "synthetic:shop"
FITTED = (table_4_2, table_4_3, figure_4_3, figure_4_5, figure_4_6, figure_4_7, figure_4_8, figure_4_9)


def table(title: str, paper: str, make: Callable[..., Mapping[str, pl.DataFrame]], *notes: str) -> PaperTable:
    """A table that is computed from reviews; models that it only fits and measures, any engine fits."""
    fits = make in FITTED
    return PaperTable(
        title=title, paper=paper, make=make, notes=notes, data=SHOP, load=load_reviews, fits=fits
    )


PROTOCOLS = (
    "A@k: nDCG over all items but known ones, for every user with a test review. C2@k: that of released "
    "code, only users with a hit in the top 100, ideal = that list sorted; never choose by it."
)

TABLES: Mapping[str, PaperTable] = {
    "recommend/table4.1": table(
        "What are the reviews?",
        "Amazon: 6,285 users, 12,626 items, 95 features, 591 opinions, 55,388 reviews; Yelp: 10,719, 10,410, "
        "104, 1,019, 285,346.",
        table_4_1,
    ),
    "recommend/table4.2": table(
        "Which recommender finds what users review later?",
        "On Amazon NDCG@50 is .1601 for NMF, .1976 FMF, .1992 JMARS, .2056 EFM, .2070 BPRMF, .2234 MTER and "
        ".2367 FacT.",
        table_4_2,
        PROTOCOLS,
    ),
    "recommend/table4.3": table(
        "What do factors from parent nodes bring?",
        "With factors from parent nodes FacT recommends significantly better than without.",
        table_4_3,
        PROTOCOLS,
    ),
    "recommend/table4.5": table(
        "Whose interview finds better items, FMF's or FacT's?",
        "Of more than 100 people on each data set, 63 prefer FacT's recommendations and 44 FMF's (Amazon), "
        "64 and 40 (Yelp).",
        table_4_5,
        "People are simulated: both trees are answered by a newcomer's first five reviews, the lists are "
        "interleaved, and later reviews are the clicks.",
    ),
    "recommend/fig4.3": table(
        "How much should ranked pairs count in MTER?",
        "NDCG@50 rises with the weight of pairs, and falls when it is too large.",
        figure_4_3,
        PROTOCOLS,
    ),
    "recommend/fig4.5": table(
        "How many latent dimensions are best?",
        "FacT is ahead at every size; all rise at first and fall with very many dimensions.",
        figure_4_5,
        PROTOCOLS,
    ),
    "recommend/fig4.6": table(
        "How many features are needed?",
        "All models improve with more features, and level off.",
        figure_4_6,
        PROTOCOLS,
    ),
    "recommend/fig4.7": table(
        "How deep should the users' tree be?",
        "FMF and FacT improve with depth; FacT passes MTER.",
        figure_4_7,
        PROTOCOLS,
    ),
    "recommend/fig4.8": table(
        "How deep should both trees be?",
        "Deeper is better for both, and the users' tree matters more.",
        figure_4_8,
        PROTOCOLS,
    ),
    "recommend/fig4.9": table(
        "How much training data is needed?",
        "All improve with more data, and FacT is ahead at every size.",
        figure_4_9,
        PROTOCOLS,
    ),
    "recommend/fig4.10": table(
        "What do a few observations bring for newcomers?",
        "FMF and FacT improve with 0 to 5 observations, FacT faster.",
        figure_4_10,
        "A@50 on reviews after a newcomer's fifth; questions are answered by the first five.",
    ),
    "recommend/explanations": table(
        "Do explanations say what people write, and do scores hang on them?",
        "No table: the thesis asks people.",
        explanations,
        "ndcg, precision, recall and f1 of the first 10 features against a held-out review; matching: the "
        "first one; coverage: features ever named; overlap: shared by two explanations. PN: the item leaves "
        "the top 10 without the reason; PS: it stays with nothing else.",
    ),
}
