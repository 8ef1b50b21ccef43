"""What the papers' theory of exploration says about a dataset, with numbers.

Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021.
Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022.
Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022, chapter
2. Wang, Kim, McCord-Snook, Wu, Wang: Variance reduction in gradient exploration for online learning to rank.
SIGIR 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log1p

import numpy as np
import polars as pl

from rankloop.lab.data import load, take_queries
from rankloop.lab.simulation.offline_rankers import train_ranknet
from rankloop.lab.theory import (
    DuelSteps,
    NeuralWidths,
    PairConstants,
    PairRankBounds,
    PePairRankBounds,
    effective_dimension,
    measure_pair_constants,
    tangent_kernel,
)
from rankloop.learning.certainty import Belief
from rankloop.policies import Theory
from rankloop.query_set import QuerySet

WEIGHT, VARIANCE, ROUNDS, SHOWN = 0.1, 0.1, 5000, 10  # λ and ν² of the papers' grids, T, k
DUELS, RECENT = 10_000, 10  # T and r of the paper on projection
LISTS = 20  # whose documents the effective dimension is about


def tabulate_bounds(data: str, *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Tabulate the constants of the training queries, and every bound that is computed from them."""
    queries = take_queries(load(data).train, 0, 100 if quick else 1000)
    constants = measure_pair_constants(queries, train_ranknet(queries))
    return {
        "constants": _constants(constants),
        "PairRank": _pairrank(constants),
        "PePairRank": _pepairrank(constants),
        "networks": _networks(constants, take_queries(queries, 0, 5 if quick else LISTS)),
        "duels": _duels(constants),
    }


def _constants(world: PairConstants) -> pl.DataFrame:
    return _frame(
        ("longest weights, Q", world.longest_weights),
        ("longest difference, u or P", world.longest_difference),
        ("flattest slope, c_mu", world.flattest),
        ("smallest gap, D_min", world.smallest_gap),
        ("smallest variance, l_min(S)", world.smallest_variance),
        ("features, d", world.dimensions),
        ("longest list, V_max", world.longest_list),
    )


def _pairrank(world: PairConstants) -> pl.DataFrame:
    bounds = PairRankBounds(constants=world, regularisation=WEIGHT, examined=SHOWN)
    criterion = Theory(longest_weights=world.longest_weights, longest_difference=world.longest_difference)
    alphas = [criterion.alpha(_belief(log_det)) for log_det in (0.0, _largest_log_det(world))]
    return _frame(
        ("alpha of Lemma 1, first round", alphas[0]),
        (f"alpha of Lemma 1, at most, round {ROUNDS}", alphas[1]),
        ("t' of Lemma 3", bounds.settling_round),
        (f"regret by Theorem 1, {ROUNDS} rounds", bounds.regret(ROUNDS, seen=1.0)),
        ("all pairs of as many longest lists", ROUNDS * world.longest_list * (world.longest_list - 1) / 2),
    )


def _pepairrank(world: PairConstants) -> pl.DataFrame:
    bounds = PePairRankBounds(constants=world, regularisation=WEIGHT, variance=VARIANCE, examined=SHOWN)
    alpha = bounds.alpha(0.0)
    return _frame(
        ("alpha of Lemma 2.2.1, first round", alpha),
        ("N of Lemma 2.2.3, first round", bounds.rankers_needed(alpha)),
        ("N of Lemma 2.2.3 as printed", bounds.rankers_needed(alpha, as_printed=True)),
        ("t' of Lemma 2.2.3", bounds.settling_round),
        (f"regret by Theorem 2.2.4, {ROUNDS} rounds", bounds.regret(ROUNDS, seen=1.0)),
    )


def _networks(world: PairConstants, queries: QuerySet) -> pl.DataFrame:
    network = NeuralWidths(width=100, depth=3, regularisation=WEIGHT, rounds=ROUNDS, step=1e-3, steps=20)
    return _frame(
        ("alpha of Lemma 2.1.6, first round", network.alpha(0.0)),
        ("e(m) of Lemma 2.1.6", network.error),
        ("alpha of Lemma 3.3 (2022), first round", network.short_alpha(0.0)),
        ("e(m) of Lemma 3.3 (2022)", network.short_error),
        ("gap left in Lemma 4.2 (2022), D_min - 2 e(m)", world.smallest_gap - 2 * network.short_error),
        ("longest step of the lemmas", network.step_allowed),
        ("narrowest network of the lemmas, m", network.width_needed(world.longest_list)),
        (f"documents of {len(queries)} queries", len(queries.features)),
        ("effective dimension of them and their pairs", _dimension(queries)),
    )


def _duels(world: PairConstants) -> pl.DataFrame:
    spaces = {"projected": SHOWN + RECENT, "plain": world.dimensions}
    rows: list[tuple[str, float]] = []
    for name, examined in spaces.items():
        steps = DuelSteps(
            rounds=DUELS, radius=world.longest_weights, examined=examined, utility_lipschitz=1.0
        )
        rows += [
            (f"{name}: how far candidates are", steps.exploration),
            (f"{name}: step, as printed", steps.step),
            (f"{name}: step R/sqrt(T)", steps.plain_step),
            (f"{name}: dueling regret by Theorem 3.3, {DUELS} rounds", steps.regret),
        ]
    return _frame(*rows)


def _largest_log_det(world: PairConstants) -> float:
    """The most that log det M can have grown: all pairs as long as the longest, in all directions alike."""
    pairs, d = ROUNDS * SHOWN / 2, world.dimensions
    return d * log1p(pairs * world.longest_difference**2 / (d * WEIGHT))


def _belief(log_det: float) -> Belief:
    return Belief(np.eye(1), np.eye(1), log_det, WEIGHT, np.ones(1))


def _dimension(queries: QuerySet) -> float:
    """Of documents of length 1, as the theory has them."""
    rows = queries.features.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    kernel = tangent_kernel(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))
    ends = zip(queries.offsets[:-1].tolist(), queries.offsets[1:].tolist(), strict=True)
    pairs = np.concatenate([np.stack(np.triu_indices(b - a, 1), axis=1) + a for a, b in ends])
    return effective_dimension(kernel, regularisation=WEIGHT, pairs=pairs)


def _frame(*rows: tuple[str, float]) -> pl.DataFrame:
    return pl.DataFrame(
        [(name, float(value)) for name, value in rows], schema=["quantity", "value"], orient="row"
    )
