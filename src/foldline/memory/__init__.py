"""
Memory that persists between conversations, and a knowledge base of documents.

    from foldline.memory import Knowledge, Memory
    memory = Memory.open("memory.db", user="ann")
    knowledge = Knowledge.open("knowledge.db")
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
