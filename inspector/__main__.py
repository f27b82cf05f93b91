"""`python -m inspector` is `a2a-inspect`."""

import sys

from inspector.cli import main

sys.exit(main())
