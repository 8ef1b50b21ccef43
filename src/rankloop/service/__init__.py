"""Ranking as a service, without HTTP: rank, record, explain, audit, replay, roll back."""

from rankloop.service.answer import Made, RankedList, Result
from rankloop.service.audit import Audit, Replay
from rankloop.service.events import Receipt, UserEvent
from rankloop.service.explain import Explanation
from rankloop.service.features import Candidate, RequestError
from rankloop.service.health import Health, RankerHealth
from rankloop.service.history import HistoryError
from rankloop.service.info import RankerInfo
from rankloop.service.model import Model
from rankloop.service.request import Draft
from rankloop.service.service import RankingService
from rankloop.service.settings import Mode, RankerSettings, Scaling
from rankloop.service.table import Table

__all__ = [
    "Audit",
    "Candidate",
    "Draft",
    "Explanation",
    "Health",
    "HistoryError",
    "Made",
    "Mode",
    "Model",
    "RankedList",
    "RankerHealth",
    "RankerInfo",
    "RankerSettings",
    "RankingService",
    "Receipt",
    "Replay",
    "RequestError",
    "Result",
    "Scaling",
    "Table",
    "UserEvent",
]
