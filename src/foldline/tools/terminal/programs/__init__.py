"""The options each program may have: a table for most, a checker for those with a language."""
