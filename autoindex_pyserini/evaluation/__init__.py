"""How good a run is: measures, comparison, acceptance. The only room that imports ir_measures."""

from autoindex_pyserini.evaluation.acceptance import accepts
from autoindex_pyserini.evaluation.comparison import MeasureChange, QueryChange, compare
from autoindex_pyserini.evaluation.fusion import reciprocal_rank_fusion
from autoindex_pyserini.evaluation.measures import check_measures, describe_measure, evaluate
from autoindex_pyserini.evaluation.runs import RunFormatError, write_run

__all__ = [
    "MeasureChange",
    "QueryChange",
    "RunFormatError",
    "accepts",
    "check_measures",
    "compare",
    "describe_measure",
    "evaluate",
    "reciprocal_rank_fusion",
    "write_run",
]
