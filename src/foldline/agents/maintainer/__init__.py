"""
The codebase maintainer: an agent that explores, analyzes and plans over days.

    with CodebaseMaintainer("shop", "./shop", llm=model("anthropic:claude-sonnet-4-5")) as one:
        print(one.explore())
        print(one.plan_next_steps())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.agents.maintainer.conflicts import RecordConflict
    from foldline.agents.maintainer.exploration import ExplorationBudget, Probe, Trail
    from foldline.agents.maintainer.knowledge import Layer, route
    from foldline.agents.maintainer.maintainer import CodebaseMaintainer
    from foldline.agents.maintainer.questions import Mode
    from foldline.agents.maintainer.refactor.assistant import RefactoringAssistant
    from foldline.agents.maintainer.survey import CodebaseSurvey, SurveySettings

_HOMES = {
    "ExplorationBudget": "exploration",
    "CodebaseMaintainer": "maintainer",
    "RecordConflict": "conflicts",
    "Layer": "knowledge",
    "Mode": "questions",
    "Probe": "exploration",
    "RefactoringAssistant": "refactor.assistant",
    "CodebaseSurvey": "survey",
    "SurveySettings": "survey",
    "Trail": "exploration",
    "route": "knowledge",
}

__all__ = [
    "CodebaseMaintainer",
    "CodebaseSurvey",
    "ExplorationBudget",
    "Layer",
    "Mode",
    "Probe",
    "RecordConflict",
    "RefactoringAssistant",
    "SurveySettings",
    "Trail",
    "route",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
