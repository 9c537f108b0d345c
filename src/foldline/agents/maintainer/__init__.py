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
    from foldline.agents.maintainer.conflicts import Conflict
    from foldline.agents.maintainer.guidance import Budget, Probe, Trail
    from foldline.agents.maintainer.maintainer import CodebaseMaintainer
    from foldline.agents.maintainer.modes import Mode
    from foldline.agents.maintainer.refactor.assistant import RefactoringAssistant
    from foldline.agents.maintainer.routing import Layer, route
    from foldline.agents.maintainer.survey import Survey, SurveySettings

_HOMES = {
    "Budget": "guidance",
    "CodebaseMaintainer": "maintainer",
    "Conflict": "conflicts",
    "Layer": "routing",
    "Mode": "modes",
    "Probe": "guidance",
    "RefactoringAssistant": "refactor.assistant",
    "Survey": "survey",
    "SurveySettings": "survey",
    "Trail": "guidance",
    "route": "routing",
}

__all__ = [
    "Budget",
    "CodebaseMaintainer",
    "Conflict",
    "Layer",
    "Mode",
    "Probe",
    "RefactoringAssistant",
    "Survey",
    "SurveySettings",
    "Trail",
    "route",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
