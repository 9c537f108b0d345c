"""
What Foldline keeps, breaks and costs, measured on recorded sessions.

`foldline bench` is the command over it. The measure is future use: at a cut in a session, of the
identifiers that the assistant went on to use without being told again, how many does the
compacted history still hold?
"""
