"""What can be said about a codebase without a model: counted, not guessed."""

from foldline.agents.maintainer.survey.counting import Survey, SurveySettings, survey
from foldline.agents.maintainer.survey.telling import told

__all__ = ["Survey", "SurveySettings", "survey", "told"]
