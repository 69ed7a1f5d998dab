"""`autoindex collection`: what a collection holds, and what was dropped and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, out, print_json

if TYPE_CHECKING:
    from autoindex_pyserini.collection import LoadReport

_MOST_FIELDS = 40


def collection(
    collection: options.CollectionArgument,
    validation: options.Validation = None,
    analyzer: options.Analyzer = options.ANALYZER_DEFAULT,
    json: options.Json = False,
) -> None:
    """Show a collection: documents, fields, tokens, queries, judgments, and everything that was left out."""
    from autoindex_pyserini.collection import load
    from autoindex_pyserini.lucene import corpus_statistics
    from autoindex_pyserini.settings import Execution

    with bars() as progress:
        loaded = load(collection, validation=validation, progress=progress)
        threads = Execution().worker_count
        statistics = corpus_statistics(loaded.documents(), analyzer=analyzer, threads=threads)
    report = loaded.report
    tokens = {
        "analyzer": analyzer,
        "mean": statistics.avg_tokens,
        "total": round(statistics.avg_tokens * statistics.num_docs),
        "different_words": len(statistics.document_frequencies),
    }
    if json:
        print_json(
            {"name": loaded.name, "fingerprint": loaded.fingerprint, "report": report, "tokens": tokens}
        )
        return
    out.print(f"{loaded.name}, fingerprint {loaded.fingerprint[:12]}")
    out.print(f"documents  {report.documents:,}, {report.empty_documents:,} without title and text")
    out.print(
        f"tokens     {tokens['total']:,} in titles and texts, {tokens['mean']:.1f} a document, "
        f"{tokens['different_words']:,} different words ({analyzer})"
    )
    fields = sorted(report.fields.items(), key=lambda pair: (-pair[1], pair[0]))
    for name, count in fields[:_MOST_FIELDS]:
        out.print(f"field      {name}: in {count:,} documents ({count / report.documents:.1%})")
    if len(fields) > _MOST_FIELDS:
        out.print(f"fields     {len(fields) - _MOST_FIELDS:,} rarer ones (--json lists them all)")
    out.print(
        f"queries    {report.queries:,}; " + ", ".join(f"{n:,} {split}" for split, n in report.splits.items())
    )
    grades = ", ".join(f"grade {grade}: {count:,}" for grade, count in sorted(report.grades.items()))
    out.print(f"judgments  {report.judged_pairs:,} pairs ({grades})")
    for count, what in _left_out(report):
        if count:
            out.print(f"note       {count:,} {what}")
    for note in report.notes:
        out.print(f"note       {note}")


def _left_out(report: LoadReport) -> list[tuple[int, str]]:
    """Counts of what was dropped, mended or kept with a reservation."""
    return [
        (report.queries_without_text, "queries have no text and are left out"),
        (report.queries_without_judgments, "queries have no judgments and are left out"),
        (report.queries_without_relevant, "queries have no relevant document; they count as 0"),
        (report.queries_unknown, "query ids have judgments but no query"),
        *((count, f"judged pairs dropped: {reason}") for reason, count in report.pairs_dropped.items()),
        (report.pairs_repeated, "judged pairs stand more than once"),
        (report.negative_grades, "grades are negative and count as not relevant"),
        (report.coerced_values, "field values were not text and were written as text"),
        (report.null_values, "nulls were dropped"),
        (report.mended_values, "values held characters that cannot be indexed, and were mended"),
    ]
