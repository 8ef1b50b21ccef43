"""Portable form of a model: its scores as plain arrays, compared with the policy's own on past lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from msgspec import structs

from rankloop.errors import RequestError, SettingError
from rankloop.naming import write_name
from rankloop.policies import CallerOrderPolicy, OrderScorerPolicy, Policy, ScorerPolicy
from rankloop.scorers import MLP, Linear
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.history import History
from rankloop.service.core.model import Model, callers_order, fitted
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.core.scaling import FARTHEST, Running
from rankloop.service.export import NotPortable, PortableModel, ScoredList
from rankloop.service.export.check import TOLERANCE
from rankloop.service.export.portable_model import Network
from rankloop.service.store import Store
from rankloop.types import FloatArray, Query

LISTS, CELLS = 50, 200_000  # of the log, to check a copy on
MADE_UP, ROWS = 10, 8  # lists with extreme and missing features, and candidates of each


def by_document(settings: BaseRankerSettings, policy: Policy) -> BaseRankerSettings:
    """The settings under which a candidate's score depends on nothing but its own features."""
    if isinstance(policy, CallerOrderPolicy) and policy.layout.extra:
        policy = replace(policy, caller_order=0)
    return structs.replace(settings.with_policy(policy), scaling="running")


def relearned(
    configuration: Configuration, model: Model, learn: Callable[[BaseRankerSettings], Model]
) -> Model:
    """What the log of a model teaches by document, if it teaches anything."""
    again = learn(by_document(configuration.settings, configuration.policy))
    if model.lists and not again.lists:
        raise NotPortable(
            f"none of the {model.lists:,} lists that {type(model.policy).__name__} drew can teach it "
            "without the caller's own order: export to onnx, or relearn the log with PairRank() or PDGD() "
            "first"
        )
    return again


def past_model(history: History, version: int) -> Model:
    """The model after an entry of the log."""
    if version < 0:
        raise RequestError(f"a version is the number of an entry of the log, found {version}")
    return history.model(version)


def portable(
    ranker: Ranker,
    store: Store,
    *,
    version: int | None,
    relearn: Callable[[BaseRankerSettings], Model] | None,
) -> PortableModel:
    """What a ranker computes now or at a version, or with `relearn` what its log teaches by document."""
    if relearn and version is not None:
        raise SettingError("what the log teaches by document is learned now: leave out the version")
    model = ranker.view.model if version is None else past_model(ranker.history, version)
    model = relearned(ranker.view.configuration, model, relearn) if relearn else model
    return written_out(model, ranker.view.configuration.schema.names, store, ranker.name)


def written_out(model: Model, names: Sequence[str], store: Store, ranker: str) -> PortableModel:
    """What a model computes, with past lists and their scores; `NotPortable` if arrays cannot say it.

    `names` are those of all columns, also of retired features.
    """
    policy = model.policy
    if policy.reads == "context" or policy.identifies_by == "ids":
        raise NotPortable(
            f"{type(policy).__name__} scores {_what(policy)}: there are no weights of features to export"
        )
    known = tuple(name for column, name in enumerate(names) if column not in model.retired)
    known = known[: model.width] if model.width else known
    if not known:
        raise NotPortable(f"ranker {ranker!r} has seen no features so far: there is no model to export")
    found = _arrays(model, known, ranker)
    logged = list(_logged(model, store, ranker, len(known)))
    lists = (*logged, *_made_up(model, len(known)))
    for each in lists:
        error = float(np.abs(found.score(each.features) - each.scores).max())
        if not error <= TOLERANCE * (1 + float(np.abs(each.scores).max())):
            raise NotPortable(
                f"the scores of {type(policy).__name__} are no weighted sum of the features, and no network "
                f"that could be written down: they are off by up to {error:.3g}"
            )
    return replace(found, lists=lists, logged=len(logged))


def _what(policy: Policy) -> str:
    return "visitors by their context" if policy.reads == "context" else "candidates by their ids"


def _arrays(model: Model, names: tuple[str, ...], ranker: str) -> PortableModel:
    policy, width = model.policy, len(names)
    if model.width not in (0, width):
        policy = policy.widened(width) or policy
    running = isinstance(model.scale, Running)
    mean, deviation = _moments(model, width)
    networks, skip, constant = _network(policy, width)
    return PortableModel(
        names=names,
        networks=networks,
        scaling="running" if running else "query",
        mean=mean,
        deviation=deviation,
        farthest=FARTHEST if running else np.inf,
        skip=skip,
        constant=constant,
        ranker=ranker,
        policy=write_name(policy),
        version=model.version,
        learned_from=model.lists,
    )


def _moments(model: Model, width: int) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of the features, [width] each; none, if scaling does without them."""
    scale = model.scale
    if not isinstance(scale, Running):
        return np.zeros(0), np.zeros(0)
    count, mean, squares = (
        np.nan_to_num(fitted(each[None], width)[0]) for each in (scale.count, scale.mean, scale.squares)
    )
    return mean, np.sqrt(squares / np.maximum(count, 1.0))


def _network(policy: Policy, width: int) -> tuple[tuple[Network, ...], float, float]:
    """The networks, what the caller's order adds to them, and a constant."""
    if not isinstance(policy, ScorerPolicy) or isinstance(policy.scorer, Linear):
        return _linear(policy, width)
    if not isinstance(policy.scorer, MLP):
        raise NotPortable(f"a {type(policy.scorer).__name__} is code of your own: export it with its tools")
    extra = policy.layout.extra
    parameters = np.atleast_2d(policy.parameters_for(np.zeros((1, extra + width))))
    unit = 0.0 if policy.layout.order is None else policy.layout.order.deviation  # of the first column
    skip = policy.order_weight * unit if isinstance(policy, OrderScorerPolicy) else 0.0
    networks = []
    for each in parameters:
        first, *rest = policy.scorer.matrices(each.astype(np.float64), extra + width)
        order = first[:, :1] * unit if extra else np.zeros((len(first), 1))
        networks.append((np.hstack([order, first[:, extra:]]), *rest))
    return tuple(networks), skip, 0.0


def _linear(policy: Policy, width: int) -> tuple[tuple[Network, ...], float, float]:
    """Weights by asking for the scores of single features, and of an order; whatever the policy is."""
    scores = policy.score(Query("", np.vstack([np.eye(width), np.zeros(width)]))).astype(np.float64)
    weights, constant = scores[:-1] - scores[-1], float(scores[-1])
    nothing = Query("", np.zeros((2, width)), caller_scores=callers_order(2))
    first, second = policy.score(nothing).astype(np.float64).tolist()
    order = (first - second) / (np.log2(3) - np.log2(2))
    return ((np.append(order, weights)[None],),), 0.0, constant


def _logged(model: Model, store: Store, ranker: str, width: int) -> list[ScoredList]:
    """The last lists of the log that are not too large, and how the model scores their candidates."""
    lists, room = [], CELLS
    for shown in islice(store.read_impressions(ranker, newest=LISTS), LISTS):
        features = fitted(model.seen(shown.features), width)
        if features.size <= room and len(features):
            lists.append(_scored(model, features))
            room -= features.size
    return lists


def _made_up(model: Model, width: int) -> list[ScoredList]:
    """Lists with what real ones seldom have: features far off, and features that some candidates lack."""
    rng, (mean, deviation) = np.random.default_rng(0), _moments(model, width)
    lists = []
    for _ in range(MADE_UP):
        features = rng.standard_normal((ROWS, width)) * 5
        if len(mean):
            features = mean + features * deviation
        features[2:][rng.random((ROWS - 2, width)) < 0.2] = np.nan
        lists.append(_scored(model, features))
    return lists


def _scored(model: Model, features: FloatArray) -> ScoredList:
    every = replace(model, retired=())  # they are left out already
    policy, scaled = every.ready(features)
    query = Query("", scaled, caller_scores=callers_order(len(features)))
    return ScoredList(features, policy.score(query).astype(np.float64))
