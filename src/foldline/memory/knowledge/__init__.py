"""
Knowledge: documents in chunks, searched and cited with their source.

    from foldline.memory.knowledge import Knowledge

    with Knowledge.open("knowledge.db") as knowledge:
        knowledge.add("docs/")
        for passage in knowledge.search("how are retries limited?"):
            print(passage.source, passage.text)
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
