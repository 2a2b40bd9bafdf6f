"""A learner on a board at a serial port: teach it, ask it, bring its state to the desk and back (docs/device.md)."""

from bitreplay.device.board import Board, BoardAnswer, BoardError
from bitreplay.device.port import SerialPort

__all__ = ["Board", "BoardAnswer", "BoardError", "SerialPort"]
