"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.testing.checks import check_compaction as check_compaction
from foldline.testing.checks import check_policy as check_policy
from foldline.testing.checks import check_run as check_run
from foldline.testing.checks import check_transcript as check_transcript
from foldline.testing.scripted import ScriptedServer as ScriptedServer

__all__: list[str]
