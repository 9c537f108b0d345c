"""Readers for the files in which agents keep their sessions, one file each."""
