"""What a model used: for each agent, and in all against the limits of a run."""

from __future__ import annotations

from collections.abc import Iterable

from autoindex_pyserini.agents.llm.replies import RawReply
from autoindex_pyserini.agents.proposer import AgentCost, BudgetSpentError
from autoindex_pyserini.settings import Endpoint


class Meter:
    """Counts replies: of the whole run for its limits, and of this process for the costs of each answer.

    Args:
        endpoint: prices and limits.
        paid: the replies that the run had paid before.
    """

    def __init__(self, endpoint: Endpoint, paid: Iterable[RawReply] = ()) -> None:
        self._endpoint = endpoint
        self._paid = list(paid)
        self._used: list[tuple[str, RawReply]] = []

    def pay(self, reply: RawReply) -> None:
        """Count a reply that was sent for."""
        self._paid.append(reply)

    def use(self, agent: str, reply: RawReply) -> None:
        """Count a reply, paid or recorded, that an agent gets."""
        self._used.append((agent, reply))

    def check(self) -> None:
        """Let a request pass while no limit is reached.

        Raises:
            BudgetSpentError: one is; the message says which.
        """
        endpoint = self._endpoint
        tokens = sum(reply.prompt_tokens + reply.completion_tokens for reply in self._paid)
        money = sum(_money(reply, endpoint) for reply in self._paid)
        seconds = sum(reply.seconds for reply in self._paid)
        for used, limit, what, option in (
            (tokens, endpoint.max_tokens, f"{tokens:,} tokens", "--max-tokens"),
            (money, endpoint.max_money, f"{money:,.4f} in money", "--max-money"),
            (seconds, endpoint.max_seconds, f"{seconds:,.0f} seconds of waiting", "--max-seconds"),
        ):
            if limit and used >= limit:
                raise BudgetSpentError(
                    f"the model has used {what}, the limit of the run is {limit:,}; another run may have "
                    f"more: {option}"
                )

    def mark(self) -> int:
        """A place in the sequence of replies, for `costs`."""
        return len(self._used)

    def costs(self, since: int = 0) -> tuple[AgentCost, ...]:
        """What each agent used since a mark, in the order of first use."""
        replies: dict[str, list[RawReply]] = {}
        for agent, reply in self._used[since:]:
            replies.setdefault(agent, []).append(reply)
        return tuple(
            AgentCost(
                agent=agent,
                calls=sum(1 for reply in found if reply.prompt_tokens or reply.completion_tokens),
                prompt_tokens=sum(reply.prompt_tokens for reply in found),
                completion_tokens=sum(reply.completion_tokens for reply in found),
                estimated=any(reply.estimated for reply in found),
                seconds=sum(reply.seconds for reply in found),
                money=sum(_money(reply, self._endpoint) for reply in found),
            )
            for agent, found in replies.items()
        )


def _money(reply: RawReply, endpoint: Endpoint) -> float:
    """In the currency of the prices, which are for a million tokens."""
    sent, got = reply.prompt_tokens * endpoint.price_in, reply.completion_tokens * endpoint.price_out
    return (sent + got) / 1e6
