"""The generated types and methods."""

from __future__ import annotations

import inspect
import unittest
from typing import Any, get_args, get_type_hints, is_typeddict

from tau_rpc import protocol
from tau_rpc.commands import CommandMethods

from .support import mismatch


ANSWERS = (
    protocol.ExtensionUiResponse,
    protocol.HostResponse,
    protocol.HostToolUpdate,
    protocol.HostToolResult,
    protocol.HostUriResult,
    protocol.WorkspaceResultFrame,
    protocol.WorkspaceOutputFrame,
)


def commands() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for frame in get_args(protocol.ClientFrame):
        kind = get_type_hints(frame)["type"]
        if frame not in ANSWERS:
            found[get_args(kind)[0]] = frame
    return found


class Types(unittest.TestCase):
    def test_resolve_every_annotation(self) -> None:
        typed = [name for name in protocol.__all__ if is_typeddict(getattr(protocol, name))]
        self.assertGreater(len(typed), 200)
        for name in typed:
            with self.subTest(name):
                self.assertTrue(get_type_hints(getattr(protocol, name)))

    def test_describe_every_frame(self) -> None:
        for frame in (*get_args(protocol.HostFrame), *get_args(protocol.ClientFrame)):
            with self.subTest(frame.__name__):
                self.assertTrue(frame.__doc__)

    def test_tell_required_members_from_optional_ones(self) -> None:
        self.assertIn("message", protocol.PromptCommand.__required_keys__)
        self.assertIn("images", protocol.PromptCommand.__optional_keys__)

    def test_have_a_method_for_every_command(self) -> None:
        self.assertGreater(len(commands()), 45)
        for name, frame in commands().items():
            with self.subTest(name):
                method = getattr(CommandMethods, name)
                self.assertTrue(inspect.iscoroutinefunction(method))
                parameters = inspect.signature(method).parameters.values()
                taken = {it.name.replace("_", "") for it in parameters} - {"self", "timeout"}
                members = get_type_hints(frame).keys() - {"id", "type"}
                self.assertEqual({member.lower() for member in members}, taken)
                required = {it.lower() for it in frame.__required_keys__} - {"type"}
                needed = {
                    it.name.replace("_", "")
                    for it in parameters
                    if it.default is inspect.Parameter.empty and it.name != "self"
                }
                self.assertEqual(required, needed)


class Check(unittest.TestCase):
    """The check of the other tests can fail."""

    def test_finds_what_is_missing_wrong_and_too_much(self) -> None:
        good: dict[str, Any] = {"type": "agent_settled", "aborted": False}
        self.assertIsNone(mismatch(good, protocol.Event))
        for bad in ({"type": "agent_settled"}, {**good, "aborted": 0}, {**good, "more": 1}):
            self.assertIsNotNone(mismatch(bad, protocol.Event))
