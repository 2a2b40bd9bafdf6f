"""The primitives of docs/law.md sections 1 to 9. Most have a native twin of their name in core/src/arithmetic."""
