"""
Measure what Foldline keeps, breaks and costs, on recorded sessions.

`foldline bench` is the command over it. The measure is future use: at a cut in a session, of the
identifiers that the assistant used afterwards without seeing them again, how many does the
compacted history still contain?
"""
