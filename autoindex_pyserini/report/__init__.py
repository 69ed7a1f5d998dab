"""What people look at: tables and examples made from results that are already computed."""

from autoindex_pyserini.report.examples import Example, examples
from autoindex_pyserini.report.history import history_plot, journal_summary
from autoindex_pyserini.report.tables import describe_retriever, journal_row, results_table, run_table

__all__ = [
    "Example",
    "describe_retriever",
    "examples",
    "history_plot",
    "journal_row",
    "journal_summary",
    "results_table",
    "run_table",
]
