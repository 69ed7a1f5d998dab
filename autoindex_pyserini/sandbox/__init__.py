"""WHERE a program runs: confined worker processes. The only place that executes candidate code."""

from autoindex_pyserini.program.contract import CorpusStatistics
from autoindex_pyserini.sandbox.determinism import Sample, Sampled, verify_determinism
from autoindex_pyserini.sandbox.pool import Sandbox
from autoindex_pyserini.sandbox.report import Confinement, confinement_report
from autoindex_pyserini.sandbox.run import represent_all
from autoindex_pyserini.sandbox.verify import Counts

__all__ = [
    "Confinement",
    "CorpusStatistics",
    "Counts",
    "Sample",
    "Sampled",
    "Sandbox",
    "confinement_report",
    "represent_all",
    "verify_determinism",
]
