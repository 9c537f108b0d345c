"""Files that hold secrets as a rule: a person is asked before a model is shown one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from foldline.tools.approvals import ApprovalRequest, Approvals
from foldline.tools.output import ErrorCode, ToolOutput

SENSITIVE: Final = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", ".pgpass", ".npmrc", ".pypirc"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials", "credentials.json"),
    *(".git-credentials", ".htpasswd", "secrets.*", "*.tfvars", ".ssh", ".aws", ".gnupg"),
)
"""Names of files and folders, in small letters; ``*`` stands for anything."""

SHOWABLE: Final = ("*.example", "*.sample", "*.template", "*.dist")
"""Names that hold examples instead."""


def is_sensitive(parts: Sequence[str], patterns: Sequence[str] = SENSITIVE) -> bool:
    """
    Return True if a path is of a file that a person is to be asked about.

    Args:
        parts: The folders and the name.
        patterns: Names of files and folders.
    """
    names = [part.casefold() for part in parts]
    if names and any(fnmatchcase(names[-1], pattern) for pattern in SHOWABLE):
        return False
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def refuse_sensitive(
    root: str, parts: Sequence[str], patterns: Sequence[str], approvals: Approvals | None
) -> ToolOutput | None:
    """
    Ask whether a sensitive file may be shown.

    Args:
        root: The folder that the path lies in.
        parts: The path.
        patterns: Which files are sensitive.
        approvals: Who is asked; None is a no.

    Returns:
        Why the file is not shown; None where it may be, or need not be asked about.
    """
    if not is_sensitive(parts, patterns):
        return None
    path = "/".join(parts)
    reason = f"{path} may hold secrets."
    if approvals is None:
        message = f"{reason} Nobody is here who could approve that it is shown."
        return ToolOutput.error(ErrorCode.NEEDS_APPROVAL, message)
    until, summary = time.time() + approvals.settings.seconds, f"show {path!r} to the model"
    request = ApprovalRequest(
        (("read", path),), summary, root, root, reason, ("secrets",), ("once", "session"), until
    )
    why = approvals.approve(request)
    return ToolOutput.error(ErrorCode.DENIED, f"{reason} {why}") if why else None
