"""Whom to trust and who we are: certificates for https (inspector.md CONN-4)."""

import ssl
from pathlib import Path

from inspector.errors import UsageError
from inspector.settings import Connection


def tls_context(connection: Connection) -> ssl.SSLContext:
    """Return the context that `connection` asks for; without a file the system's own trust.

    Raises:
        UsageError: a file that is not there or holds no certificate.
    """
    context = _trusting(connection.ca_file)
    if connection.is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if connection.client_cert is not None:
        _show_certificate(context, connection.client_cert, connection.client_key)
    return context


def _trusting(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    except FileNotFoundError as error:
        raise UsageError(f"--cacert {ca_file}: no such file") from error
    except OSError as error:
        raise UsageError(f"--cacert {ca_file}: {_reason(error)}") from error


def _show_certificate(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    def refuse_password() -> str:
        # without this OpenSSL asks for it itself, in the middle of the screen
        raise UsageError(
            f"--client-cert: the private key in {key or certificate} is encrypted",
            f"openssl pkey -in {key or certificate} -out open.pem writes it without its password",
        )

    try:
        context.load_cert_chain(certificate, key, refuse_password)
    except OSError as error:
        missing = next((one for one in (certificate, key) if one and not one.is_file()), None)
        if missing is not None:
            raise UsageError(f"--client-cert {missing}: no such file") from error
        raise UsageError(
            f"--client-cert {certificate}: {_reason(error)}",
            "one PEM file with the certificate and its private key, or --client-key FILE beside it",
        ) from error


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return "no certificate in PEM, or not the one that belongs to the key"
    return error.strerror or str(error)
