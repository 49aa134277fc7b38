"""Addresses that data may come from: https, and http on this machine only."""

from __future__ import annotations

from urllib.parse import urlsplit

LOCAL = ("localhost", "127.0.0.1", "::1")


def refusal(url: str) -> str:
    """Why nothing is fetched from an address, in words; an empty text where something may be."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        (host or "").encode("idna")
    except ValueError as error:
        return f"{url[:80]!r} is no address: {error}"
    if not host or not url.isascii() or not url.isprintable() or " " in url:
        return f"{url[:80]!r} is no address; expected https://..."
    if parts.username is not None:
        return f"an address with a user's name in it, at {host}; expected one that everybody may ask"
    if parts.scheme != "https" and not (parts.scheme == "http" and host in LOCAL):
        return f"{url[:80]}: only https is fetched (http only from this machine)"
    return ""
