"""The immutable values of compaction: messages, groups, edits and views."""
