"""python -m bitreplay, and the command bitreplay."""

import os
import signal
import sys


def main() -> None:
    """While modules are loaded, which takes a second, Ctrl-C ends the process as the system does it, without a word."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:2] == ["predict"]:  # its sums are not BLAS's, whose threads take 0.05 s of CPU to start
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from bitreplay import cli

    command = cli.command_for(sys.argv[1:])
    if usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.run(command)


if __name__ == "__main__":
    main()
