"""One program's life, from source to evaluation; the loop, the baselines and the commands all use it."""

from autoindex_pyserini.pipeline.outcome import Costs, Outcome, read_outcome, write_outcome
from autoindex_pyserini.pipeline.pipeline import Documents, Pipeline, Progress

__all__ = ["Costs", "Documents", "Outcome", "Pipeline", "Progress", "read_outcome", "write_outcome"]
