"""What each program may be told: a table for most of them, a checker for those with a language."""
