"""python -m bitreplay, and the command bitreplay."""

import signal


def main() -> None:
    """While modules are loaded, which takes a second, Ctrl-C ends the process as the system does it, without a word."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from bitreplay import cli

    if usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
