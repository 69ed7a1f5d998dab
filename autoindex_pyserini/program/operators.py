"""Text operations that representation programs import: pure, total, linear in the length of the text.

Every function here accepts any string, never raises on one, gives the same answer for the same
arguments, and takes time proportional to the text. That is why the patterns are unambiguous at each
position and why delimited spans are found with `str.find`: one document must not stall a collection.

A *word* is a run of letters and digits, in lower case; a *token* is a run of characters without white
space. Neither is the retriever's own token, which is the analyzer's business.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator

from autoindex_pyserini.program.contract import CorpusStatistics, RawDocument
from autoindex_pyserini.types import Passage as Passage  # programs import it from here

# Whole documents.


def field(doc: RawDocument, name: str) -> str:
    """Return the field of that name, `title` and `text` included; empty where the document lacks it."""
    if name == "title":
        return doc.title
    if name == "text":
        return doc.text
    return doc.fields.get(name, "")


def fields_text(doc: RawDocument, prefix: str = "") -> str:
    """Return every field whose name begins with the prefix, one a line, in the order of their names."""
    return join(*(doc.fields[name] for name in sorted(doc.fields) if name.startswith(prefix)))


def changed(doc: RawDocument, *, title: str | None = None, text: str | None = None) -> RawDocument:
    """Return the document with another title or text, for programs that wrap another; its fields stay."""
    title = doc.title if title is None else title
    text = doc.text if text is None else text
    return RawDocument(title=title, text=text, fields=doc.fields)


def distinct(passages: Iterable[str | Passage]) -> Iterator[str | Passage]:
    """Yield the passages that are neither blank nor equal to an earlier one, in order.

    Two passages with the same words would only make the index larger: white space is not compared.
    """
    seen: set[tuple[str, ...]] = set()
    for passage in passages:
        contents, fields = (passage, {}) if isinstance(passage, str) else (passage.contents, passage.fields)
        key = (" ".join(contents.split()), *(part for item in sorted(fields.items()) for part in item))
        if key[0] and key not in seen:
            seen.add(key)
            yield passage


# Joining and cutting.


def join(*parts: str) -> str:
    """Return the parts that are not blank, one a line."""
    return "\n".join(part for part in parts if part and not part.isspace())


def repeat(text: str, times: int) -> str:
    """Return the text `times` times over, separated by spaces: each of its terms counts that often."""
    return " ".join([text] * max(times, 0)) if text else ""


_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the words of the text in lower case, in order, with repetitions."""
    return _WORD.findall(text.lower())


def first_words(text: str, count: int) -> str:
    """Return the first `count` tokens of the text, separated by single spaces."""
    # One split more than asked for: the rest of a long text is never cut up.
    return " ".join(text.split(None, max(count, 0))[: max(count, 0)])


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of the text: runs of lines between blank lines, stripped, never blank."""
    found: list[str] = []
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line and not line.isspace():
            lines.append(line)
        elif lines:
            found.append("\n".join(lines).strip())
            lines = []
    return found


def first_paragraphs(text: str, count: int = 1) -> str:
    """Return the first `count` paragraphs, separated by blank lines; empty for a blank text."""
    return "\n\n".join(paragraphs(text)[: max(count, 0)])


_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]?\s")


def sentences(text: str) -> list[str]:
    """Return the sentences of the text, white space within each made single; paragraphs end sentences."""
    found = []
    for paragraph in paragraphs(text):
        start = 0
        for match in _SENTENCE_END.finditer(paragraph):
            found.append(" ".join(paragraph[start : match.end()].split()))
            start = match.end()
        found.append(" ".join(paragraph[start:].split()))
    return [sentence for sentence in found if sentence]


def windows(text: str, size: int, overlap: int = 0, at_most: int = 12) -> list[str]:
    """Return overlapping windows that together cover the whole text.

    Args:
        text: any text.
        size: tokens in a window, at least 1. It is raised where more than `at_most` windows would be
            needed, so that a long text is still covered to its end.
        overlap: tokens that a window shares with the one before it, less than `size`.
        at_most: most windows to return, at least 1.
    """
    tokens = text.split()
    size, at_most = max(size, 1), max(at_most, 1)
    overlap = min(max(overlap, 0), size - 1)
    needed = math.ceil(max(len(tokens) - overlap, 1) / (size - overlap))
    if needed > at_most:
        size = overlap + math.ceil((len(tokens) - overlap) / at_most)
    step = size - overlap
    starts = range(0, max(len(tokens) - overlap, 1), step)
    return [" ".join(tokens[start : start + size]) for start in starts if tokens]


# Sections.

_UNDERLINE = re.compile(r"\s*([-=~^\"*+#])\1{2,}\s*\Z")
_MARKDOWN_HEADING = re.compile(r"#{1,6} +(?=\S)")
_LONGEST_HEADING = 80


def _heading(line: str, below: str) -> tuple[str, int]:
    """Return the heading that starts at this line and the lines it takes, or ("", 0)."""
    if not line or line.isspace() or len(line) > _LONGEST_HEADING:
        return "", 0
    if len(below) <= 2 * _LONGEST_HEADING and _UNDERLINE.match(below) and not _UNDERLINE.match(line):
        return line.strip(), 2
    marked = _MARKDOWN_HEADING.match(line)
    if marked:
        return line[marked.end() :].strip(" #"), 1
    # A man page's headings are lines in capitals at the left margin.
    letters = line.replace(" ", "").replace("-", "")
    if line[0].isupper() and line.isupper() and letters.isalpha() and len(letters) > 2:
        return line.strip(), 1
    return "", 0


def _sections(text: str) -> list[tuple[str, list[str], list[str]]]:
    """Return (heading, its own lines, its body's lines) in order; the first heading is empty."""
    lines = text.splitlines()
    found: list[tuple[str, list[str], list[str]]] = [("", [], [])]
    at = 0
    while at < len(lines):
        name, taken = _heading(lines[at], lines[at + 1] if at + 1 < len(lines) else "")
        if taken:
            found.append((name, lines[at : at + taken], []))
        else:
            found[-1][2].append(lines[at])
            taken = 1
        at += taken
    return found


def _key(heading: str) -> str:
    return " ".join(heading.lower().split()).rstrip(":")


def sections(text: str) -> list[tuple[str, str]]:
    """Return (heading, body) of every section in order; what stands before the first heading is left out."""
    return [(name, "\n".join(body).strip()) for name, _, body in _sections(text) if name]


def headings(text: str) -> list[str]:
    """Return the headings of the text, in order.

    A heading is a line that is underlined (numpydoc, reStructuredText), marked with `#` (Markdown), or
    written in capitals at the left margin (man pages).
    """
    return [name for name, _, _ in _sections(text) if name]


def has_section(text: str, heading: str) -> bool:
    """Tell whether the text has a section of that heading; case and white space do not count."""
    return any(_key(name) == _key(heading) for name in headings(text))


def section(text: str, *names: str) -> str:
    """Return the bodies of the sections so headed, in the order of the text; empty where there is none."""
    wanted = {_key(name) for name in names} - {""}
    return join(*("\n".join(body).strip() for name, _, body in _sections(text) if _key(name) in wanted))


def drop_section(text: str, *names: str) -> str:
    """Return the text without the sections so headed; unchanged where there is none.

    A section goes from its heading to the next heading of any kind.
    """
    unwanted = {_key(name) for name in names} - {""}
    found = _sections(text)
    kept = [(own, body) for name, own, body in found if _key(name) not in unwanted]
    if len(kept) == len(found):
        return text
    return "\n".join(line for own, body in kept for line in [*own, *body])


# Markup, LaTeX and code.

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--[^<>]*-->")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_ROLE = re.compile(r":[A-Za-z][A-Za-z:]{0,30}:`(?=[^`\n])")
_LINK = re.compile(r"\]\([^()\s]*\)")
_MARKS = re.compile(r"`+|\*\*+|(?m:^\.\. +[a-z-]{1,30}::)|(?m:^#{1,6} +)")


def count_markup(text: str) -> int:
    """Return how many HTML tags, reStructuredText roles and Markdown links the text has."""
    return sum(1 for pattern in (_TAG, _ROLE, _LINK) for _ in pattern.finditer(text))


def strip_markup(text: str) -> str:
    """Return the text without HTML, reStructuredText and Markdown marks; the words they mark stay.

    Tags become spaces, entities their characters, links their text, roles their target.
    """
    text = _TAG.sub(" ", text)
    text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    text = _ROLE.sub(" ", text)
    text = _LINK.sub(" ", text)
    return _MARKS.sub(" ", text)


_INLINE_MATH = re.compile(r"\$(?=[^\s$])[^$\n]*(?<=\S)\$(?!\d)")
_MATH_DELIMITERS = (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), (r"\begin{", r"\end{"))


def _cut_spans(text: str, opening: str, closing: str) -> tuple[str, int]:
    """Return the text with each span replaced by a space, and how many spans there were."""
    pieces: list[str] = []
    at = spans = 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        pieces += text[at:start], " "
        at = end + len(closing)
        spans += 1
        if closing.endswith("{"):
            brace = text.find("}", at, at + 40)
            at = brace + 1 if brace >= 0 else at
    return "".join([*pieces, text[at:]]), spans


def _without_latex(text: str) -> tuple[str, int]:
    total = 0
    for opening, closing in _MATH_DELIMITERS:
        text, spans = _cut_spans(text, opening, closing)
        total += spans
    text, spans = _INLINE_MATH.subn(" ", text)
    return text, total + spans


def count_latex(text: str) -> int:
    r"""Return how many LaTeX spans the text has: `$...$`, `$$...$$`, `\(...\)`, `\[...\]`, environments."""
    return _without_latex(text)[1]


def strip_latex(text: str) -> str:
    """Return the text with every LaTeX span replaced by a space. Sums of money are left alone."""
    return _without_latex(text)[0]


_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.|In \[\d{1,6}\]:|Out\[\d{1,6}\]:|\$)(?:[ \t]|\Z)")
_CODE_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.(?=[ \t]|\Z)|In \[\d{1,6}\]:|Out\[\d{1,6}\]:)")


def code_lines(text: str) -> int:
    """Return how many lines begin with a Python or IPython prompt, or open or close fenced code."""
    return sum(1 for line in text.splitlines() if _CODE_PROMPT.match(line) or _is_fence(line))


def strip_code_prompts(text: str) -> str:
    """Return the text without the prompts `>>>`, `...`, `In [1]:`, `Out[1]:` and `$`; the code stays."""
    # Not `sub`: it would look for a prompt from each of a line's leading blanks in turn.
    prompts = ((line, _PROMPT.match(line)) for line in text.splitlines())
    return "\n".join(line[prompt.end() :] if prompt else line for line, prompt in prompts)


def _is_fence(line: str) -> bool:
    return line.lstrip().startswith(("```", "~~~"))


def drop_fenced_code(text: str) -> str:
    """Return the text without code between fences; an open fence at the end drops nothing."""
    kept: list[str] = []
    held: list[str] = []
    inside = False
    for line in text.splitlines():
        if _is_fence(line):
            inside = not inside
            held = [line] if inside else []
        elif inside:
            held.append(line)
        else:
            kept.append(line)
    return "\n".join([*kept, *held])


def drop_code(text: str) -> str:
    """Return the text without fenced code and without prompt sessions, their output included.

    A session goes from a line with a prompt to the next blank line.
    """
    kept: list[str] = []
    inside = False
    for line in drop_fenced_code(text).splitlines():
        inside = bool(_CODE_PROMPT.match(line)) or (inside and bool(line) and not line.isspace())
        if not inside:
            kept.append(line)
    return "\n".join(kept)


_IDENTIFIER = re.compile(r"\w+(?:\.\w+)*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_a-zA-Z\d]+")


def identifier_parts(text: str) -> str:
    """Return the parts of the compound identifiers in the text, separated by spaces.

    `read_csv`, `readCSVFile` and `numpy.linalg.norm` give `read csv read CSV File numpy linalg norm`.
    Digits part nothing, so that product codes stay whole, and single letters are no parts of their own.
    """
    found: list[str] = []
    for match in _IDENTIFIER.finditer(text):
        parts = _PART.findall(match.group())
        if len(parts) > 1:
            found += (part for part in parts if len(part) > 1)
    return " ".join(found)


def split_identifiers(text: str) -> str:
    """Return the text, followed by the parts of its compound identifiers on a line of their own."""
    return join(text, identifier_parts(text))


# What the collection's statistics tell.


def _idf(word: str, corpus: CorpusStatistics, known: dict[str, float]) -> float:
    """Return the BM25 idf of the word, and 0 for a stop word or an unknown one."""
    if word not in known:
        df = corpus.df(word)
        known[word] = math.log(1 + (max(corpus.num_docs, df) - df + 0.5) / (df + 0.5)) if df > 0 else 0.0
    return known[word]


def densest_sentences(text: str, corpus: CorpusStatistics, count: int) -> str:
    """Return the `count` sentences with the most idf a word, in the order of the text.

    The density of a sentence is the idf of its distinct words over its words and eight more: without
    the eight, a heading of one rare word would always win. Ties go to the earlier sentence.
    """
    known: dict[str, float] = {}
    found = sentences(text)
    densities = []
    for sentence in found:
        tokens = words(sentence)
        densities.append(sum(_idf(word, corpus, known) for word in dict.fromkeys(tokens)) / (len(tokens) + 8))
    best = sorted(range(len(found)), key=lambda at: (-densities[at], at))[: max(count, 0)]
    return " ".join(found[at] for at in sorted(best))


def key_words(text: str, corpus: CorpusStatistics, count: int) -> str:
    """Return the `count` words with the most tf-idf, best first, each once, separated by spaces.

    tf counts as 1 + log(tf). Stop words and unknown words are left out; ties go to the earlier word.
    """
    known: dict[str, float] = {}
    tf: dict[str, int] = {}
    for word in words(text):
        tf[word] = tf.get(word, 0) + 1
    weights = {word: (1 + math.log(times)) * _idf(word, corpus, known) for word, times in tf.items()}
    best = sorted((word for word in weights if weights[word] > 0), key=lambda word: -weights[word])
    return " ".join(best[: max(count, 0)])
