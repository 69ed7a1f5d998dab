"""WHO proposes: proposers, what they are told, and what they answer."""

from autoindex_pyserini.agents.evidence import evidence
from autoindex_pyserini.agents.operators import OperatorProposer
from autoindex_pyserini.agents.profile import profile
from autoindex_pyserini.agents.proposer import (
    Brief,
    CollectionProfile,
    FieldEvidence,
    FieldProfile,
    HeadingProfile,
    Proposal,
    Proposer,
    ProposerError,
    Trial,
)

__all__ = [
    "Brief",
    "CollectionProfile",
    "FieldEvidence",
    "FieldProfile",
    "HeadingProfile",
    "OperatorProposer",
    "Proposal",
    "Proposer",
    "ProposerError",
    "Trial",
    "evidence",
    "profile",
]
