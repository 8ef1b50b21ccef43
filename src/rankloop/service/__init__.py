"""Ranking service: rank, record, learn, explain, audit, replay, roll back; in your process or over HTTP."""

from rankloop.service.core.grades import GradeSettings
from rankloop.service.core.list_service import Lists
from rankloop.service.core.lists.candidate_columns import Candidates, columns
from rankloop.service.core.lists.make_list import MadeList
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.lists.rank_response import Provenance, RankResponse, Result
from rankloop.service.core.lists.replay import Audit, Replay
from rankloop.service.core.model import Model
from rankloop.service.core.ranker_collection import RankerInfo, Rankers
from rankloop.service.core.ranker_settings import ClientLimit, Mode, Scaling
from rankloop.service.events.events import Events
from rankloop.service.events.imported_lists import ImportedList
from rankloop.service.events.user_event import Receipt, UserEvent
from rankloop.service.extensions.promise.report import PromiseReport
from rankloop.service.extensions.recommend.recommend_request import RecommendRequest
from rankloop.service.extensions.recommend.recommend_response import (
    PastReasons,
    Recommendation,
    RecommenderInfo,
)
from rankloop.service.extensions.recommend.recommendations import Recommendations
from rankloop.service.extensions.settings import (
    FairSettings,
    GuardrailSettings,
    PromiseSettings,
    RankerSettings,
)
from rankloop.service.extensions.trial.report import OutcomeReport, TrialReport
from rankloop.service.extensions.trial.trial_state import Trial, TrialSettings
from rankloop.service.extensions.trial.trials import Trials
from rankloop.service.operations.job_runner import Jobs
from rankloop.service.operations.jobs import JobReport
from rankloop.service.operations.people import People
from rankloop.service.operations.retention import Retained, Retention
from rankloop.service.reports.health import Health, RankerHealth
from rankloop.service.reports.pair_explanation import Explanation
from rankloop.service.reports.policy_evaluation import WhatIf
from rankloop.service.reports.report_registry import Reports
from rankloop.service.reports.settled_pairs import SettledPairs
from rankloop.service.service import RankingService
from rankloop.service.service_errors import HistoryError

__all__ = [
    "Audit",
    "Candidates",
    "ClientLimit",
    "Events",
    "Explanation",
    "FairSettings",
    "GradeSettings",
    "GuardrailSettings",
    "Health",
    "HistoryError",
    "ImportedList",
    "JobReport",
    "Jobs",
    "Lists",
    "MadeList",
    "Mode",
    "Model",
    "OutcomeReport",
    "PastReasons",
    "People",
    "PromiseReport",
    "PromiseSettings",
    "Provenance",
    "RankRequest",
    "RankResponse",
    "RankerHealth",
    "RankerInfo",
    "RankerSettings",
    "Rankers",
    "RankingService",
    "Receipt",
    "RecommendRequest",
    "Recommendation",
    "Recommendations",
    "RecommenderInfo",
    "Replay",
    "Reports",
    "Result",
    "Retained",
    "Retention",
    "Scaling",
    "SettledPairs",
    "Trial",
    "TrialReport",
    "TrialSettings",
    "Trials",
    "UserEvent",
    "WhatIf",
    "columns",
]
