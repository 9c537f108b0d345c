"""What can be said about a codebase without a model: counted, not guessed."""

from foldline.agents.maintainer.survey.codebase import CodebaseSurvey as CodebaseSurvey
from foldline.agents.maintainer.survey.codebase import SurveySettings as SurveySettings
from foldline.agents.maintainer.survey.codebase import render_survey as render_survey
from foldline.agents.maintainer.survey.codebase import survey_codebase as survey_codebase
