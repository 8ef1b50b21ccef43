"""Serving one list: from a model, candidates and a seed to a response; pure, so any list can be made again.

Live ranking, replay and fallback are the same call: they differ in what is given to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec
import numpy as np

from rankloop.exposure import PAGE
from rankloop.policies import ExploresUncertain, Policy
from rankloop.policy import KnowsCertainOrders
from rankloop.service.core.lists.list_seeds import generator
from rankloop.service.core.lists.order_certainty import SETTLED, grade_of, sureness
from rankloop.service.core.lists.placement import (
    bounded,
    by_score,
    discordant,
    explored,
    pairs_shown,
    place_pins,
)
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.lists.rank_response import ENCODER, Provenance, RankResponse, Result
from rankloop.service.core.model import asker_of
from rankloop.service.core.ranker_settings import LEARNS, RankerSettings
from rankloop.service.core.view import View
from rankloop.service.extensions.fair.fair_account import (
    HELD,
    Account,
    Merge,
    account_of,
    exposed,
    merged,
    stays_within,
)
from rankloop.service.extensions.trial.arms import arm_of, interleaved, unit_of
from rankloop.service.extensions.trial.trial_state import Trial
from rankloop.service.store import Assignment, Impression, Promised
from rankloop.types import Array, BoolArray, FloatArray, IntArray, Query, Ranking

NO_CONTEXT: Final[FloatArray] = np.zeros(0)
NOBODY_AHEAD: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A list that was made and that nobody has seen: it is written down when it is shown, or not at all."""

    response: RankResponse
    body: bytes  # the response as JSON
    impression: Impression

    def unlogged(self, reason: str) -> Draft:
        """The same list, which says that it is not known to be written down; what would be is unmarked."""
        provenance = msgspec.structs.replace(self.response.provenance, unlogged=reason)
        response = msgspec.structs.replace(self.response, provenance=provenance)
        return Draft(response, ENCODER.encode(response), self.impression)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Listing:
    """The rows of a list, what a policy needs to learn from it, and what is to be said about it."""

    order: IntArray  # [k] rows, as shown
    scores: FloatArray  # [n]
    evidence: Mapping[str, Array] = field(default_factory=dict)
    teaches: bool = False
    open: Mapping[int, bool] = field(default_factory=dict)  # by row: not certain against all others shown
    sure: Mapping[int, float] = field(default_factory=dict)  # by row: of the order that is least sure
    pairs: int = 0
    settled_pairs: int | None = None
    explored: int = 0
    cost: float = 0.0
    merge: Merge | None = None  # rows of the free candidates
    free: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))  # the rows of these
    owners: tuple[tuple[float, ...], ...] = ()  # [2, k] of an interleaved list

    def turned(self, rows: IntArray) -> BoolArray:
        """`turned[i, j]`: the merge put row `i` above row `j`, which was drawn before it."""
        if self.merge is None:
            return np.zeros((len(rows), len(rows)), dtype=bool)
        drawn, order = self._places(self.merge.drawn, rows), self._places(self.merge.order, rows)
        found: BoolArray = (drawn[:, None] > drawn) & (order[:, None] < order)
        return found

    def _places(self, listed: list[int], rows: IntArray) -> IntArray:
        """Where rows stand among these free candidates; at the end, if they do not."""
        places = np.full(len(self.scores), len(self.scores))
        places[self.free[listed]] = np.arange(len(listed))
        found: IntArray = places[rows]
        return found


def serve(
    view: View,
    request: RankRequest,
    raw: FloatArray,
    *,
    query_id: str,
    seed: int,
    at: float,
    fallback: str = "",
    ahead: Mapping[str, int] = NOBODY_AHEAD,
    standing: Mapping[str, int] | None = None,
    context: FloatArray = NO_CONTEXT,
    promised: Promised | None = None,
) -> Draft:
    """The list for a request under what is in force; the caller's own order if there is a `fallback`.

    `raw` are the candidates' features by column of the schema, NaN where missing. `ahead` is the exposure
    account that the list is held to, if the ranker has one, by group, and `standing` the present one, if that
    is another; `context` are features of who asks, by column of their schema. If clicks are promised,
    `promised` says whether the list may depart from the caller's order.
    """
    configuration, candidates = view.configuration, request.candidates
    trial, arm = view.trial, ""
    if trial is not None:
        arm = arm_of(trial, unit_of(request.session_id, request.client_id, query_id))
    own = promised is not None and promised.arm != "learned"
    fair, held = (
        configuration.settings.fair,
        not fallback and configuration.mode in HELD and arm != "B" and not own,
    )
    account = (
        account_of(request, fair, configuration.extension_states.get("fair") or 0, ahead) if fair else None
    )
    if fallback:
        listing = callers_order(request, raw)
    else:
        listing = listed(view, request, raw, query_id, seed, account if held else None, context, arm, own)
    exposure = None
    if account:
        guarded = configuration.settings.max_displacement is not None
        exposure = exposed(
            account,
            listing.order,
            listing.merge,
            listing.free,
            standing=ahead if standing is None else standing,
            held=held,
            guarded=guarded,
        )
    provenance = Provenance(
        ranker=request.ranker,
        model=view.model.version,
        settings=configuration.settings_version,
        policy="" if fallback else type(view.model.policy).__name__,  # none had a part in the caller's order
        mode=configuration.mode,
        seed=seed,
        explored_pairs=listing.explored,
        fallback=fallback or None,
        fairness_cost=exposure.turned if exposure and held else None,
        within=exposure.within if exposure else None,
        trial=trial.number if trial else None,
        arm=arm or None,
        promise=promised.arm if promised else None,
    )
    response = RankResponse(query_id, _results(request, listing), provenance)
    body = ENCODER.encode(response)
    impression = Impression(
        at=at,
        ranker=request.ranker,
        query_id=query_id,
        user_query=request.user_query,
        client_id=request.client_id,
        session_id=request.session_id,
        model=provenance.model,
        settings=provenance.settings,
        mode=provenance.mode,
        policy=provenance.policy,
        seed=seed,
        k=request.k,
        object_ids=candidates.object_ids,
        groups=candidates.groups,
        titles=[candidates.titles[row] for row in listing.order.tolist()] if candidates.titles else (),
        pinned_at=_pinned_at(request),
        features=raw,
        order=listing.order,
        evidence=listing.evidence,
        teaches=listing.teaches,
        fallback=fallback,
        digest=hashlib.blake2b(body, digest_size=16).digest(),
        pairs=listing.pairs,
        settled=listing.settled_pairs,
        explored=listing.explored,
        cost=listing.cost,
        exposure=exposure,
        user=request.user,
        context=context,
        recommended=request.recommended,
        assignment=Assignment(trial=trial.number, arm=arm, owners=listing.owners) if trial else None,
        promised=promised,
    )
    return Draft(response, body, impression)


def listed(
    view: View,
    request: RankRequest,
    raw: FloatArray,
    query_id: str,
    seed: int,
    account: Account | None = None,
    context: FloatArray = NO_CONTEXT,
    arm: str = "",
    own: bool = False,
) -> Listing:
    """A list by its settings, held to an exposure account if there is one, for an arm of a trial if one runs.

    With `own` it is the caller's order all the same, and the draw is there to learn from.

    The policy ranks the candidates that are not pinned, and later learns from their part of the list: so its
    evidence is right, and a position that was not its choice teaches nothing.
    """
    mode = view.configuration.mode
    candidates, asker = request.candidates, asker_of(request.user, context)
    policy, query = view.model.asked(query_id, raw, candidates.object_ids, candidates.groups, asker)
    scores = policy.score(query)
    certain = _certain(policy, query) if mode in LEARNS else None
    free, pins = _free_and_pinned(request)
    k = min(request.k, request.n)
    room = k - sum(position <= k for position in pins)
    choice = Choice([])
    if room:
        among = certain[np.ix_(free, free)] if pins and certain is not None else certain
        part, standing = (query.take(free), scores[free]) if pins else (query, scores)
        plain = not pins and view.configuration.settings.unguarded
        codes = account.codes[free] if account and account.binds else None
        deep = account is not None and account.pressed  # a guess that saves drawing twice: lists are the same
        choice = _choose(policy, part, standing, among, room, view, seed, codes if deep else None)
        if account and codes is not None and not (plain and stays_within(account, choice.rows)):
            if not deep:
                choice = _choose(policy, part, standing, among, room, view, seed, codes)
            known = among if mode == "explore" else None  # without experiments, the order by score is kept to
            keep = not plain or k > PAGE  # the only page of a plain list was just found not to stay
            merge = merged(account, choice.drawn, known, free=free, pins=pins, k=k, seed=seed, keep=keep)
            choice = _held(choice, merge, standing, room, view.configuration.settings)
    if room and own:
        choice = Choice(list(range(room)), choice.draw)
    elif room and arm in ("B", "AB"):
        other = _other(view, request, raw, context, query_id, free)
        choice = _against(choice, other, scores[free], room, view, seed, arm)
    shown = free[choice.rows]
    tried = shown if choice.merge is None or choice.tried == choice.rows else free[choice.tried]
    order = np.array(place_pins(shown.tolist(), pins, k), dtype=np.int64)
    explores = mode == "explore" and arm in ("", "A") and not own
    return Listing(
        order=order,
        owners=_owned(order, shown, choice.owners),
        scores=scores,
        evidence=choice.draw.evidence if choice.draw else {},
        teaches=_teaches(policy, choice),
        merge=choice.merge,
        free=free,
        **_numbers(policy, query, scores, certain, shown, tried, explores=explores),
    )


def callers_order(request: RankRequest, raw: FloatArray) -> Listing:
    """The caller's own order, around the pins: when anything is broken, or there is no time."""
    free, pins = _free_and_pinned(request)
    order = place_pins(free.tolist(), pins, min(request.k, request.n))
    return Listing(order=np.array(order, dtype=np.int64), scores=np.zeros(len(raw)))


def _results(request: RankRequest, listing: Listing) -> tuple[Result, ...]:
    scores, names = listing.scores[listing.order], request.candidates.object_ids
    if not np.isfinite(scores).all():
        raise ValueError(f"a score must be finite, found {scores}")
    pins = request.candidates.pinned_at
    rows = zip(listing.order.tolist(), scores.tolist(), strict=True)
    return tuple(
        _result(names[row], position, score, bool(pins and pins[row]), listing, row)
        for position, (row, score) in enumerate(rows, start=1)
    )


def _result(name: str, position: int, score: float, pinned: bool, listing: Listing, row: int) -> Result:
    sure = listing.sure.get(row)
    if sure is None:
        return Result(name, position, score, None, pinned, open=listing.open.get(row))
    grade = grade_of(sure)
    return Result(name, position, score, grade == "settled", pinned, grade, sure, listing.open.get(row))


def _pinned_at(request: RankRequest) -> IntArray:
    pins = request.candidates.pinned_at
    return np.array(pins, np.int64) if pins else np.zeros(request.n, np.int64)


def _free_and_pinned(request: RankRequest) -> tuple[IntArray, dict[int, int]]:
    """The rows that are free, and the others by the position at which they are pinned."""
    if not request.candidates.pinned_at:
        return np.arange(request.n), {}
    pinned_at = _pinned_at(request)
    pinned = pinned_at.nonzero()[0].tolist()
    return (pinned_at == 0).nonzero()[0], {int(pinned_at[row]): row for row in pinned}


def _certain(policy: Policy, query: Query) -> BoolArray | None:
    """The certain orders, if the policy draws by them; one with a `rank` of its own may do as it likes."""
    if not isinstance(policy, ExploresUncertain) or type(policy).rank is not ExploresUncertain.rank:
        return None
    return policy.certain_orders(query)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Which of the free candidates are shown, in order, and on what grounds."""

    rows: list[int]
    draw: Ranking | None = None  # by the policy, if it was asked
    drawn: list[int] = field(default_factory=list)  # deeper, if the list is to be merged
    tried: list[int] = field(default_factory=list)  # what would be shown without the merge
    merge: Merge | None = None
    owners: FloatArray | None = None  # [2, k] of an interleaved list


def _choose(
    policy: Policy,
    query: Query,
    scores: FloatArray,
    certain: BoolArray | None,
    k: int,
    view: View,
    seed: int,
    groups: IntArray | None,
) -> Choice:
    """The list of the free candidates; with their `groups`, also what is needed to merge it."""
    mode, settings = view.configuration.mode, view.configuration.settings
    if mode == "passthrough":
        return Choice(list(range(k)))
    if mode == "frozen":
        reference = by_score(scores)
        return Choice(bounded(reference, settings, k), drawn=reference if groups is not None else [])
    deep = groups if mode == "explore" else None
    draw, drawn = _draw(policy, query, certain, k, seed, deep)
    if mode == "shadow":
        return Choice(list(range(k)), draw)
    if mode == "exploit":
        reference = by_score(scores)
        return Choice(bounded(reference, settings, k), draw, reference if groups is not None else [])
    return Choice(explored(draw.order.tolist(), scores, settings, k), draw, drawn)


def _draw(
    policy: Policy,
    query: Query,
    certain: BoolArray | None,
    k: int,
    seed: int,
    groups: IntArray | None,
) -> tuple[Ranking, list[int]]:
    """What the policy draws; with `groups`, also the list drawn on until each of them has enough in it."""
    rng = generator(seed)
    if certain is not None and isinstance(policy, ExploresUncertain):
        draw = policy.draw(query, certain, k=k, rng=rng, groups=groups)
        if groups is None:
            return draw, []
        return Ranking(query, draw.order[:k], draw.evidence), draw.order.tolist()
    draw = policy.rank(query, k=k, rng=rng)
    if groups is None:
        return draw, []
    begun = draw.order.tolist()  # its evidence may be about these very positions
    there, whole = set(begun), policy.rank(query, k=query.n_docs, rng=generator(seed))
    return draw, begun + [row for row in whole.order.tolist() if row not in there]


def _teaches(policy: Policy, choice: Choice) -> bool:
    """Whether the policy may learn from the list that is shown in place of what it drew."""
    draw = choice.draw
    if draw is None:
        return False
    return choice.rows == draw.order.tolist() or policy.with_order(draw, np.array(choice.rows)) is not None


def _held(choice: Choice, merge: Merge, scores: FloatArray, k: int, settings: RankerSettings) -> Choice:
    """The merged list, as far as the guardrails allow it; what they undo stays in the account."""
    rows = merge.order
    if settings.max_displacement is not None:
        there = set(rows)
        rows = bounded(rows + [row for row in by_score(scores) if row not in there], settings, k)
    return Choice(rows, choice.draw, choice.drawn, choice.rows, merge)


def _other(
    view: View, request: RankRequest, raw: FloatArray, context: FloatArray, query_id: str, free: IntArray
) -> list[int]:
    """The free candidates as arm B has them, as indices of the free ones."""
    if view.opponent is None:
        raise ValueError("arm B of the trial that runs is not to be had")
    order = view.opponent.order(request, raw, context, query_id, view.configuration)
    index = np.full(request.n, -1)
    index[free] = np.arange(len(free))
    found: list[int] = [row for row in index[order].tolist() if row >= 0]
    return found


def _against(
    choice: Choice, other: list[int], scores: FloatArray, k: int, view: View, seed: int, arm: str
) -> Choice:
    """The list of arm B, or one of both arms, in place of what was chosen; the draw stays to learn from."""
    if arm == "B":
        return Choice(bounded(other, view.configuration.settings, k), choice.draw)
    there, trial = set(choice.rows), cast("Trial", view.trial)
    whole = choice.rows + [row for row in by_score(scores) if row not in there]
    both = interleaved(trial, whole, other, k, seed)
    return Choice(both.order.tolist(), choice.draw, owners=both.owners)


def _owned(order: IntArray, shown: IntArray, owners: FloatArray | None) -> tuple[tuple[float, ...], ...]:
    """Whose each result of a list is; a pinned one is nobody's."""
    if owners is None:
        return ()
    of_row = dict(zip(shown.tolist(), owners.T.tolist(), strict=True))
    whose = [of_row.get(row, (0.0, 0.0)) for row in order.tolist()]
    return tuple(each[0] for each in whose), tuple(each[1] for each in whose)


def _numbers(
    policy: Policy,
    query: Query,
    scores: FloatArray,
    certain: BoolArray | None,
    shown: IntArray,
    tried: IntArray,
    *,
    explores: bool,
) -> dict[str, Any]:
    """What is to be said about the free results of a list; explored is what it would be without the merge."""
    above, below = pairs_shown(tried)
    numbers: dict[str, Any] = {"pairs": len(above)}
    if explores:
        wrong = discordant(above, below, scores)
        # a pair that the model takes for right with probability p stands wrong with p and right with 1 - p
        numbers["explored"] = int(np.count_nonzero(wrong))
        numbers["cost"] = float(np.tanh((scores[below[wrong]] - scores[above[wrong]]) / 2).sum())
    if tried is not shown:
        above, below = pairs_shown(shown)
    if len(shown) and isinstance(policy, KnowsCertainOrders):
        if certain is None:
            certain = np.zeros((query.n_docs, query.n_docs), dtype=bool)
            certain[np.ix_(shown, shown)] = policy.certain_orders(query.take(shown))
        unsure = ~(certain[above, below] | certain[below, above])
        rows = {*above[unsure].tolist(), *below[unsure].tolist()}
        numbers["open"] = {row: row in rows for row in shown.tolist()}
    sure = sureness(policy, query, shown)
    if sure is not None:
        numbers["settled_pairs"] = int(np.count_nonzero(np.triu(sure >= SETTLED, 1)))
        np.fill_diagonal(sure, 1.0)  # against itself
        numbers["sure"] = dict(zip(shown.tolist(), sure.min(axis=1).round(4).tolist(), strict=True))
    return numbers
