"""Framing: one JSON object per line, ended by LF only."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

_HEAD_BYTES = 256


def encode_line(frame: Mapping[str, Any]) -> bytes:
    """Encodes a frame as a line. ASCII only, so that no character can be mistaken for a line end.
    """
    return json.dumps(frame, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def decode_line(line: bytes) -> dict[str, Any] | None:
    """The frame in a line; None if it is not a frame."""
    try:
        frame = as_record(json.loads(line.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None
    return frame if frame is not None and isinstance(frame.get("type"), str) else None


def as_record(value: Any) -> dict[str, Any] | None:
    """The value if it is a JSON object; None for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


class LineReader:
    """Splits bytes into lines at LF. Each byte is scanned once, however long a line is."""

    def __init__(
        self,
        max_bytes: int,
        on_line: Callable[[bytes], None],
        on_skipped: Callable[[bytes, int], None],
    ) -> None:
        self._max_bytes = max_bytes
        self._on_line = on_line
        self._on_skipped = on_skipped
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Reads one piece; calls `on_line` with each completed line, without its LF."""
        start = 0
        while (end := chunk.find(b"\n", start)) != -1:
            self._add(chunk[start:end])
            self.end()
            start = end + 1
        if start < len(chunk):
            self._add(chunk[start:])

    def end(self) -> None:
        """Completes the line in progress at the end of the input."""
        line, size = b"".join(self._pieces), self._size
        self._pieces, self._size = [], 0
        if size > self._max_bytes:
            self._on_skipped(line, size)
        elif line:
            self._on_line(line)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._max_bytes:
            self._pieces.append(piece)
        elif len(self._pieces) != 1 or len(self._pieces[0]) > _HEAD_BYTES:
            # Too long to be kept; its beginning may identify it.
            head = b"".join([*self._pieces, piece])[:_HEAD_BYTES]
            self._pieces = [head]
