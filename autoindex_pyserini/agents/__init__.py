"""WHO proposes: proposers, what they are told, and what they answer."""

from autoindex_pyserini.agents.evidence import evidence
from autoindex_pyserini.agents.operators import OperatorProposer
from autoindex_pyserini.agents.parse import is_rendered
from autoindex_pyserini.agents.profile import profile
from autoindex_pyserini.agents.proposer import (
    AgentCost,
    Answer,
    Brief,
    BudgetSpentError,
    Case,
    CollectionProfile,
    FieldEvidence,
    FieldProfile,
    HeadingProfile,
    Proposal,
    Proposer,
    ProposerError,
    RequestCancelledError,
    Tool,
    Trial,
    Workbench,
)

__all__ = [
    "AgentCost",
    "Answer",
    "Brief",
    "BudgetSpentError",
    "Case",
    "CollectionProfile",
    "FieldEvidence",
    "FieldProfile",
    "HeadingProfile",
    "OperatorProposer",
    "Proposal",
    "Proposer",
    "ProposerError",
    "RequestCancelledError",
    "Tool",
    "Trial",
    "Workbench",
    "evidence",
    "is_rendered",
    "profile",
]
