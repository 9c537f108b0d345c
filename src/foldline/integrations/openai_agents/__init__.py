"""OpenAI Agents: a session that keeps everything and gives the model a view that fits."""

from foldline.integrations.openai_agents.running import FoldlineModel, run_config
from foldline.integrations.openai_agents.session import FoldlineSession

__all__ = ["FoldlineModel", "FoldlineSession", "run_config"]
