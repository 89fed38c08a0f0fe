"""``python -m infra.local up [--deploy] | down | status``."""

import sys

from infra.local.command import main

sys.exit(main(sys.argv[1:]))
