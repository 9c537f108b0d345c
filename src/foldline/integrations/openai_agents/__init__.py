"""OpenAI Agents: a session that keeps everything and shows the model what fits."""

from foldline.integrations.openai_agents.running import FoldlineModel, run_config
from foldline.integrations.openai_agents.session import FoldlineSession

__all__ = ["FoldlineModel", "FoldlineSession", "run_config"]
