"""Ranking service: rank, record, learn, explain, audit, replay, roll back; in your process or over HTTP."""

from rankloop.service.errors import HistoryError
from rankloop.service.events.event import Receipt, UserEvent
from rankloop.service.fair import FairSettings
from rankloop.service.learning.model import Model
from rankloop.service.operations.audit import Audit, Replay
from rankloop.service.operations.explain import Explanation
from rankloop.service.operations.jobs import JobReport
from rankloop.service.operations.past_lists import PastList
from rankloop.service.operations.promises import PromiseReport
from rankloop.service.operations.retention import Retained
from rankloop.service.operations.settled import SettledPairs
from rankloop.service.operations.status import Health, RankerHealth, RankerInfo
from rankloop.service.operations.trials import OutcomeReport, TrialReport
from rankloop.service.operations.what_if import WhatIf
from rankloop.service.promise import PromiseSettings
from rankloop.service.recommending.interview import Interview
from rankloop.service.recommending.request import RecommendRequest
from rankloop.service.recommending.response import PastReasons, Recommendation, RecommenderInfo
from rankloop.service.service import RankingService
from rankloop.service.serving.candidates import Candidates, columns
from rankloop.service.serving.request import RankRequest
from rankloop.service.serving.response import Provenance, RankResponse, Result
from rankloop.service.serving.serve import Draft
from rankloop.service.settings import Mode, RankerSettings, Scaling
from rankloop.service.trial import Trial, TrialSettings

__all__ = [
    "Audit",
    "Candidates",
    "Draft",
    "Explanation",
    "FairSettings",
    "Health",
    "HistoryError",
    "Interview",
    "JobReport",
    "Mode",
    "Model",
    "OutcomeReport",
    "PastList",
    "PastReasons",
    "PromiseReport",
    "PromiseSettings",
    "Provenance",
    "RankRequest",
    "RankResponse",
    "RankerHealth",
    "RankerInfo",
    "RankerSettings",
    "RankingService",
    "Receipt",
    "RecommendRequest",
    "Recommendation",
    "RecommenderInfo",
    "Replay",
    "Result",
    "Retained",
    "Scaling",
    "SettledPairs",
    "Trial",
    "TrialReport",
    "TrialSettings",
    "UserEvent",
    "WhatIf",
    "columns",
]
