"""Files that usually hold secrets: a model may see one only after a person approves."""

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
"""Patterns of file and folder names, in lower case; ``*`` matches anything."""

SHOWABLE: Final = ("*.example", "*.sample", "*.template", "*.dist")
"""Patterns of example files, which are not sensitive."""


def is_sensitive(parts: Sequence[str], patterns: Sequence[str] = SENSITIVE) -> bool:
    """
    Return True if a path names a sensitive file.

    Args:
        parts: The components of the path.
        patterns: Patterns of file and folder names.
    """
    names = [part.casefold() for part in parts]
    if names and any(fnmatchcase(names[-1], pattern) for pattern in SHOWABLE):
        return False
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def refuse_sensitive(
    root: str, parts: Sequence[str], patterns: Sequence[str], approvals: Approvals | None
) -> ToolOutput | None:
    """
    Request an approval to read a sensitive file.

    Args:
        root: The root folder of the path.
        parts: The components of the path.
        patterns: Patterns of sensitive files.
        approvals: Approves the access; None denies it.

    Returns:
        The error output of a denial; None if approved or not sensitive.
    """
    if not is_sensitive(parts, patterns):
        return None
    path = "/".join(parts)
    reason = f"{path} may hold secrets."
    if approvals is None:
        message = f"{reason} Nobody is available to approve access."
        return ToolOutput.error(ErrorCode.NEEDS_APPROVAL, message)
    until, summary = time.time() + approvals.settings.seconds, f"show {path!r} to the model"
    request = ApprovalRequest(
        (("read", path),), summary, root, root, reason, ("secrets",), ("once", "session"), until
    )
    why = approvals.approve(request)
    return ToolOutput.error(ErrorCode.DENIED, f"{reason} {why}") if why else None
