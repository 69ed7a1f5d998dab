"""The rows of a comparison: several rankings of one split's queries, what each is, and what it cost."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from autoindex_pyserini.errors import EvaluationError
from autoindex_pyserini.evaluation.significance import TIE, Procedure
from autoindex_pyserini.files import write_atomically
from autoindex_pyserini.types import Evaluation

FORMAT = 1


class RowCosts(msgspec.Struct, frozen=True, kw_only=True):
    """What a row took. Seconds are wall-clock and differ from machine to machine; None: not measured.

    Attributes:
        index_bytes: size of the index on disk, in bytes.
        index_seconds: making the passages and indexing them, or encoding them.
        search_seconds: searching all topics.
        passages_per_document: passages indexed, divided by documents.
    """

    index_bytes: int | None = None
    index_seconds: float | None = None
    search_seconds: float | None = None
    passages_per_document: float | None = None


class ComparisonRow(msgspec.Struct, frozen=True, kw_only=True):
    """One ranking of the split's queries.

    Attributes:
        name: unique in its comparison.
        evaluation: its measures, mean and per query.
        program: id of the representation program; empty where there is none.
        retriever: what ranks, such as ``BM25``, ``BM25F``, ``dense`` or ``reciprocal rank fusion``.
        parameters: of the retriever, by name, in the order in which they are shown.
        analyzer: what the analyzer does, in words; empty where none is used.
        encoder: the encoder of a dense retriever; empty otherwise.
        costs: bytes, seconds, passages.
        run_file: name of the TREC run with this ranking; empty if none was written.
    """

    name: str
    evaluation: Evaluation
    program: str = ""
    retriever: str = ""
    parameters: dict[str, str | int | float | bool] = {}
    analyzer: str = ""
    encoder: str = ""
    costs: RowCosts = RowCosts()
    run_file: str = ""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Rows over the same queries, one of them the reference.

    It holds what was measured; `assess` says what may be concluded from it.

    Attributes:
        format: version of the file's layout.
        collection: the collection's name.
        split: ``validation`` or ``test``.
        queries: number of judged queries, the same ones in every row.
        reference: name of the row that the others are compared with.
        measures: ir_measures names, in the order in which they are shown.
        rows: in the order in which they are shown.
        procedure: how differences are judged.
        seeds: of whatever else was left to chance, such as tuning, by name.
        versions: of the software.

    Raises:
        EvaluationError: no row, no measure, a name twice, an unknown reference, or a row that lacks a measure
            or a query, has others, has a value that is not finite, or a mean that is not its values'.
    """

    format: int = FORMAT
    collection: str
    split: str
    queries: int
    reference: str
    measures: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]
    procedure: Procedure = Procedure()
    seeds: dict[str, int] = {}
    versions: dict[str, str] = {}

    def __post_init__(self) -> None:
        names = [row.name for row in self.rows]
        if not self.measures or not names:
            raise EvaluationError("nothing to compare; give at least one row and one measure")
        for values in (names, self.measures):
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                raise EvaluationError(f"{twice!r} stands twice in the comparison; names are unique")
        if self.reference not in names:
            raise EvaluationError(
                f"no row {self.reference!r} to compare with; the reference is one of {', '.join(names)}"
            )
        for row in self.rows:
            for measure in self.measures:
                self._check(row, measure)

    def _check(self, row: ComparisonRow, measure: str) -> None:
        """Check one row's values of one measure against the reference's queries."""
        values, place = row.evaluation.per_query.get(measure), f"row {row.name!r}, {measure}"
        if values is None or measure not in row.evaluation.means:
            raise EvaluationError(f"{place}: not measured; evaluate all rows with the same measures")
        expected = self.row(self.reference).evaluation.per_query.get(measure, values)
        odd = sorted(values.keys() ^ expected.keys())
        if odd:
            raise EvaluationError(
                f"{place}: not the same queries as {self.reference!r} ({len(values)} and {len(expected)}; "
                f"{odd[0]!r} is in one of them only); evaluate all rows on one split"
            )
        if len(values) != self.queries or not values:
            raise EvaluationError(
                f"{place}: {len(values)} queries, and the comparison is said to have {self.queries}"
            )
        bad = next((qid for qid, value in values.items() if not math.isfinite(value)), None)
        if bad is not None:
            raise EvaluationError(
                f"{place}: query {bad!r} has the value {values[bad]}; values are finite numbers"
            )
        mean = math.fsum(values.values()) / len(values)
        if not abs(mean - row.evaluation.means[measure]) <= TIE:
            raise EvaluationError(
                f"{place}: the mean is given as {row.evaluation.means[measure]}, and its queries' values "
                f"have the mean {mean}; evaluate the row again"
            )

    def row(self, name: str) -> ComparisonRow:
        """The row of this name.

        Raises:
            EvaluationError: there is none.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise EvaluationError(f"no row {name!r}; there are {', '.join(row.name for row in self.rows)}")


def write_comparison(path: Path, comparison: Comparison) -> None:
    """Write a comparison as JSON, in one step: the file is whole or absent.

    Raises:
        OSError: the disk is full or not writable.
    """
    write_atomically(path, msgspec.json.encode(comparison) + b"\n")


def read_comparison(path: Path) -> Comparison:
    """Read what `write_comparison` wrote.

    Raises:
        EvaluationError: the file is missing, damaged, of a later format, or its rows do not fit together.
    """
    try:
        data = path.read_bytes()
        layout = msgspec.json.decode(data, type=_Layout).format
        if layout > FORMAT:
            raise EvaluationError(
                f"{path} has format {layout}, and this version reads up to {FORMAT}; "
                "upgrade autoindex_pyserini"
            )
        return msgspec.json.decode(data, type=Comparison)
    except FileNotFoundError:
        raise EvaluationError(f"{path} does not exist; give a file that a comparison was saved in") from None
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise EvaluationError(f"{path}: {error}; make the comparison again") from error


class _Layout(msgspec.Struct):
    """What a file of any format tells."""

    format: int
