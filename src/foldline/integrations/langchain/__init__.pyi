"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.integrations.langchain.chat_model import ChatModelSummarizer as ChatModelSummarizer
from foldline.integrations.langchain.compressor import Compressor as Compressor
from foldline.integrations.langchain.middleware import FoldlineMiddleware as FoldlineMiddleware

__all__: list[str]
