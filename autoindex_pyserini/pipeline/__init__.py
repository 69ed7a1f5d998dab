"""One program's life, from source to evaluation; the loop, the baselines and the commands all use it."""

from autoindex_pyserini.pipeline.document_store import DocumentStore, UnknownReferenceError
from autoindex_pyserini.pipeline.grep import Match, Matches, PatternError
from autoindex_pyserini.pipeline.inspection import IndexView, Ranked
from autoindex_pyserini.pipeline.outcome import Costs, Outcome, read_outcome, write_outcome
from autoindex_pyserini.pipeline.pipeline import Documents, Pipeline, Progress
from autoindex_pyserini.pipeline.tuning import Tunable, Tuned, Tuning, even_weights, tune

__all__ = [
    "Costs",
    "DocumentStore",
    "Documents",
    "IndexView",
    "Match",
    "Matches",
    "Outcome",
    "PatternError",
    "Pipeline",
    "Progress",
    "Ranked",
    "Tunable",
    "Tuned",
    "Tuning",
    "UnknownReferenceError",
    "even_weights",
    "read_outcome",
    "tune",
    "write_outcome",
]
