"""The primitives of docs/law.md sections 1 to 8, each with a native twin of its name in core/src/arithmetic."""
