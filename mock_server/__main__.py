"""`python -m mock_server` is `a2a-mock`."""

import sys

from mock_server.cli import main

sys.exit(main())
