"""The server's certificate (server.md HTTP-4)."""

import ssl
from pathlib import Path

from mock_server.errors import StartError


def tls_context(certificate: Path, keyfile: Path | None, password: str | None) -> ssl.SSLContext:
    """Read the certificate and its key, which may lie in the same PEM file.

    Raises:
        StartError: they cannot be read, do not belong together, or need another password.
    """
    files = {"--ssl-certificate": certificate, "--ssl-keyfile": keyfile}
    missing = [f"{flag}: there is no file {str(file)!r}" for flag, file in files.items()
               if file and not file.is_file()]  # fmt: skip
    if missing:
        raise StartError(missing)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Without a password at hand, OpenSSL asks for it on the terminal.
        context.load_cert_chain(certificate, keyfile, password=lambda: password or "")
    except (OSError, ValueError) as error:
        text = (
            f"--ssl-certificate {str(certificate)!r}: no certificate with its key can be read"
            f" ({_reason(error, certificate, keyfile)}); see --ssl-keyfile and --ssl-password"
        )
        raise StartError([text]) from error
    return context


def _reason(error: Exception, certificate: Path, keyfile: Path | None) -> str:
    """What OpenSSL says, where it says something."""
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason
    if b"-----BEGIN CERTIFICATE-----" not in certificate.read_bytes():
        return "it holds no certificate in PEM"
    key = keyfile or certificate
    if b"PRIVATE KEY-----" not in key.read_bytes():
        return f"{key.name} holds no private key in PEM"
    return "wrong password"
