"""What can be said about a codebase without a model: counted, not guessed."""

from foldline.agents.maintainer.survey.codebase import (
    CodebaseSurvey,
    SurveySettings,
    survey_codebase,
)
from foldline.agents.maintainer.survey.markdown import render_survey

__all__ = ["CodebaseSurvey", "SurveySettings", "render_survey", "survey_codebase"]
