"""Headers of a request that is handed on: what belongs to one connection stays with it."""

from inspector.net.events import Headers

# RFC 9110 §7.6.1, and what the new connection writes itself
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def forwarded_headers(headers: Headers, pseudonym: str) -> Headers:
    """`headers` as they go on, with `pseudonym` in Via (RFC 9110 §7.6.3)."""
    named = {
        name.strip().lower()
        for key, value in headers
        if key.lower() == "connection"
        for name in value.split(",")
    }
    kept = tuple(one for one in headers if one[0].lower() not in _HOP_BY_HOP | named)
    return (*kept, ("Via", f"1.1 {pseudonym}"))


def has_passed(headers: Headers, pseudonym: str) -> bool:
    """The request has been handed on under `pseudonym` before: it goes in a circle."""
    vias = (value for key, value in headers if key.lower() == "via")
    return any(pseudonym in via.replace(",", " ").split() for via in vias)
