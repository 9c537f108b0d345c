"""The allowed options of programs: a table for most, a checker for those with a language."""
