"""JSON that arrives in pieces: the arguments of a tool call while the model writes them."""

from __future__ import annotations

import json
import re
from typing import Any

_STRING_RUN = re.compile(r'[^"\\]+')
_WORD = re.compile(r"[\d+\-.eE]+|[a-z]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def is_split(text: str, piece: str) -> bool:
    """Whether a surrogate pair was split between two pieces of a text."""
    return "\ud800" <= text[-1:] <= "\udbff" and "\udc00" <= piece[:1] <= "\udfff"


def mend(text: str, piece: str) -> str:
    """Joins two pieces of a text and restores a surrogate pair split between them."""
    whole = (text[-1] + piece[0]).encode("utf-16", "surrogatepass").decode("utf-16")
    return text[:-1] + whole + piece[1:]


class PartialJson:
    """The best value so far after each piece. The cost of a piece depends only on its length.

    Strings are available while they grow, numbers and literals once they are complete. After a
    syntax error, the rest is ignored.
    """

    def __init__(self) -> None:
        self._root: list[Any] = []
        # Each open container, and where in it the next value goes.
        self._stack: list[tuple[Any, Any]] = []
        self._mode = "value"
        self._key = ""
        self._is_key = False
        self._word = ""

    @property
    def value(self) -> Any:
        """The document so far; None until its first value begins. Containers are modified in
        place."""
        return self._root[0] if self._root else None

    def feed(self, piece: str) -> None:
        """Reads one piece. Never raises."""
        at = 0
        while at < len(piece) and self._mode != "malformed":
            at = self._step(piece, at)

    def _step(self, piece: str, at: int) -> int:
        if self._mode == "string":
            run = _STRING_RUN.match(piece, at)
            if run is not None:
                self._add_text(run.group())
                return run.end()
            if piece[at] == '"':
                self._end_string()
            else:
                self._mode = "escape"
            return at + 1
        if self._mode == "escape":
            return self._escape(piece, at)
        if self._mode == "unicode":
            return self._unicode(piece, at)
        if self._mode == "word":
            run = _WORD.match(piece, at)
            if run is not None:
                self._word += run.group()
                return run.end()
            self._end_word()
            return at
        if piece[at] not in " \t\r\n":
            self._token(piece[at])
        return at + 1

    def _escape(self, piece: str, at: int) -> int:
        if piece[at] == "u":
            self._word, self._mode = "", "unicode"
        else:
            self._mode = "string"
            self._add_text(_ESCAPES.get(piece[at], "\\" + piece[at]))
        return at + 1

    def _unicode(self, piece: str, at: int) -> int:
        if piece[at] not in "0123456789abcdefABCDEF":
            self._mode = "string"
            self._add_text("\\u" + self._word)
            return at
        self._word += piece[at]
        if len(self._word) == 4:
            self._mode = "string"
            self._add_text(chr(int(self._word, 16)))
        return at + 1

    def _token(self, character: str) -> None:
        mode = self._mode
        if mode == "first_element" and character == "]":
            self._close(list)
        elif mode in ("value", "first_element"):
            self._begin_value(character)
        elif mode in ("first_key", "key") and character == '"':
            self._key, self._is_key, self._mode = "", True, "string"
        elif mode == "first_key" and character == "}":
            self._close(dict)
        elif mode == "colon" and character == ":":
            self._stack[-1] = (self._stack[-1][0], self._key)
            self._mode = "value"
        elif mode == "after_value" and character == "," and self._stack:
            container, slot = self._stack[-1]
            is_list = isinstance(container, list)
            self._stack[-1] = (container, slot + 1 if is_list else "")
            self._mode = "value" if is_list else "key"
        elif mode == "after_value" and character in "]}":
            self._close(list if character == "]" else dict)
        else:
            self._mode = "malformed"

    def _begin_value(self, character: str) -> None:
        if character == '"':
            self._is_key, self._mode = False, "string"
            self._place("")
        elif character == "{":
            self._open({}, "", "first_key")
        elif character == "[":
            self._open([], 0, "first_element")
        elif character in "-0123456789tfn":
            self._word, self._mode = character, "word"
        else:
            self._mode = "malformed"

    def _open(self, container: Any, slot: Any, mode: str) -> None:
        self._place(container)
        self._stack.append((container, slot))
        self._mode = mode

    def _close(self, kind: type) -> None:
        if self._stack and isinstance(self._stack[-1][0], kind):
            self._stack.pop()
            self._mode = "after_value" if self._stack else "complete"
        else:
            self._mode = "malformed"

    def _end_string(self) -> None:
        if self._is_key:
            self._mode = "colon"
        else:
            self._mode = "after_value" if self._stack else "complete"

    def _end_word(self) -> None:
        if self._word in _LITERALS:
            self._place(_LITERALS[self._word])
        elif _NUMBER.fullmatch(self._word):
            self._place(json.loads(self._word))
        else:
            self._mode = "malformed"
            return
        self._mode = "after_value" if self._stack else "complete"

    def _add_text(self, piece: str) -> None:
        if self._is_key:
            key = self._key
            self._key = mend(key, piece) if is_split(key, piece) else key + piece
            return
        container, slot = self._stack[-1] if self._stack else (self._root, 0)
        # Python extends a string in place while nothing else refers to it.
        text = container[slot]
        container[slot] = ""
        if is_split(text, piece):
            text = mend(text, piece)
        else:
            text += piece
        container[slot] = text

    def _place(self, value: Any) -> None:
        container, slot = self._stack[-1] if self._stack else (self._root, 0)
        if slot == len(container) and not isinstance(container, dict):
            container.append(value)
        else:
            container[slot] = value
