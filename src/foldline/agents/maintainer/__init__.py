"""
The codebase maintainer: an agent that explores, analyzes and plans over days.

    with CodebaseMaintainer("shop", "./shop", llm=model("anthropic:claude-sonnet-4-5")) as one:
        print(one.explore())
        print(one.plan_next_steps())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import export_lazily

if TYPE_CHECKING:
    from foldline.agents.maintainer.conflicts import RecordConflict as RecordConflict
    from foldline.agents.maintainer.exploration import ExplorationBudget as ExplorationBudget
    from foldline.agents.maintainer.exploration import Probe as Probe
    from foldline.agents.maintainer.exploration import Trail as Trail
    from foldline.agents.maintainer.knowledge import Layer as Layer
    from foldline.agents.maintainer.knowledge import route as route
    from foldline.agents.maintainer.maintainer import CodebaseMaintainer as CodebaseMaintainer
    from foldline.agents.maintainer.questions import Mode as Mode
    from foldline.agents.maintainer.refactor.assistant import (
        RefactoringAssistant as RefactoringAssistant,
    )
    from foldline.agents.maintainer.survey import CodebaseSurvey as CodebaseSurvey
    from foldline.agents.maintainer.survey import SurveySettings as SurveySettings

__getattr__, __dir__, __all__ = export_lazily(__name__)
