"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.agents.maintainer.conflicts import RecordConflict as RecordConflict
from foldline.agents.maintainer.exploration import ExplorationBudget as ExplorationBudget
from foldline.agents.maintainer.exploration import Probe as Probe
from foldline.agents.maintainer.exploration import Trail as Trail
from foldline.agents.maintainer.knowledge import Layer as Layer
from foldline.agents.maintainer.knowledge import route as route
from foldline.agents.maintainer.maintainer import CodebaseMaintainer as CodebaseMaintainer
from foldline.agents.maintainer.questions import Mode as Mode
from foldline.agents.maintainer.refactoring import (
    RefactoringAssistant as RefactoringAssistant,
)
from foldline.agents.maintainer.survey import CodebaseSurvey as CodebaseSurvey
from foldline.agents.maintainer.survey import SurveySettings as SurveySettings

__all__: list[str]
