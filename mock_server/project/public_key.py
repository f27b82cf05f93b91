"""Whether a PEM file holds the public key that a JWT algorithm verifies with (RFC 7518 §3)."""

CURVES = {"ES256": "secp256r1", "ES512": "secp521r1"}


def key_fault(pem: bytes, algorithm: str) -> str:
    """What is wrong with `pem` for `algorithm`, in words that follow its name; empty if nothing."""
    # Half of what starting the mock costs, so it is imported only where there is a key.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if b"PRIVATE KEY-----" in pem:
        return "holds a private key, expected the public one"
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        return "holds no public key in PEM"
    if algorithm not in CURVES:
        return "" if isinstance(key, RSAPublicKey) else f"holds no RSA key, as {algorithm} needs"
    if isinstance(key, EllipticCurvePublicKey) and key.curve.name == CURVES[algorithm]:
        return ""
    return f"holds no key on the curve {CURVES[algorithm]}, as {algorithm} needs"
