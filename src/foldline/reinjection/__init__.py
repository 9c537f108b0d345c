"""What a compaction puts back into view: files, the plan, and what is being worked on."""
