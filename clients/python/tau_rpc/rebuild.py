"""Rebuilds replies from their deltas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .lines import as_record
from .partial_json import PartialJson, is_split, mend

# Blocks arrive in order; a host that skips many of them is broken.
_MAX_GAP = 1000
_EMPTY: dict[str, Any] = {
    "role": "assistant",
    "content": [],
    "api": "",
    "provider": "",
    "model": "",
    "usage": {
        "input": 0,
        "output": 0,
        "cacheRead": 0,
        "cacheWrite": 0,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    },
    "stopReason": "stop",
    "timestamp": 0,
}


class MessageRebuilder:
    """Adds `message` and `partial` to each `message_update`, at a cost proportional to its delta.

    Both are one object per reply that grows with each update: no text is copied.
    """

    def __init__(self, before: MessageRebuilder | None = None) -> None:
        self._message: dict[str, Any] = _copy(before._message if before else _EMPTY)
        # The argument text of each call, in pieces, and the parsers that received them.
        self._pieces: dict[int, list[str]] = {}
        if before is not None:
            self._pieces = {at: [*pieces] for at, pieces in before._pieces.items()}
        self._arguments: dict[int, PartialJson] = {}
        for at, pieces in self._pieces.items():
            self._feed(at, pieces)

    def apply(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """An event in its documented form; only updates in delta form have to be converted.

        Never raises: an invalid frame is passed on unchanged.
        """
        try:
            return self._apply(frame)
        except (AttributeError, IndexError, KeyError, TypeError):
            return dict(frame)

    def _apply(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        kind = frame.get("type")
        message = as_record(frame.get("message"))
        if kind == "message_start" and message is not None and _is_reply(message):
            self._start(message)
        if kind != "message_update" or message is not None:
            return dict(frame)
        step = {**(as_record(frame.get("assistantMessageEvent")) or {})}
        if isinstance(frame.get("usage"), dict):
            self._message["usage"] = frame["usage"]
        self._take_step(step)
        if "message" not in step and "error" not in step:
            step["partial"] = self._message
        order = {name: frame[name] for name in ("promptId", "seq") if name in frame}
        return {"type": kind, "message": self._message, "assistantMessageEvent": step, **order}

    def _start(self, message: Mapping[str, Any]) -> None:
        self._message = _copy(message)
        self._pieces = {}
        self._arguments = {}

    def _take_step(self, step: dict[str, Any]) -> None:
        at = step.get("contentIndex")
        if not isinstance(at, int) or not 0 <= at <= len(self._message["content"]) + _MAX_GAP:
            return
        kind = step.get("type")
        if isinstance(kind, str) and kind.endswith("_start"):
            # Blocks begin in order, so this one is from an earlier reply whose end was filtered
            # out.
            del self._message["content"][at:]
        if kind in ("text_start", "text_delta", "text_end"):
            self._text(self._block(at, "text", "text"), "text", step)
        elif kind in ("thinking_start", "thinking_delta", "thinking_end"):
            self._text(self._block(at, "thinking", "thinking"), "thinking", step)
        elif kind == "toolcall_start":
            call = {"type": "toolCall", "id": step.get("id", ""), "name": step.get("toolName", "")}
            self._put(at, {**call, "arguments": {}})
            self._pieces[at] = []
            self._arguments.pop(at, None)
        elif kind == "toolcall_delta":
            delta = str(step.get("delta", ""))
            self._pieces.setdefault(at, []).append(delta)
            self._feed(at, [delta])
        elif kind == "toolcall_end":
            self._pieces.pop(at, None)
            self._arguments.pop(at, None)
            whole = as_record(step.get("toolCall"))
            if whole is not None:
                self._put(at, {**whole})

    def _text(self, block: dict[str, Any], member: str, step: dict[str, Any]) -> None:
        if isinstance(step.get("content"), str):
            block[member] = step["content"]
        delta = step.get("delta")
        if not isinstance(delta, str):
            return
        # Python extends a string in place while nothing else refers to it.
        text = block.get(member) or ""
        block[member] = ""
        if is_split(text, delta):
            text = mend(text, delta)
        else:
            text += delta
        block[member] = text

    def _block(self, at: int, kind: str, member: str) -> dict[str, Any]:
        content = self._message["content"]
        if at < len(content) and content[at].get("type") == kind:
            found: dict[str, Any] = content[at]
            return found
        block = {"type": kind, member: ""}
        self._put(at, block)
        return block

    def _put(self, at: int, block: dict[str, Any]) -> None:
        content = self._message["content"]
        while len(content) <= at:
            content.append({"type": "text", "text": ""})
        content[at] = block

    def _feed(self, at: int, pieces: list[str]) -> None:
        reader = self._arguments.setdefault(at, PartialJson())
        for piece in pieces:
            reader.feed(piece)
        content = self._message["content"]
        value = as_record(reader.value)
        if value is not None and at < len(content):
            content[at]["arguments"] = value


def _copy(message: Mapping[str, Any]) -> dict[str, Any]:
    return {**message, "content": [dict(block) for block in message["content"]]}


def _is_reply(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant" and isinstance(message.get("content"), list)
