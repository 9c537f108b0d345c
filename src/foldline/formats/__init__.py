"""Wire formats and transcript files: everything between bytes and `Transcript`."""
