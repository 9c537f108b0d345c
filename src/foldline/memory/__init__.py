"""
What agents remember between conversations, and the documents that they know.

    from foldline.memory import Knowledge, Memory
    memory = Memory.open("memory.db", user="ann")
    knowledge = Knowledge.open("knowledge.db")
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
