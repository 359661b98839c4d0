"""A WebSocket client that uses only the standard library: text messages in both directions."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

from .errors import ConnectionClosedError

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


class WebSocket:
    """An open connection; use `connect`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @staticmethod
    async def connect(url: str, token: str | None) -> WebSocket:
        """Connects to `ws://…` or `wss://…`; raises ConnectionClosedError if it is refused."""
        parts = urlsplit(url)
        is_secure = parts.scheme == "wss"
        host, port = parts.hostname or "", parts.port or (443 if is_secure else 80)
        context = ssl.create_default_context() if is_secure else None
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
        try:
            path = parts.path if parts.path not in ("", "/") else "/rpc"
            key = base64.b64encode(os.urandom(16))
            lines = [
                f"GET {path}{'?' + parts.query if parts.query else ''} HTTP/1.1",
                f"Host: {parts.netloc}",
                "Upgrade: websocket",
                "Connection: Upgrade",
                f"Sec-WebSocket-Key: {key.decode()}",
                "Sec-WebSocket-Version: 13",
                *([f"Authorization: Bearer {token}"] if token else []),
            ]
            writer.write("\r\n".join([*lines, "", ""]).encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            expected = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()
            accepted = any(line.lower().startswith("sec-websocket-accept:") and expected in line for line in head)
            if " 101 " not in head[0] or not accepted:
                status = head[0].split(" ")[1] if " " in head[0] else head[0]
                if status == "401":
                    text = f"Could not connect to {url}: the host does not take this token (HTTP 401)"
                    raise ConnectionClosedError(text, code="unauthorized")
                text = f"Could not connect to {url}: what answers there takes no such connection (HTTP {status})"
                raise ConnectionClosedError(text, code="refused")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            writer.close()
            text = f"Could not connect to {url}: what answers there does not speak HTTP"
            raise ConnectionClosedError(text, code="refused") from error
        except BaseException:
            writer.close()
            raise
        return WebSocket(reader, writer)

    def send(self, text: bytes) -> None:
        """Sends a text message."""
        self._send(_TEXT, text)

    def close(self) -> None:
        """Cuts the connection."""
        self._writer.close()

    async def receive(self, on_text: Callable[[bytes], None]) -> str:
        """Passes on each message until the connection ends; returns the reason."""
        pieces: list[bytes] = []
        while True:
            try:
                first, second = await self._reader.readexactly(2)
                size = second & 0x7F
                if size >= 126:
                    size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
                body = await self._reader.readexactly(size)
            except (asyncio.IncompleteReadError, OSError) as error:
                return f"the host closed the connection ({type(error).__name__})"
            kind, is_last = first & 0x0F, bool(first & 0x80)
            if kind == _CLOSE:
                return f"the host closed the connection with {int.from_bytes(body[:2], 'big')}"
            if kind == _PING:
                self._send(_PONG, body)
            elif kind < _CLOSE:
                pieces.append(body)
                if is_last:
                    message = b"".join(pieces)
                    pieces = []
                    on_text(message)

    def _send(self, kind: int, body: bytes) -> None:
        size = len(body)
        length = (
            bytes([0x80 | size])
            if size < 126
            else bytes([0x80 | 126]) + size.to_bytes(2, "big")
            if size < 1 << 16
            else bytes([0x80 | 127]) + size.to_bytes(8, "big")
        )
        mask = os.urandom(4)
        masked = _masked(body, mask)
        if not self._writer.is_closing():
            self._writer.write(bytes([0x80 | kind]) + length + mask + masked)


def _masked(body: bytes, mask: bytes) -> bytes:
    # XOR of one large integer, because a loop over bytes would be slow for images.
    size = len(body)
    pattern = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(body, "big") ^ int.from_bytes(pattern, "big")).to_bytes(size, "big")
