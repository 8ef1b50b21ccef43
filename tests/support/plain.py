"""Plain fold of a log: the slow and clear reference for every shorter way to a model.

Every entry is folded, from where the log begins. A decision that redefines the past is met where it stands,
and has everything before it folded again, and so has a rollback; no snapshot and no checkpoint is used but
the one at which a log begins, and nothing is remembered.
"""

from __future__ import annotations

from dataclasses import replace

from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.configuration import Configuration, configuration_at
from rankloop.service.core.fold import BringsParts, Fold, read_unfolded
from rankloop.service.core.model import Model
from rankloop.service.core.ranker_settings import build_policy
from rankloop.service.core.rebuild import RebuildSpec, first_width
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Decision, Store


class PlainPast:
    """The past of a ranker, read from the log each time."""

    def __init__(self, ranker: str, store: Store, registry: BringsParts, known: PolicyKinds) -> None:
        self.ranker, self.store, self.registry, self.known = ranker, store, registry, known

    def fold(self, seq: int = 2**62, *, without: frozenset[str] = frozenset()) -> Fold:
        """The fold of everything up to an entry, without some events."""
        return self.rebuild(RebuildSpec(without=without), seq)

    def model(self, seq: int, *, without: frozenset[str] = frozenset()) -> Model:
        return self.fold(seq, without=without).model

    def rebuild(self, spec: RebuildSpec, until: int) -> Fold:
        fold = self._beginning(spec)
        while True:
            for entry in read_unfolded(fold, self.store, until=until):
                if fold.is_redefined_by(entry):
                    assert isinstance(entry, Decision)
                    fold = self._redefined(fold, entry)
                    break
                if isinstance(entry, Decision) and entry.kind == "rollback":
                    target = int(entry.body["to"])
                    fold.models[target] = self.rebuild(fold.spec, target).model
                fold.apply(entry)
            else:
                return fold

    def _redefined(self, fold: Fold, decision: Decision) -> Fold:
        """The fold after a decision, of a past that is as the decision says."""
        spec = fold.spec
        if decision.kind == "settings":
            last, settings = decision.seq - 1, self._configuration(decision.seq).settings
            policy = build_policy(settings.policy, self.known)
            schema = self._configuration(last).schema
            known = spec.retired.union(schema.retired)
            width = first_width(policy, sum(each not in known for each in range(len(schema.names))))
            before = self.rebuild(replace(spec, settings=settings, policy=policy, width=width), last)
            return before.continue_under_log(decision, spec)
        without = spec.without.union(decision.body.get("events", ()))
        retired = spec.retired.union(decision.body.get("columns", ()))
        return self.rebuild(replace(spec, without=without, retired=retired), decision.seq)

    def _beginning(self, spec: RebuildSpec) -> Fold:
        retained = self.store.read_decisions(self.ranker, kinds=("retain",))
        deleted = self.store.read_decisions(self.ranker, kinds=("delete",))
        given = self.store.find_impression, spec, self.registry, self.known
        if not retained:
            fold = Fold(self.ranker, *given)
        else:
            base = int(retained[-1].body["base"])
            kept = self.store.load_latest(self.ranker, until=base)
            assert kept is not None
            assert kept.seq == base
            relearns = spec.settings is not None
            fold = Fold.restore(kept, self._configuration(base), *given, relearns=relearns)
        fold.cleared = deleted[-1].seq if deleted else 0
        return fold

    def _configuration(self, seq: int) -> Configuration:
        return configuration_at(self.store, self.ranker, self.registry, self.known, seq=seq)


def plain_fold(service: ServiceFacade, ranker: str = "shop") -> Fold:
    """The fold of all that is kept of a ranker's log."""
    history = service.ranker(ranker).history
    return PlainPast(ranker, service.store, history.registry, history.policy_kinds).fold()
