"""Joint factorization of three tensors with ranked pairs: what MTER and its variants share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np

from rankloop.bounds import Bound, Count, NonNegative, Positive
from rankloop.recommend.held_out_ranking import rank_held_out
from rankloop.recommend.opinion_tensors import Cells, build_opinion_cells, build_word_cells
from rankloop.recommend.recommender import FactorModel
from rankloop.recommend.reviews import Reviews
from rankloop.recommend.row_adagrad import RowAdaGrad
from rankloop.types import BoolArray, FloatArray, IntArray

Gradient: TypeAlias = tuple[FloatArray, IntArray | None]  # of rows; None: of the whole array


@dataclass(frozen=True, slots=True, eq=False)
class NegativeSampler:
    """Draws items for users; what a user reviewed can be recognised."""

    pairs: IntArray  # sorted numbers of all reviewed pairs
    ratings: FloatArray  # in the same order
    n_items: int

    @classmethod
    def of(cls, reviews: Reviews) -> NegativeSampler:
        """Make the sampler of these reviews."""
        order = np.argsort(reviews.pairs)
        return cls(reviews.pairs[order], reviews.rating[order], reviews.n_items)

    def find_ratings(self, user: IntArray, item: IntArray) -> FloatArray:
        """Look up how each user rated each item, 0 without a review; shapes are broadcast."""
        wanted = user.astype(np.int64) * self.n_items + item
        found = np.searchsorted(self.pairs, wanted).clip(max=len(self.pairs) - 1)
        return np.where(self.pairs[found] == wanted, self.ratings[found], 0.0)

    def draw(self, user: IntArray, count: int, rng: np.random.Generator) -> tuple[IntArray, BoolArray]:
        """Draw so many items for every user, and which of them they did not review, [n, count]."""
        item = rng.integers(self.n_items, size=(len(user), count))
        return item, self.find_ratings(user[:, None], item) == 0


class TrainingBatch(NamedTuple):
    """Drawn cells of the three tensors, and drawn pairs."""

    cells: tuple[tuple[IntArray, FloatArray], ...]
    user: IntArray
    better: IntArray
    worse: IntArray
    sign: FloatArray


@dataclass(kw_only=True, eq=False)
class JointFactorization(FactorModel):
    """Mini-batches of cells and pairs, AdaGrad on the rows they touch, projection to what is allowed.

    With a `validation_share`, some reviews are held out; after every `validate_every` iterations their A@50
    is measured, the best parameters are kept, and it stops when four checks in a row were no better.
    """

    cells: Count = 1024  # drawn of each tensor in an iteration
    pairs: Count = 2048
    hardest: Count = 1  # of how many drawn items the one with the highest score is taken
    pair_weight: NonNegative = 100.0  # λ_B
    regularisation: NonNegative = 0.01
    rate: Positive = 0.1
    iterations: Count = 2000
    zeros: NonNegative = 0.0  # unobserved cells for each observed one, with a target of 0
    mean: bool = True  # losses are means over what was drawn; otherwise sums
    validation_share: Annotated[float, Bound(at_least=0, below=1)] = 0.05
    validate_every: Count = 250

    @abstractmethod
    def _begin(self, reviews: Reviews, rng: np.random.Generator) -> Mapping[str, float | None]:
        """Fill the parameters; the names of those that are learned, each with its least value."""

    @abstractmethod
    def gradients(self, batch: TrainingBatch) -> Mapping[str, list[Gradient]]:
        """The gradients of a batch's loss with respect to every parameter, without regularisation."""

    @abstractmethod
    def _finish(self) -> None:
        """Vectors of users and items from the parameters."""

    @abstractmethod
    def score_words(self, users: IntArray, items: IntArray, features: IntArray) -> FloatArray:
        """Score how well each word goes with these features, for these users and items, [n, n_words]."""

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        inside = rng.random(len(reviews)) >= self.validation_share
        inside |= not inside.any()  # of very few reviews, none may be left
        held_out, reviews = reviews.select(~inside), reviews.select(inside)
        tensors = (
            build_opinion_cells(reviews),
            build_word_cells(reviews, "user"),
            build_word_cells(reviews, "item"),
        )
        negatives = NegativeSampler.of(reviews)
        learned = self._begin(reviews, rng)
        steps = {name: RowAdaGrad(getattr(self, name), self.rate, least) for name, least in learned.items()}
        best, kept, since = -1.0, {name: getattr(self, name).copy() for name in learned}, 0
        for iteration in range(1, self.iterations + 1):
            self._step(steps, self.draw(reviews, tensors, negatives, rng))
            if len(held_out) and iteration % self.validate_every == 0:
                self._finish()
                value = float(rank_held_out(self, held_out, known=[reviews], size=50).ndcg(50).mean())
                since = 0 if value > best else since + 1
                if value > best:
                    best, kept = value, {name: getattr(self, name).copy() for name in learned}
                if since >= 4:
                    break
        if best >= 0:
            vars(self).update(kept)
        self._finish()

    def _step(self, steps: Mapping[str, RowAdaGrad], batch: TrainingBatch) -> None:
        for name, parts in self.gradients(batch).items():
            if parts[0][1] is None:
                steps[name].step(np.sum([part[0] for part in parts], axis=0), shrink=2 * self.regularisation)
                continue
            rows = np.concatenate([part[1] for part in parts if part[1] is not None])
            steps[name].step(
                np.concatenate([part[0] for part in parts]), rows, shrink=2 * self.regularisation
            )

    def draw(
        self,
        reviews: Reviews,
        tensors: tuple[Cells, ...],
        negatives: NegativeSampler,
        rng: np.random.Generator,
    ) -> TrainingBatch:
        """Draw cells of each tensor, and pairs of a reviewed item and another one that is rated otherwise."""
        cells = tuple(each.draw(self.cells if len(each) else 0, rng, zeros=self.zeros) for each in tensors)
        row = rng.integers(len(reviews), size=self.pairs)
        user, better = reviews.user[row], reviews.item[row]
        worse = self._other_items(user, rng)
        sign = np.sign(reviews.rating[row] - negatives.find_ratings(user, worse))
        keep = sign != 0
        return TrainingBatch(cells, user[keep], better[keep], worse[keep], sign[keep])

    def _other_items(self, user: IntArray, rng: np.random.Generator) -> IntArray:
        n_items = len(self.item_factors)
        drawn = rng.integers(n_items, size=(len(user), self.hardest))
        if self.hardest == 1:
            return drawn[:, 0]
        self._finish()
        scores = np.einsum("nd,nkd->nk", self.user_factors[user], self.item_factors[drawn])
        return np.asarray(drawn[np.arange(len(user)), scores.argmax(axis=1)])

    def _weights(self, batch: TrainingBatch) -> tuple[list[float], float]:
        """The factors of each tensor's errors, and of the pairs."""
        cells = [1 / max(len(value), 1) if self.mean else 1.0 for _, value in batch.cells]
        return cells, self.pair_weight / max(len(batch.user), 1) if self.mean else self.pair_weight

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of all arrays that are learned, but those that follow from others."""
        own = (each.name for each in fields(cls) if not each.init)
        return tuple(
            name for name in own if name not in ("past_items", "past_starts", "user_factors", "item_factors")
        )
