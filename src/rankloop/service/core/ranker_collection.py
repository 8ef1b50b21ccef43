"""Rankers of a service, by name: created, configured and told to learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from rankloop.naming import write_name
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import BaseRankerSettings, Mode
from rankloop.service.core.settings_change import SettingsPreview

if TYPE_CHECKING:
    from rankloop.service.service_facade import ServiceFacade


@dataclass(frozen=True, slots=True, eq=False)
class RankerInfo:
    """A ranker as of now."""

    name: str
    policy: str  # by name
    mode: Mode
    settings: BaseRankerSettings
    settings_version: int
    model_version: int
    features: tuple[str, ...]  # by column

    @classmethod
    def of(cls, ranker: Ranker) -> Self:
        """What is in force, as of one moment."""
        configuration, model = ranker.view.configuration, ranker.view.model
        return cls(
            name=ranker.name,
            policy=write_name(configuration.policy),
            mode=configuration.mode,
            settings=configuration.settings,
            settings_version=configuration.settings_version,
            model_version=model.version,
            features=tuple(configuration.schema.columns),
        )


class Rankers:
    """Rankers of a service, as `service.rankers`.

    Each decision is written to the log with who decided it (`by`, as a rule the name of a key) and why
    (`reason`).
    """

    def __init__(self, facade: ServiceFacade) -> None:
        self._facade = facade

    def create(
        self,
        ranker: str,
        settings: BaseRankerSettings | None = None,
        *,
        mode: Mode = "explore",
        by: str = "",
        reason: str = "",
    ) -> None:
        """Create a ranker; nothing happens if it exists with the same settings."""
        self._facade.create(ranker, settings, mode=mode, by=by, reason=reason)

    def names(self) -> Sequence[str]:
        """Return the names of the rankers, in alphabetical order."""
        return self._facade.rankers()

    def describe(self, ranker: str) -> RankerInfo:
        """Return the policy, mode, settings, version and features of a ranker, as of one moment."""
        return RankerInfo.of(self._facade.ranker(ranker))

    def configure(
        self,
        ranker: str,
        settings: BaseRankerSettings,
        *,
        version: int | None = None,
        by: str = "",
        reason: str = "",
    ) -> int:
        """Replace the settings of a ranker; return their version.

        With a `version`, the change is refused unless that version is in force: nobody overwrites the change
        of somebody else. `service.jobs.relearn` replaces the settings and learns the log again under them.
        """
        return self._facade.configure(ranker, settings, version=version, by=by, reason=reason)

    def preview(self, ranker: str, settings: BaseRankerSettings, *, relearn: bool = False) -> SettingsPreview:
        """Return what these settings would change, and what would be lost; changes nothing."""
        return self._facade.preview(ranker, settings, relearn=relearn)

    def merge_settings(self, ranker: str, patch: Mapping[str, Any]) -> BaseRankerSettings:
        """Return the settings in force with some of them changed, by a JSON merge patch; changes nothing."""
        return self._facade.patched(ranker, patch)

    def set_mode(self, ranker: str, mode: Mode, *, by: str = "", reason: str = "") -> int:
        """Change the mode of a ranker; it is in force when this returns."""
        return self._facade.set_mode(ranker, mode, by=by, reason=reason)

    def flush(self, ranker: str) -> None:
        """Close all open lists now and learn from them; later clicks on them are late."""
        self._facade.flush(ranker)
