"""A comparison as people and other programs read it: every form says the same, and says how it was tested."""

import csv
import io
import math
import re
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from autoindex_pyserini.evaluation.assessment import Assessment, assess
from autoindex_pyserini.evaluation.rows import Comparison, ComparisonRow, RowCosts
from autoindex_pyserini.evaluation.significance import Procedure
from autoindex_pyserini.report.comparison import (
    comparison_caption,
    comparison_csv,
    comparison_latex,
    comparison_markdown,
    comparison_table,
    describe_row,
)
from autoindex_pyserini.report.grid import Grid, latex_table, markdown_table, terminal_table
from autoindex_pyserini.types import Evaluation

ENGLISH = "Lucene English, stemmer porter, English stop words removed"
QUICK = Procedure(resamples=100, flips=200, exact_up_to=10)


def evaluation(recall: list[float], gain: list[float]) -> Evaluation:
    values = {"R@100": recall, "nDCG@10": gain}
    return Evaluation(
        {name: math.fsum(some) / len(some) for name, some in values.items()},
        {name: {f"q{place}": one for place, one in enumerate(some)} for name, some in values.items()},
    )


def make(rows: tuple[ComparisonRow, ...], **more: object) -> tuple[Comparison, Assessment]:
    fixed = {"collection": "toy", "split": "test", "queries": 60, "measures": ("R@100", "nDCG@10")}
    comparison = Comparison(rows=rows, reference="full_text", **{"procedure": QUICK, **fixed, **more})  # type: ignore[arg-type]
    return comparison, assess(comparison)


FULL_TEXT = ComparisonRow(
    name="full_text",
    evaluation=evaluation([0.5] * 60, [0.25] * 60),
    program="bcb6c50f232b",
    retriever="BM25",
    parameters={"k1": 1.5, "b": 0.75},
    analyzer=ENGLISH,
    costs=RowCosts(index_bytes=2_100_000, index_seconds=4.0, search_seconds=1.2, passages_per_document=1.0),
    run_file="full_text.test.txt",
)
LEARNED = msgspec.structs.replace(
    FULL_TEXT, name="learned", evaluation=evaluation([1.0] * 6 + [0.5] * 54, [0.25] * 58 + [0.5, 0.0])
)
WORSE = ComparisonRow(
    name="dense & co",
    evaluation=evaluation([0.0] * 30 + [0.5] * 30, [0.25] * 60),
    retriever="dense",
    parameters={"pooling": "mean", "depth": 100},
    encoder="all-MiniLM-L6-v2",
)
ROWS = (FULL_TEXT, LEARNED, WORSE)


def printed(
    comparison: Comparison, assessment: Assessment, *, details: bool = False, width: int = 1000
) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False, soft_wrap=True)  # as commands print
    console.print(comparison_table(comparison, assessment, details=details))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_the_plain_table() -> None:
    lines = [line.rstrip() for line in printed(*make(ROWS)).splitlines()]
    assert [line.split()[:-1] for line in lines[:1]] == [["row", "R@100", "change", "nDCG@10", "change"]]
    assert lines[1].split()[:5] == ["full_text", "0.5000", "reference", "0.2500", "reference"]
    assert lines[1].endswith(f"  BM25 k1=1.5 b=0.75; {ENGLISH}")
    assert lines[2].split()[:5] == ["learned", "0.5500*", "+0.0500", "0.2500", "+0.0000"]
    assert lines[3].startswith("dense & co  0.2500*  ")
    assert lines[3].endswith("  dense pooling=mean depth=100; all-MiniLM-L6-v2")
    assert lines[4:] == comparison_caption(*make(ROWS))


def test_the_mark_is_of_the_corrected_p() -> None:
    """Six wins of six: p is 2/64, below 0.05, and twice that beside another row that does not differ."""
    rows = (FULL_TEXT, LEARNED, msgspec.structs.replace(FULL_TEXT, name="same"))
    assert "0.5500* " in printed(*make(rows[:2]))
    assert "0.5500  " in printed(*make(rows))
    assert "0.5500* " in printed(*make(rows, procedure=msgspec.structs.replace(QUICK, level=0.07)))


def test_details() -> None:
    lines = printed(*make(ROWS), details=True).splitlines()
    cells = [re.split(r"\s{2,}", line.strip()) for line in lines]
    assert cells[0] == [
        *("measure", "row", "mean", "interval", "change", "interval", "relative", "p", "p(t)", "w/t/l"),
        *("passages/doc", "index MB", "seconds", "program", "retriever"),
    ]
    assert cells[1][:3] == ["R@100", "full_text", "0.5000"]
    assert cells[1][4:] == [
        *("reference", "-", "-", "-", "-", "-", "1.00", "2.1", "5.2", "bcb6c50f232b"),
        f"BM25 k1=1.5 b=0.75; {ENGLISH}",
    ]
    assert re.fullmatch(r"\[0\.5\d{3}, 0\.5\d{3}\]", cells[2][3])
    assert re.fullmatch(r"\[\+0\.0\d{3}, \+0\.0\d{3}\]", cells[2][5])
    assert cells[2][6:10] == ["+10.0%", "0.0312", "0.0130", "6/54/0"]
    assert cells[3][6:14] == ["-50.0%", "0.0100", "<0.0001", "0/30/30", "-", "-", "-", "-"]
    assert cells[4] == [""]
    assert [line[:2] for line in cells[5:8]] == [["nDCG@10", row.name] for row in ROWS]
    assert cells[6][7:10] == ["1.0000", "1.0000", "1/58/1"]


def test_the_caption_says_how() -> None:
    assert comparison_caption(*make(ROWS)) == [
        "toy, test split: means over 60 queries.",
        "* differs from full_text (p < 0.05): two-sided paired randomisation test, 200 random sign flips, "
        "seed 0 (all of them where 10 or fewer queries differ), Holm-corrected over 2 rows for each measure.",
    ]
    assert comparison_caption(*make(ROWS, seeds={"tuning": 7}), details=True)[2:] == [
        "Intervals: 95% percentile bootstrap over queries, 100 resamples, seed 0.",
        "p: of that test; p(t): of the paired t-test; both Holm-corrected. "
        "w/t/l: queries better than, equal to (within 1e-9) and worse than full_text.",
        "Other seeds: tuning 7.",
    ]
    assert (
        "test, exact (all sign flips), uncorrected: one row is compared."
        in (comparison_caption(*make((FULL_TEXT, LEARNED)))[1])
    )
    never = Procedure(resamples=9, flips=3000, exact_up_to=0, seed=5, confidence=0.975, level=0.01)
    sentences = comparison_caption(
        *make((FULL_TEXT, WORSE), procedure=never, measures=("R@100",)), details=True
    )
    assert "(p < 0.01)" in sentences[1]
    assert "test, 3,000 random sign flips, seed 5, uncorrected" in sentences[1]
    assert sentences[2] == "Intervals: 97.5% percentile bootstrap over queries, 9 resamples, seed 5."
    assert comparison_caption(*make((FULL_TEXT,))) == ["toy, test split: means over 60 queries."]


def test_a_single_query_is_told_and_shown() -> None:
    rows = tuple(
        ComparisonRow(name=name, evaluation=evaluation([value], [value]))
        for name, value in (("full_text", 0.5), ("b", 1.0))
    )
    text = printed(*make(rows, queries=1), details=True)
    assert "means over 1 query." in text
    assert "A single query: there is no interval and no t-test" in text
    row = next(line for line in text.splitlines() if line.startswith("R@100    b "))
    assert row.split()[2:9] == ["1.0000", "-", "+0.5000", "-", "+100.0%", "1.0000", "-"]


def test_a_narrow_window_breaks_text_and_no_number() -> None:
    text = printed(*make(ROWS), width=70)
    assert "0.2500*" in text
    assert "…" not in text
    rows = text[: text.index("toy, test split")].splitlines()
    assert all(len(line) <= 70 for line in rows)
    cells = [line[52:].strip() for line in rows[1:]]
    assert " ".join(cells).startswith(f"BM25 k1=1.5 b=0.75; {ENGLISH} BM25 k1")


def test_csv_holds_everything_in_full() -> None:
    comparison, assessment = make(ROWS)
    records = list(csv.DictReader(io.StringIO(comparison_csv(comparison, assessment))))
    assert [(one["measure"], one["row"]) for one in records] == [
        (measure, row.name) for measure in comparison.measures for row in ROWS
    ]
    for record, standing in zip(records, assessment.standings, strict=True):
        found = standing.difference
        assert float(record["mean"]) == standing.mean
        assert standing.interval is not None
        assert (float(record["mean_low"]), float(record["mean_high"])) == (
            standing.interval.low,
            standing.interval.high,
        )
        names = ("relative", "p", "p_holm", "t_p", "t_p_holm", "wins", "ties", "losses")
        if found is None:
            assert {record[name] for name in (*names, "difference", "exact")} == {""}
            continue
        assert [float(record[name]) for name in names] == [getattr(found, name) for name in names]
        assert float(record["difference"]) == found.absolute
        assert record["exact"] == str(found.exact)
    assert (
        records[0] | {"parameters": "k1=1.5 b=0.75", "analyzer": ENGLISH, "index_bytes": "2100000"}
        == records[0]
    )
    assert records[2]["row"] == "dense & co"
    assert records[2]["index_bytes"] == records[2]["program"] == ""
    assert {(one["resamples"], one["flips"], one["seed"], one["family"]) for one in records} == {
        ("100", "200", "0", "2")
    }


@pytest.mark.parametrize("details", [False, True])
def test_markdown_and_latex_have_the_terminals_cells(details: bool) -> None:
    comparison, assessment = make(ROWS)
    shown = [
        re.split(r"\s{2,}", line.strip())
        for line in printed(comparison, assessment, details=details).splitlines()
        if line.strip()
    ]
    lines = 1 + (6 if details else 3)
    markdown = comparison_markdown(comparison, assessment, details=details).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in markdown[:1] + markdown[2:]]
    assert [[re.sub(r"\\(.)", r"\1", cell) for cell in line] for line in cells[:lines]] == shown[:lines]
    assert markdown[1].count("---:") == (11 if details else 4)
    latex = comparison_latex(comparison, assessment, details=details)
    body = [line.removesuffix(r" \\") for line in latex.splitlines() if line.endswith(r" \\")]
    assert [[_plain(cell) for cell in re.split(r" & ", line)] for line in body] == shown[:lines]


def _plain(cell: str) -> str:
    """What LaTeX sets, for the few commands in these cells."""
    cell = cell.replace("$-$", "-").replace("$^{*}$", "*").replace(r"\textless{}", "<")
    return re.sub(r"\\([&%_#])", r"\1", "-" if cell == "--" else cell)


def test_latex_is_a_whole_booktabs_table() -> None:
    text = comparison_latex(*make(ROWS), details=True)
    assert text.startswith("\\begin{table}\n\\centering\n\\caption{toy, test split: means over 60 queries. ")
    assert "\\begin{tabular}{llrrrrrrrrrrrll}\n\\toprule\n" in text
    assert text.count("\\midrule\n") == 2
    assert text.endswith("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
    assert "R@100 & dense \\& co & 0.2500$^{*}$ & " in text
    assert " & $-$0.2500 & [$-$0." in text
    assert " & \\textless{}0.0001 & " in text


def test_latex_escapes() -> None:
    def body(text: str) -> str:
        return latex_table(Grid(("h",), (False,), [[(text,)]], [])).splitlines()[7]

    assert body("50% of $x_1 & #2 {a}") == r"50\% of \$x\_1 \& \#2 \{a\} \\"
    assert body("a\\b~c^d<e>f|g") == (
        r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d\textless{}e\textgreater{}f\textbar{}g \\"
    )
    assert body("a--b\nc") == r"a-{}-b c \\"
    assert body("[1pt] x") == r"{[1pt] x} \\"
    assert body("*x") == r"{*x} \\"


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1))
def test_no_text_breaks_a_markdown_row(text: str) -> None:
    line = markdown_table(Grid(("h", "n"), (False, True), [[(text, "1")]], [])).splitlines()[2]
    assert re.sub(r"\\(.)", r"\1", line) == f"| {text} | 1 |"
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1))
def test_no_text_breaks_a_latex_row(text: str) -> None:
    line = latex_table(Grid(("h", "n"), (False, True), [[(text, "1")]], [])).splitlines()[7]
    bare = re.sub(r"\\([&%$#_{}])|\\text[a-z]+\{\}|-\{\}", "", line.removesuffix(r" \\"))
    assert bare.count("&") == 1
    assert not re.search(r"[\\%$#_~^]", bare)
    assert bare.count("{") == bare.count("}") == (text[0] in "[*")


def test_markup_of_the_terminal_is_text() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(terminal_table(Grid(("[b]h[/b]",), (False,), [[("[red]x[/red]",)]], ["[i]c[/i]"])))
    assert [line.strip() for line in console.file.getvalue().splitlines()] == [  # type: ignore[attr-defined]
        "[b]h[/b]",
        "[red]x[/red]",
        "[i]c[/i]",
    ]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (FULL_TEXT, f"BM25 k1=1.5 b=0.75; {ENGLISH}"),
        (WORSE, "dense pooling=mean depth=100; all-MiniLM-L6-v2"),
        (msgspec.structs.replace(FULL_TEXT, parameters={"b": 0.1 + 0.2}, analyzer=""), "BM25 b=0.3"),
        (ComparisonRow(name="x", evaluation=FULL_TEXT.evaluation), ""),
    ],
)
def test_a_row_in_words(row: ComparisonRow, text: str) -> None:
    assert describe_row(row) == text


@pytest.mark.parametrize("form", [comparison_markdown, comparison_latex])
def test_every_form_is_captioned(form: Callable[..., str]) -> None:
    text = form(*make(ROWS), details=True)
    for words in (
        "60 queries",
        "200 random sign flips",
        "seed 0",
        "over 2 rows",
        "100 resamples",
        "within 1e-9",
    ):
        assert words in text
