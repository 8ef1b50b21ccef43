"""Trials of a ranker: begun and stopped by decisions in its log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from rankloop.errors import RequestError
from rankloop.naming import write_name
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.decision_kind import sign_decision
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import build_policy, check_policy_can_serve
from rankloop.service.extensions.trial.report import TrialReport, numbered_report, report, trials_of
from rankloop.service.extensions.trial.trial_state import Trial, TrialSettings
from rankloop.service.service_errors import ConflictError, HistoryError
from rankloop.service.store import Decision, Store, Transaction, write

if TYPE_CHECKING:
    from rankloop.service.service_facade import ServiceFacade

RANKS = ("explore", "exploit", "frozen")  # modes in which the lists are the ranker's


class Trials:
    """Trials of a service, as `service.trials`: start one, stop it, and read what has come of each."""

    def __init__(self, facade: ServiceFacade) -> None:
        self._facade = facade

    def start(
        self, ranker: str, settings: TrialSettings | None = None, *, by: str = "", reason: str = ""
    ) -> int:
        """Compare a ranker with the caller's order, another ranker or another policy, live; its number.

        It runs until it is stopped, or until an arm is changed: by settings, mode, rollback or forget.
        """
        return self._facade.start_trial(ranker, settings, by=by, reason=reason)

    def stop(self, ranker: str, trial: int, *, by: str = "", reason: str = "it was stopped") -> TrialReport:
        """End a trial, whenever you like; the report of what it has shown."""
        return self._facade.stop_trial(ranker, trial, by=by, reason=reason)

    def get(self, ranker: str, trial: int) -> TrialReport:
        """Return what has come of one trial so far."""
        return self._facade.find_trial(ranker, trial)

    def list(self, ranker: str) -> Sequence[TrialReport]:
        """The trials of a ranker and what has come of them so far, the newest first."""
        return self._facade.trials(ranker)


def begin(
    ranker: Ranker,
    store: Store,
    policy_kinds: PolicyKinds,
    settings: TrialSettings,
    other: Ranker | None,
    *,
    said: Mapping[str, str],
) -> int:
    """Begin a trial; its number. `other` is the ranker of arm B, if it is one; `said`: who and why."""
    if settings.policy is not None:  # with every default, so that it stays what it is today
        policy = build_policy(settings.policy, policy_kinds)
        settings = structs.replace(settings, policy=write_name(policy, defaults=True))
    _check_arms(ranker, settings, other, policy_kinds)
    at = ranker.now()
    model = other.view.model.version if other else 0

    def job(transaction: Transaction) -> int:
        configuration = ranker.within(transaction)
        _check_free(ranker.name, configuration)
        body = {
            "settings": settings.to_json(),
            "rules": configuration.settings_version,
            "model": model,
            **said,
        }
        decision = Decision(at=transaction.time(at), ranker=ranker.name, kind="trial", body=body)
        return transaction.append(decision)

    number = write(store, job)
    ranker.refresh()
    return number


def stop(ranker: Ranker, store: Store, number: int, *, reason: str, by: str = "") -> TrialReport:
    """End a trial; what it has shown is kept, also if its lists are discarded one day."""
    trial = ranker.refresh().trial
    if trial is None or trial.number != number:
        raise RequestError(f"trial {number} of {ranker.name!r} does not run: nothing is to be stopped")
    _keep(ranker, store, trial, {"reason": reason, **sign_decision(by, reason)})
    return numbered_report(ranker, store, number)


def keep_findings(ranker: Ranker, store: Store, base: int) -> None:
    """Write down what trials have shown whose lists before an entry are about to be discarded."""
    told = {each.body["trial"] for each in store.read_decisions(ranker.name, kinds=("trial_stop",))}
    for trial in trials_of(store.read_decisions(ranker.name)):
        if ranker.history.first_entry() <= trial.number < base and trial.number not in told:
            _keep(ranker, store, trial, {"reason": trial.reason or "lists of its time were discarded"})


def _keep(ranker: Ranker, store: Store, trial: Trial, said: Mapping[str, str]) -> None:
    """The decision that ends a trial, if it runs, and has its findings."""
    found = report(ranker, store, trial)
    kept = replace(found, points=(), runs=False, reason=said["reason"], complete=False)
    ranker.decide("trial_stop", trial=trial.number, report=msgspec.to_builtins(kept), **said)


def _check_arms(
    ranker: Ranker, settings: TrialSettings, other: Ranker | None, policy_kinds: PolicyKinds
) -> None:
    if other is ranker:
        raise RequestError("arm B must be something else than the ranker itself: name another one")
    if ranker.broken or (other is not None and other.broken):
        raise RequestError("a ranker that is broken cannot be compared: see /v1/doctor")
    own = ranker.settings
    if settings.policy is not None:
        check_policy_can_serve(own.with_policy(settings.policy), policy_kinds)
    if settings.kind != "interleave":
        return
    binding = [each.name for each in ranker.history.registry.extensions if each.binds_order(own)]
    if binding:
        raise RequestError(
            f"lists under {', '.join(binding)} cannot be interleaved: the list of both arms would not keep "
            "to it. Compare by a holdout"
        )


def _check_free(ranker: str, configuration: Configuration) -> None:
    trial: Trial | None = configuration.extension_states.get("trial")
    if trial is not None and trial.runs:
        raise ConflictError(f"trial {trial.number} of {ranker!r} still runs: stop it first")
    if configuration.mode not in RANKS:
        raise RequestError(
            f"in mode {configuration.mode} all lists are the caller's: nothing can be compared"
        )
    if configuration.problem:
        raise RequestError(f"the settings of {ranker!r} cannot be read: {configuration.problem}")


def refuse_if_needed(rankers: Mapping[str, Ranker], name: str) -> None:
    """Refuse to discard the past of a ranker while it is arm B of a trial that runs."""
    for each in rankers.values():
        trial = each.view.trial
        if trial is not None and trial.settings.ranker == name:
            raise HistoryError(
                f"trial {trial.number} of {each.name!r} runs against {name!r} as it was: stop it first"
            )
