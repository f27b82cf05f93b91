"""`a2a-inspect token`: a signed token for development, alone on stdout."""

import argparse
import os
import time

from inspector.core.minting import mint_token, read_mint, weakness
from inspector.headless.terminal import print_notice, print_text

EXIT_OK = 0


def run(arguments: argparse.Namespace) -> int:
    mint = read_mint(
        arguments.alg,
        key_file=arguments.key,
        secret_variable=arguments.secret_env,
        claims=arguments.claim,
        ttl_seconds=arguments.ttl,
        environment=os.environ,
    )
    if remark := weakness(mint):
        print_notice(remark)
    print_text(mint_token(mint, time.time()))
    return EXIT_OK
