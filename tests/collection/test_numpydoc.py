"""Docstrings in numpydoc form."""

import pytest

from autoindex_pyserini.collection.numpydoc import SeeAlso, parse, plain

DOCSTRING = """Compute the sum.

    Over an axis, or all.

    Parameters
    ----------
    a : int
        The first.

        More about it.
    axis : int

    Returns
    -------
    total : float

    See Also
    --------
    mean : The mean of ``a`` and
        what is `around` it [1]_.
    numpy.add, ufunc.reduce : Add *two* arrays.
    :func:`~scipy.special.logsumexp` :
        Logarithm of the **sum** of exponentials.
    cumsum
    median, quantile
        Below both names: here.
    std: Without a space before the colon.

    Other Parameters
    ----------------
    b : int

    Notes
    -----
    Some text.

    A table in it
    -------------
    more

    References
    ----------
    .. [1] A book.

    Examples
    --------
    >>> print("x")
    col
    ---
    1
    """


def test_sections():
    sections = parse(DOCSTRING).sections
    assert sections == {
        "parameters": "a : int\n    The first.\n\n    More about it.\naxis : int",
        "returns": "total : float",
        "other_parameters": "b : int",
        "notes": "Some text.\n\nA table in it\n-------------\nmore",
        "references": ".. [1] A book.",
        "examples": '>>> print("x")\ncol\n---\n1',
    }


def test_text_is_everything_but_see_also():
    text = parse(DOCSTRING).text
    assert text.startswith(
        "Compute the sum.\n\nOver an axis, or all.\n\nParameters\n----------\na : int\n    The"
    )
    assert "total : float\n\nOther Parameters\n" in text
    for gone in ("See Also", "mean", "logsumexp", "cumsum", "quantile", "std"):
        assert gone not in text


def test_see_also():
    assert parse(DOCSTRING).see_also == (
        SeeAlso(("mean",), "The mean of a and what is around it."),
        SeeAlso(("numpy.add", "ufunc.reduce"), "Add two arrays."),
        SeeAlso(("scipy.special.logsumexp",), "Logarithm of the sum of exponentials."),
        SeeAlso(("cumsum",), ""),
        SeeAlso(("median", "quantile"), "Below both names: here."),
        SeeAlso(("std",), "Without a space before the colon."),
    )


@pytest.mark.parametrize(
    "section",
    [
        "See Also\n--------\nsecret : Not to be seen.",
        "See also\n========\n\nsecret : Not to be seen.",
        "SEE ALSO:\n---------\n    secret : Not to be seen.",
        "See Also:\n    secret : Not to be seen.",
        ".. seealso::\n\n    secret : Not to be seen.",
        ".. seealso:: `secret`",
    ],
)
def test_see_also_is_in_no_field_however_it_is_written(section):
    docstring = parse(f"Title.\n\nNotes\n-----\nA note.\n\n{section}\n\nExamples\n--------\n>>> 1")
    assert "secret" not in docstring.text + "".join(docstring.sections.values())
    assert docstring.sections == {"notes": "A note.", "examples": ">>> 1"}


def test_prose_that_says_see_also_stays():
    docstring = parse("Title.\n\nNotes\n-----\nFor this, see also\n`other`.\n\nSee also `another` for that.")
    assert docstring.sections["notes"] == "For this, see also\n`other`.\n\nSee also `another` for that."


def test_a_heading_that_is_unknown_ends_see_also():
    docstring = parse("Title.\n\nSee Also\n--------\na : one two three\n\nBackground\n----------\nText.")
    assert docstring.text == "Title.\n\nBackground\n----------\nText."
    assert [entry.names for entry in docstring.see_also] == [("a",)]


def test_sections_of_one_name_are_joined():
    assert parse("T.\n\nNotes\n-----\na\n\nNote\n----\nb").sections == {"notes": "a\n\nb"}


@pytest.mark.parametrize(
    "docstring", ["", "   ", "One line", "See Also\n--------", "-----\n-----\n", "Notes\n-----"]
)
def test_little_is_no_trouble(docstring):
    assert parse(docstring).see_also == ()


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (":func:`~numpy.linalg.norm` of `.Axes`", "norm of Axes"),
        (":py:meth:`the plot <matplotlib.axes.Axes.plot>`", "the plot"),
        ("`NEP 50 <https://numpy.org/neps>`_ says", "NEP 50 says"),
        ("``x * y * z``, *a* and **b**", "x * y * z, a and b"),
        (r"\*args [2]_ of :math:`x^2`", "*args of x^2"),
        ("a\n   b", "a b"),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_plain(markup, text):
    assert plain(markup) == text
