"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.notes.consolidation import Consolidation as Consolidation
from foldline.notes.consolidation import UndoReport as UndoReport
from foldline.notes.consolidation_plan import ConsolidationPlan as ConsolidationPlan
from foldline.notes.consolidation_plan import LevelSettings as LevelSettings
from foldline.notes.note import KINDS as KINDS
from foldline.notes.note import LEVELS as LEVELS
from foldline.notes.note import RELEVANCE as RELEVANCE
from foldline.notes.note import STATUSES as STATUSES
from foldline.notes.note import BrokenNote as BrokenNote
from foldline.notes.note import CyclicTasks as CyclicTasks
from foldline.notes.note import Note as Note
from foldline.notes.note import NoteConflict as NoteConflict
from foldline.notes.note import NoteMetadata as NoteMetadata
from foldline.notes.note import SkippedFile as SkippedFile
from foldline.notes.note import UnknownNote as UnknownNote
from foldline.notes.note_store import NoteLimits as NoteLimits
from foldline.notes.note_store import Version as Version
from foldline.notes.notes import Notes as Notes
from foldline.notes.search import FoundNote as FoundNote
from foldline.notes.search import NotePacket as NotePacket
from foldline.notes.search import NoteSummary as NoteSummary
from foldline.notes.task_graph import TaskGraph as TaskGraph
from foldline.notes.task_graph import TaskState as TaskState
from foldline.notes.tasks import NoteTasks as NoteTasks
from foldline.notes.tasks import RunReport as RunReport
from foldline.notes.tasks import Schedule as Schedule

__all__: list[str]
