"""What people look at: tables and examples made from results that are already computed."""

from autoindex_pyserini.report.agents import ablation_table, agent_table
from autoindex_pyserini.report.attempts import attempt_text
from autoindex_pyserini.report.examples import Example, examples
from autoindex_pyserini.report.history import history_plot, journal_summary
from autoindex_pyserini.report.tables import describe_retriever, event_lines, results_table, run_table

__all__ = [
    "Example",
    "ablation_table",
    "agent_table",
    "attempt_text",
    "describe_retriever",
    "event_lines",
    "examples",
    "history_plot",
    "journal_summary",
    "results_table",
    "run_table",
]
