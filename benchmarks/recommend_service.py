"""Milliseconds of a recommendation over HTTP, with its reasons, and of what it is made of.

`python -m benchmarks.recommend_service --data phones` fits on published reviews; the default needs no data.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.serving import Server
from rankloop.client import Client
from rankloop.lab.data.review_data import load_reviews
from rankloop.lab.recommenders import read_recommender
from rankloop.recommend import Catalogue, save_recommender
from rankloop.service.extensions.recommend.reasons import item_reasons
from rankloop.service.extensions.recommend.recommend_request import RecommendRequest
from rankloop.service.extensions.recommend.recommender_candidates import served


def times(job: Callable[[int], object], repeats: int) -> str:
    """Median and 95th percentile, in milliseconds."""
    found = []
    for number in range(repeats + 5):
        start = perf_counter()
        job(number)
        found.append(1e3 * (perf_counter() - start))
    middle, late = np.quantile(found[5:], [0.5, 0.95])
    return f"{middle:7.1f} {late:7.1f}"


def measure(name: str, data: str, folder: Path, *, repeats: int) -> None:
    """One recommender: its parts in this process, and the whole over HTTP."""
    reviews = load_reviews(data).train
    path = folder / "shop.npz"
    save_recommender(
        path, read_recommender(name).fit(reviews, np.random.default_rng(0)), Catalogue.of(reviews)
    )
    found = served(path)
    rows = np.random.default_rng(1).integers(reviews.n_users, size=repeats + 5)
    users = [reviews.users[row] for row in rows]
    print(f"{name} on {data}: {reviews.n_items:,} items; median and 95th percentile in ms")
    people = [profile for user in users if (profile := found.find_profile(user, (), {}))]
    request = RecommendRequest()
    lists = [found.candidates(request, each).object_ids[:10] for each in people]
    print("  candidates with features ", times(lambda n: found.candidates(request, people[n]), repeats))
    print("  reasons of ten results   ", times(lambda n: item_reasons(found, people[n], lists[n]), repeats))
    with (
        Server(folder / "data", "--recommender", f"shop={path}") as server,
        Client(server.url, server.keys["rank"], timeout=30) as client,
    ):
        asked = times(lambda n: client.recommend(ranker="shop", user=users[n]), repeats)
        print("  a request over HTTP      ", asked)


def main() -> None:
    """Measure the recommenders that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="shop(users=6000, items=3000)")
    parser.add_argument("--models", default="FacT EvidenceALS")
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args()
    for name in options.models.split():
        with tempfile.TemporaryDirectory() as folder:
            measure(name, options.data, Path(folder), repeats=options.repeats)


if __name__ == "__main__":
    main()
