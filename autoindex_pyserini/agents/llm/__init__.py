"""AutoIndex's two agents, on any OpenAI-compatible endpoint."""

from autoindex_pyserini.agents.llm.client import ModelClient
from autoindex_pyserini.agents.llm.estimate import estimate
from autoindex_pyserini.agents.llm.exchanges import Exchanges
from autoindex_pyserini.agents.llm.proposer import LanguageModelProposer

__all__ = ["Exchanges", "LanguageModelProposer", "ModelClient", "estimate"]
