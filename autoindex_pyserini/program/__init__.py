"""WHAT is learned: representation programs, their contract, their static checks, the built-in ones."""

from autoindex_pyserini.program.checks import check
from autoindex_pyserini.program.contract import CorpusStatistics, RawDocument
from autoindex_pyserini.program.natural_fields import natural_fields_program
from autoindex_pyserini.program.program import Program, builtin_names

__all__ = ["CorpusStatistics", "Program", "RawDocument", "builtin_names", "check", "natural_fields_program"]
