"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.api import Compaction as Compaction
from foldline.api import compact as compact
from foldline.api import count as count
from foldline.archive import Archive as Archive
from foldline.core.asks import Ask as Ask
from foldline.core.asks import Reply as Reply
from foldline.core.budget import Budget as Budget
from foldline.core.config import Config as Config
from foldline.core.limits import Limits as Limits
from foldline.core.strategy import Policy as Policy
from foldline.engine.policies import policy as policy
from foldline.engine.receipt import Receipt as Receipt
from foldline.errors import BudgetError as BudgetError
from foldline.errors import CannotFit as CannotFit
from foldline.errors import ContextOverflow as ContextOverflow
from foldline.errors import FoldlineError as FoldlineError
from foldline.errors import InputError as InputError
from foldline.errors import MissingExtra as MissingExtra
from foldline.errors import ModelError as ModelError
from foldline.errors import RecallError as RecallError
from foldline.errors import StoreError as StoreError
from foldline.errors import UnknownFormat as UnknownFormat
from foldline.session import Session as Session
from foldline.session.hooks import Cancel as Cancel
from foldline.session.hooks import Hooks as Hooks
from foldline.settings import load_config as load_config
from foldline.telemetry.spans import Telemetry as Telemetry
from foldline.telemetry.trace import Trace as Trace

__version__: str
__all__: list[str]
