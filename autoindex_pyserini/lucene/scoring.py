"""How passages are scored: values that a search is given, and that a table prints beside its numbers.

All of them but RM3 and Rocchio score any index that has the fields; those two read term vectors.
"""

from __future__ import annotations

import math

import msgspec

from autoindex_pyserini.errors import InputError

CONTENTS = "contents"


class _OverContents(msgspec.Struct, frozen=True):
    """BM25's parameters, for scorings of the field ``contents``."""

    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        _check_parameters(self.k1, self.b)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that are searched."""
        return (CONTENTS,)


class _OverFields(msgspec.Struct, frozen=True):
    """Weights and BM25's parameters, for scorings of several fields."""

    weights: dict[str, float]
    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        _check_parameters(self.k1, self.b)
        for field, weight in self.weights.items():
            if not (math.isfinite(weight) and weight >= 0):
                raise InputError(
                    f"the weight of field {field!r} is {weight}; give a finite number, 0 or above"
                )
        if not self.fields:
            raise InputError(f"no field to search in {self.weights}; give at least one a weight above 0")

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that are searched, by name: those with a weight above 0."""
        return tuple(sorted(field for field, weight in self.weights.items() if weight > 0))

    def _describe_weights(self) -> str:
        return " ".join(f"{field}^{self.weights[field]:g}" for field in self.fields)


class BM25(_OverContents, frozen=True, tag="bm25"):
    """BM25 over the field ``contents`` (Lucene's ``BM25Similarity``).

    Attributes:
        k1: term-frequency saturation, >= 0.
        b: length normalisation, 0 to 1.
    """

    def describe(self) -> str:
        """The scoring with its parameters, for people."""
        return f"BM25 k1={self.k1:g} b={self.b:g}"


class BM25F(_OverFields, frozen=True, tag="bm25f"):
    """BM25 over several fields as if they were one, each term counted as often as its field's weight says.

    The simple BM25F of Robertson, Zaragoza and Taylor (CIKM 2004), by Lucene's ``CombinedFieldQuery``, with
    one b for all fields. A query term t adds ``idf(t) * tf / (tf + k1 * (1 - b + b * length / mean))``,
    where ``tf`` and ``length`` are sums over the fields, weighted; the factor ``k1 + 1`` of the paper is left
    out, as in Lucene's BM25: it changes no ranking. Lucene counts t in as many passages as the field that
    has it in most, and ``mean`` is the weighted sum of all lengths over the passages of the fullest field.
    Lengths above 40 are kept approximately, those of fields and their sum. ``docs/decisions`` has the
    differences with their reasons.

    Lucene refuses weights below 1, so weights and k1 are both divided by the smallest weight. That changes
    no score but for the rounding of lengths: k1 is as the formula has it, for the weights as given.

    Attributes:
        weights: field -> weight, >= 0, one of them above 0; a field with weight 0 is not searched.
        k1: term-frequency saturation, >= 0; it is compared with weighted counts.
        b: length normalisation, 0 to 1.
    """

    def describe(self) -> str:
        """The scoring with its parameters, for people."""
        return f"BM25F k1={self.k1:g} b={self.b:g} {self._describe_weights()}"


class FieldSum(_OverFields, frozen=True, tag="field-sum"):
    """The sum over fields of a field's own BM25 times its weight.

    That is what Pyserini's ``fields=`` computes. It is not BM25F: a term that occurs in two fields saturates
    in each alone, and each field has its own idf.

    Attributes:
        weights: field -> weight, >= 0, one of them above 0; a field with weight 0 is not searched.
        k1: term-frequency saturation, >= 0, of every field.
        b: length normalisation, 0 to 1, of every field.
    """

    def describe(self) -> str:
        """The scoring with its parameters, for people."""
        return f"sum of BM25 over fields k1={self.k1:g} b={self.b:g} {self._describe_weights()}"


class RM3(_OverContents, frozen=True, tag="rm3"):
    """BM25 over ``contents`` with the query expanded by a relevance model, as Anserini estimates it.

    Needs an index with `IndexOptions.store_docvectors`. Feedback comes from passages, not from documents.

    Attributes:
        k1: BM25's, of both searches.
        b: BM25's, of both searches.
        terms: terms of the relevance model.
        passages: passages of the first search that it is estimated from.
        original_weight: share of the original query, 0 to 1.
    """

    terms: int = 10
    passages: int = 10
    original_weight: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_feedback(self.terms, self.passages)
        if not 0 <= self.original_weight <= 1:
            raise InputError(
                f"the original query's weight is {self.original_weight}; give a number from 0 to 1"
            )

    def describe(self) -> str:
        """The scoring with its parameters, for people."""
        return (
            f"BM25 k1={self.k1:g} b={self.b:g}, RM3 with {self.terms} terms of {self.passages} passages, "
            f"original query {self.original_weight:g}"
        )


class Rocchio(_OverContents, frozen=True, tag="rocchio"):
    """BM25 over ``contents`` with the query moved towards the mean of the best passages, as Anserini does it.

    Needs an index with `IndexOptions.store_docvectors`. Feedback comes from passages, not from documents,
    and from the best ones alone: nothing is taken to be irrelevant.

    Attributes:
        k1: BM25's, of both searches.
        b: BM25's, of both searches.
        terms: terms of the mean.
        passages: passages of the first search that it is the mean of.
        alpha: weight of the original query, >= 0.
        beta: weight of the mean, >= 0.
    """

    terms: int = 10
    passages: int = 10
    alpha: float = 1.0
    beta: float = 0.75

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_feedback(self.terms, self.passages)
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value}; give a finite number, 0 or above")

    def describe(self) -> str:
        """The scoring with its parameters, for people."""
        return (
            f"BM25 k1={self.k1:g} b={self.b:g}, Rocchio with {self.terms} terms of {self.passages} passages, "
            f"alpha {self.alpha:g} beta {self.beta:g}"
        )


type Scoring = BM25 | BM25F | FieldSum | RM3 | Rocchio
"""How passages are scored. Written as JSON it carries its kind, so that it can be read back."""


def _check_parameters(k1: float, b: float) -> None:
    if not (math.isfinite(k1) and k1 >= 0):
        raise InputError(f"k1 is {k1}; give a finite number, 0 or above")
    if not 0 <= b <= 1:
        raise InputError(f"b is {b}; give a number from 0 to 1")


def _check_feedback(terms: int, passages: int) -> None:
    if terms < 1 or passages < 1:
        raise InputError(
            f"feedback of {terms} terms from {passages} passages is none; give both numbers from 1"
        )
