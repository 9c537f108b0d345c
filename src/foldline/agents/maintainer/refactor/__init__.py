"""Refactoring step by step: planned in notes, approved, checked, and taken back where it fails."""
