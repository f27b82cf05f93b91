"""`a2a-inspect token`: a signed token for development, alone on stdout."""

import os
import time

from inspector.core.minting import mint_token, read_mint, weakness
from inspector.errors import EXIT_OK
from inspector.headless.options import TokenOptions
from inspector.headless.terminal import print_notice, print_text


def run(options: TokenOptions) -> int:
    mint = read_mint(
        options.alg,
        key_file=options.key,
        secret_variable=options.secret_env,
        claims=options.claim,
        ttl_seconds=options.ttl,
        environment=os.environ,
    )
    if remark := weakness(mint):
        print_notice(remark)
    print_text(mint_token(mint, time.time()))
    return EXIT_OK
