"""Where the model is: the address, the key that belongs to it, and what goes wrong there.

A key comes from the environment when a request is sent, and is kept nowhere.
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from autoindex_pyserini.agents.proposer import ProposerError
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.settings import Endpoint

OPENAI = "https://api.openai.com/v1"

_HOSTS = {"api.openai.com": "OPENAI_API_KEY", "openrouter.ai": "OPENROUTER_API_KEY"}  # these need a key
_ELSEWHERE = "OPENAI_API_KEY"
_NO_KEY = "none"  # the openai package wants one, local servers do not read it
_SHORTEST_SECRET = 8  # characters; a shorter "key" is a word like `ollama` or `EMPTY`
_SCRUBBED = "[key]"


class EndpointError(ProposerError):
    """Nobody answers: the endpoint is wrong, refuses, or fails again and again.

    Attributes:
        status: the HTTP status; None where there was no answer.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def is_openai(base_url: str) -> bool:
    """Whether this is OpenAI's own service, or Azure's of it."""
    host = urlsplit(base_url).hostname or ""
    return host.endswith((".openai.com", ".azure.com"))


def base_url_of(endpoint: Endpoint) -> str:
    """Return the address that the settings, or else the environment, give.

    Raises:
        InputError: it is no HTTP address, or holds more than host and path. Credentials in it are not shown.
    """
    url = endpoint.base_url or os.environ.get("OPENAI_BASE_URL", "") or OPENAI
    rule = "must look like https://host/v1"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InputError(f"the base URL cannot be read, {rule}; give another one with --base-url") from None
    if "@" in url or parts.query or parts.fragment:
        raise InputError(
            f"the base URL holds more than host and path, perhaps a key, which would be written to disk; "
            f"it {rule}; the key belongs into {_ELSEWHERE}"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"illegal base URL {url!r}, {rule}; give another one with --base-url")
    return url.rstrip("/")


def key_name(base_url: str) -> str:
    """The environment variable that holds the key for this address."""
    return _HOSTS.get(urlsplit(base_url).hostname or "", _ELSEWHERE)


def key_for(base_url: str) -> str:
    """Return the key for this address from the environment, or a placeholder where none may be needed.

    Raises:
        EndpointError: this host needs a key and there is none, or it cannot be sent.
    """
    name = key_name(base_url)
    key = os.environ.get(name, "").strip()
    if not key and urlsplit(base_url).hostname in _HOSTS:
        raise EndpointError(f"{base_url} needs a key, and {name} is not set; set it in the environment")
    if not key.isascii() or not key.isprintable():
        raise EndpointError(f"{name} holds characters that no key has; set it anew in the environment")
    return key or _NO_KEY


def scrubbed(text: str) -> str:
    """Return the text without any key that the environment holds."""
    for name in {*_HOSTS.values(), _ELSEWHERE}:
        key = os.environ.get(name, "").strip()
        if len(key) >= _SHORTEST_SECRET:
            text = text.replace(key, _SCRUBBED)
    return text
