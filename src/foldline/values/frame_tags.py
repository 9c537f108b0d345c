"""The tags of the frames that agents add around the words of a user, by what they hold."""

from __future__ import annotations

from typing import Final

RULES: Final = frozenset(
    {
        *("user_instructions", "INSTRUCTIONS", "project_instructions", "user_rules"),
        *("cursor_rules", "always_applied_workspace_rules", "REPOSITORY_INSTRUCTIONS"),
    }
)
SUMMARIES: Final = frozenset({"state_snapshot", "CONVERSATION SUMMARY", "conversation_summary"})
WORDS: Final = frozenset({"command-name", "command-args", "bash-input"})
_CLAUDE_CODE: Final = (
    *("system-reminder", "user-prompt-submit-hook", "session-start-hook", "task-notification"),
    *("local-command-caveat", "local-command-stdout", "local-command-stderr", "command-message"),
    *("command-contents", "bash-stdout", "bash-stderr", "ide_opened_file", "ide_selection"),
    "ide_diagnostics",
)
_CODEX: Final = (
    *("environment_context", "permissions instructions", "skills_instructions", "app-context"),
    *("plugins_instructions", "apps_instructions", "collaboration_mode", "multi_agent_mode"),
    *("recommended_plugins", "personality_spec", "model_switch", "turn_aborted", "user_action"),
    *("subagent_notification", "user_shell_command", "skill"),
)
_OTHERS: Final = (
    *("session_context", "environment_details", "file", "file_content", "file_contents"),
    *("folder_content", "attachment", "attachments", "attached_files", "uploaded_files"),
    *("open_and_recently_viewed_files", "additional_data", "project_layout", "user_info"),
    *("git_status", "editorContext", "reminderInstructions", "repoContext", "workspace_info"),
    *("environment_info", "RUNTIME_INFORMATION", "REPOSITORY_INFO", "EXTRA_INFO", "info-msg"),
    "system-notification",
)
"""Tags of Gemini CLI, Cline, Cursor, Copilot, deer-flow, OpenHands, and around attached files."""

DOCUMENTS: Final = frozenset((*_CLAUDE_CODE, *_CODEX, *_OTHERS))
