"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.context.assembly import Stages as Stages
from foldline.context.builder import Context as Context
from foldline.context.builder import ContextBuilder as ContextBuilder
from foldline.context.comparison import Case as Case
from foldline.context.comparison import ContextComparison as ContextComparison
from foldline.context.comparison import acompare as acompare
from foldline.context.comparison import compare as compare
from foldline.context.packets import ContextPacket as ContextPacket
from foldline.context.packets import HistoryMessage as HistoryMessage
from foldline.context.prompt_lint import Problem as Problem
from foldline.context.prompt_lint import lint as lint
from foldline.context.quality import QualityReport as QualityReport
from foldline.context.quality import Verdict as Verdict
from foldline.context.quality import judge as judge
from foldline.context.settings import ContextConfig as ContextConfig
from foldline.context.sources import ContextSource as ContextSource
from foldline.context.sources import files as files
from foldline.context.sources import references as references
from foldline.context.sources import source as source

__all__: list[str]
