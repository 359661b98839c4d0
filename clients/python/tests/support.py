"""Shared by the tests: hosts with a scripted model, and a check of values against types."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
import types
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from tau_rpc import TauClient, UiHandler
from tau_rpc.protocol import AnySessionEntry, Event, ExtensionUiRequestNotify

HERE = Path(__file__).parent
# The repository's test names the built host; when run by hand, the one on the PATH is used.
TAU: list[str] = json.loads(os.environ.get("TAU_COMMAND", '["tau"]'))


# asyncio's warnings about slow steps only reflect this machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)


class Notices(UiHandler):
    """Records the notifications of extensions."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    async def have(self, count: int) -> None:
        """Returns once this many have arrived."""
        while len(self.notices) < count:
            await asyncio.sleep(0.01)

    async def notify(self, request: ExtensionUiRequestNotify) -> None:
        self.notices.append(request["message"])


class HostTest(unittest.IsolatedAsyncioTestCase):
    """Tests with a host, in a separate folder."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="tau-python-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.project = self.folder / "project"
        self.project.mkdir()
        (self.project / "only-file.txt").touch()

    def client(self, *args: str, **options: Any) -> TauClient:
        """A client whose host plays scenario.mjs, with no session file."""
        return self.keeping("--no-session", *args, **options)

    def keeping(self, *args: str, **options: Any) -> TauClient:
        """A client whose host plays scenario.mjs and keeps its session."""
        model = ["--provider", "scripted", "--model", str(HERE / "scenario.mjs")]
        env = {"HOME": str(self.folder), "PI_CODING_AGENT_DIR": str(self.folder / "agent")}
        command = [*TAU, *model]
        return TauClient(command, args=args, cwd=self.project, env=env, **options)

    def fake(self, *behaviour: str, **options: Any) -> TauClient:
        """A client of a host that misbehaves; see fake_host.py."""
        return TauClient(fake_command(*behaviour), **options)


def fake_command(*behaviour: str) -> list[str]:
    """The command that starts a host that misbehaves."""
    return [sys.executable, str(HERE / "fake_host.py"), *behaviour]


def texts(events: Sequence[Event]) -> str:
    """The joined text deltas of the events."""
    found = ""
    for event in events:
        if event["type"] == "message_update":
            step = event["assistantMessageEvent"]
            if step["type"] == "text_delta":
                found += step["delta"]
    return found


def mismatch(value: Any, hint: Any, path: str = "value") -> str | None:
    """Where a value does not match a type; None if it does. A TypedDict allows no additional
    members."""
    if hint is Any:
        return None
    if hint is None or hint is type(None):
        return None if value is None else f"{path}: {value!r} is not null"
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        problems = [mismatch(value, option, path) for option in get_args(hint)]
        if None in problems:
            return None
        # The error of the alternative that matched furthest is the most helpful.
        return max((problem for problem in problems if problem), key=lambda it: it.count("."))
    if origin is Literal:
        return None if value in get_args(hint) else f"{path}: {value!r} is not in {hint}"
    if origin is list:
        if not isinstance(value, list):
            return f"{path}: {value!r} is no list"
        items: list[Any] = value
        found = (mismatch(it, get_args(hint)[0], f"{path}[{at}]") for at, it in enumerate(items))
        return next((problem for problem in found if problem), None)
    if origin is dict or is_typeddict(hint):
        return _mismatch_of_object(value, hint, path)
    if hint is float and type(value) is int:
        return None
    return None if type(value) is hint else f"{path}: {value!r} is no {hint.__name__}"


def _mismatch_of_object(value: Any, hint: Any, path: str) -> str | None:
    if not isinstance(value, dict):
        return f"{path}: {value!r} is no object"
    members: dict[str, Any] = value
    if get_origin(hint) is dict:
        hints = {name: get_args(hint)[1] for name in members}
    else:
        hints = get_type_hints(hint)
        missing: set[str] = hint.__required_keys__ - members.keys()
        if missing:
            return f"{path}: {hint.__name__} lacks {sorted(missing)}"
    for name, member in members.items():
        if name not in hints:
            if hint is AnySessionEntry:
                continue
            return f"{path}.{name}: is no member of {hint.__name__}"
        problem = mismatch(member, hints[name], f"{path}.{name}")
        if problem:
            return problem
    return None
