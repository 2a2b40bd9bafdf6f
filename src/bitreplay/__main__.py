"""python -m bitreplay, and the command bitreplay."""

import gc
import os
import signal
import sys


def main() -> None:
    """While modules are loaded, which takes a second, Ctrl-C ends the process at once: an exception in the middle of an
    import would be printed with a traceback, or be caught there."""
    gc.disable()  # what is loaded stays: to look through it again and again takes 0.01 s
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual:
        signal.signal(signal.SIGINT, _stop)
    if sys.argv[1:2] == ["predict"]:  # its sums are not BLAS's, whose threads take 0.05 s of CPU to start
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from bitreplay import cli

    command = cli.command_for(sys.argv[1:])
    gc.freeze()
    gc.enable()
    if usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.run(command)


def _stop(*_: object) -> None:
    os.write(2, b"Stopped by Ctrl-C.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
