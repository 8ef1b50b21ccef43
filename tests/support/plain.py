"""Plain fold of a log: the slow and clear reference for every shorter way to a model.

Every entry is folded, from where the log begins. A decision that redefines the past is met where it stands,
and has everything before it folded again; no snapshot, no checkpoint and no leap, and nothing is remembered.
"""

from __future__ import annotations

from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.configuration import Configuration, configuration_at
from rankloop.service.core.fold import BringsParts, Fold, read_unfolded
from rankloop.service.core.history import first_width
from rankloop.service.core.model import Model
from rankloop.service.core.ranker_settings import BaseRankerSettings, build_policy
from rankloop.service.core.rebuild import RebuildSpec
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Impression, Store


class PlainPast:
    """What a fold may ask about the log before it, read from the log each time."""

    def __init__(self, ranker: str, store: Store, registry: BringsParts, known: PolicyKinds) -> None:
        self.ranker, self.store, self.registry, self.known = ranker, store, registry, known

    def _configuration(self, seq: int) -> Configuration:
        return configuration_at(self.store, self.ranker, self.registry, self.known, seq=seq)

    def impression(self, query_id: str) -> Impression | None:
        return self.store.find_impression(query_id)

    def model(self, seq: int, *, without: frozenset[str], retired: frozenset[int] = frozenset()) -> Model:
        return self.again(seq + 1, without=without, retired=retired).model.apart()

    def again(
        self,
        until: int,
        *,
        without: frozenset[str] = frozenset(),
        settings: BaseRankerSettings | None = None,
        retired: frozenset[int] = frozenset(),
    ) -> Fold:
        width, policy = 0, None
        if settings is not None:
            policy = build_policy(settings.policy, self.known)
            schema = self._configuration(until - 1).schema
            known = retired.union(schema.retired)
            width = first_width(policy, sum(each not in known for each in range(len(schema.names))))
        spec = RebuildSpec(without=without, settings=settings, policy=policy, width=width, retired=retired)
        fold = self._beginning(spec, {each for each in self._returned_to() if each < until})
        for entry in read_unfolded(fold, self.store, until=until - 1):
            fold.apply(entry)
        return fold

    def _beginning(self, spec: RebuildSpec, targets: set[int]) -> Fold:
        retained = self.store.read_decisions(self.ranker, kinds=("retain",))
        deleted = self.store.read_decisions(self.ranker, kinds=("delete",))
        given = self, spec, self.registry, self.known
        if not retained:
            fold = Fold(self.ranker, *given, targets=targets)
        else:
            base = int(retained[-1].body["base"])
            kept = self.store.load_latest(self.ranker, until=base)
            assert kept is not None
            assert kept.seq == base
            relearns = spec.settings is not None
            fold = Fold.restore(kept, self._configuration(base), *given, targets=targets, relearns=relearns)
        fold.cleared = deleted[-1].seq if deleted else 0
        return fold

    def _returned_to(self) -> set[int]:
        """Under other rules there is no other way to an earlier model than to keep it on the way."""
        return {int(each.body["to"]) for each in self.store.read_decisions(self.ranker, kinds=("rollback",))}


def plain_fold(service: ServiceFacade, ranker: str = "shop") -> Fold:
    """The fold of all that is kept of a ranker's log."""
    history = service.ranker(ranker).history
    return PlainPast(ranker, service.store, history.registry, history.policy_kinds).again(2**62)
