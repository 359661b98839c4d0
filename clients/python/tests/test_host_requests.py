"""Requests of the host to its client: tools, approvals, budgets."""

from __future__ import annotations

import asyncio
import json
import unittest
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Optional, TypedDict

from tau_rpc import (
    Allow,
    ApprovalRequest,
    BudgetRequest,
    ConnectionClosedError,
    CredentialParams,
    Deny,
    GivenCredentials,
    QuestionRequest,
    RpcError,
    TauClient,
    ToolContext,
    UriContent,
    UriScheme,
)
from tau_rpc.protocol import Event, ExtensionUiRequestInput, ExtensionUiRequestSelect
from tau_rpc.schema import schema_of, schema_of_arguments
from tau_rpc.ui import UiHandler

from .support import TAU, HostTest


class Place(TypedDict, total=False):
    line: int


class Wanted(Place):
    file: Annotated[str, "its path"]


def use(name: str, **arguments: Any) -> str:
    """A prompt that makes the model call a tool once."""
    return f"use {name} {json.dumps(arguments)}"


def outcome(events: list[Event]) -> tuple[str, bool]:
    """The text of the tool's result, and whether it is an error."""
    for event in events:
        if event["type"] == "message_end" and event["message"]["role"] == "toolResult":
            message = event["message"]
            text = "".join(it["text"] for it in message["content"] if it["type"] == "text")
            return text, message["isError"]
    raise AssertionError("no tool has run")


async def asked(client: TauClient, prompt: str) -> tuple[str, bool]:
    return outcome([event async for event in client.run(prompt)])


class Tools(HostTest):
    async def test_are_called_with_typed_arguments_and_report_progress(self) -> None:
        client = self.client()
        calls: list[Any] = []

        @client.tool(read_only=True, timeout=20)
        async def ticket(
            number: Annotated[int, "the ticket's number"],
            context: ToolContext,
            project: Literal["core", "web"] = "core",
        ) -> str:
            """Looks up a ticket."""
            calls.append((number, project, context.agent_id))
            context.update("looking")
            return f"{project}-{number} is open"

        self.assertEqual(ticket.__name__, "ticket")
        async with client:
            [tool] = [it for it in (await client.get_tools())["tools"] if it["source"] == "host"]
            self.assertEqual((tool["name"], tool["readOnly"]), ("ticket", True))
            self.assertEqual(tool["description"], "Looks up a ticket.")
            number = {"type": "integer", "description": "the ticket's number"}
            project = {"type": "string", "enum": ["core", "web"], "default": "core"}
            properties = {"number": number, "project": project}
            wanted = {"type": "object", "properties": properties, "required": ["number"]}
            self.assertEqual(tool["parameters"], wanted)
            events = [event async for event in client.run(use("ticket", number=7))]
            self.assertEqual(outcome(events), ("core-7 is open", False))
            updates = [it for it in events if it["type"] == "tool_execution_update"]
            self.assertEqual(updates[0]["partialResult"]["content"][0], {"type": "text", "text": "looking"})
            _, is_error = await asked(client, use("ticket", number="x"))
            self.assertTrue(is_error)
            self.assertEqual(calls, [(7, "core", None)])

    async def test_return_a_result_or_any_json_and_raise_an_error(self) -> None:
        client = self.client()

        @client.tool
        async def give(what: str) -> Any:
            """Gives."""
            if what == "error":
                raise LookupError("none is left")
            if what == "odd":
                return object()
            block = {"type": "text", "text": "block"}
            return {"result": {"content": [block]}, "json": {"a": [1]}, "nothing": None}[what]

        async with client:
            self.assertEqual(await asked(client, use("give", what="result")), ("block", False))
            self.assertEqual(await asked(client, use("give", what="json")), ('{"a": [1]}', False))
            self.assertEqual((await asked(client, use("give", what="nothing")))[1], False)
            self.assertEqual(await asked(client, use("give", what="error")), ("none is left", True))
            text, is_error = await asked(client, use("give", what="odd"))
            self.assertTrue(is_error)
            self.assertIn("JSON", text)

    async def test_can_be_added_and_removed_while_the_host_runs(self) -> None:
        async with self.client() as client:

            @client.tool(name="later", description="Later.", defer_loading=True)
            async def tool() -> str:
                return "here"

            @client.tool
            async def other(count: int) -> str:
                """Counts."""
                return str(count + 1)

            names = [it["name"] for it in (await client.get_tools())["tools"]]
            self.assertEqual(names[-2:], ["other", "tool_search"])
            await asked(client, use("tool_search", query="later"))
            self.assertEqual(await asked(client, use("later")), ("here", False))
            self.assertEqual(await asked(client, use("other", count=1)), ("2", False))
            client.remove_tool("other")
            names = [it["name"] for it in (await client.get_tools())["tools"]]
            self.assertNotIn("other", names)
            with self.assertRaises(KeyError):
                client.remove_tool("other")
            self.assertEqual(await tool(), "here")

    async def test_are_unchanged_when_the_host_refuses_one(self) -> None:
        async with self.client() as client:

            @client.tool
            async def good() -> str:
                """Good."""
                return "good"

            await client.get_state()

            @client.tool(name="not a name")
            async def bad() -> str:
                """Bad."""
                return "bad"

            with self.assertRaisesRegex(RpcError, r"tools\[1\]\.name"):
                await client.get_state()
            self.assertEqual(await asked(client, use("good")), ("good", False))
            self.assertEqual(await bad(), "bad")

    async def test_are_cancelled_with_the_run_and_with_the_client(self) -> None:
        client = self.client()
        started, ended = asyncio.Event(), asyncio.Event()

        @client.tool
        async def wait() -> str:
            """Waits."""
            started.set()
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()
            return "never"

        async with client:
            for stop in (client.abort, client.close):
                started.clear()
                ended.clear()
                await client.prompt(use("wait"))
                await asyncio.wait_for(started.wait(), 20)
                await stop()
                await asyncio.wait_for(ended.wait(), 20)
                if stop == client.abort:
                    await client.wait_until_settled(timeout=20)

    async def test_are_refused_at_their_definition_if_they_cannot_be_described(self) -> None:
        client = self.client()

        def plain() -> str:
            """Is not asynchronous."""
            return ""

        async def silent() -> str:
            return ""

        async def bare(it) -> str:  # type: ignore[no-untyped-def]
            """Has no annotation."""
            return str(it)

        async def odd(it: bytes) -> str:
            """Has no schema."""
            return str(it)

        async def many(*those: str) -> str:
            """Is given by place."""
            return str(those)

        for function, what in (
            (plain, "not an async function"),
            (silent, "no docstring"),
            (bare, "it has no annotation"),
            (odd, "odd: it is of a type that has no schema"),
            (many, "those cannot be given by name"),
        ):
            with self.assertRaisesRegex(TypeError, what):
                client.tool(function)  # type: ignore[call-overload]


class Schemas(unittest.TestCase):
    def test_follow_the_annotation(self) -> None:
        text, number = {"type": "string"}, {"type": "number"}
        wanted = {
            "type": "object",
            "properties": {"line": {"type": "integer"}, "file": {**text, "description": "its path"}},
            "required": ["file"],
        }
        for hint, schema in (
            (Optional[float], {"anyOf": [number, {"type": "null"}]}),
            (list[str], {"type": "array", "items": text}),
            (dict[str, float], {"type": "object", "additionalProperties": number}),
            (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
            (Literal["a", 1], {"enum": ["a", 1]}),
            (list[Wanted], {"type": "array", "items": wanted}),
        ):
            with self.subTest(hint):
                self.assertEqual(schema_of(hint, "it"), schema)

    def test_name_the_parameter_without_a_schema(self) -> None:
        async def tool(good: str, wrong: list[dict[int, str]]) -> None:
            """Wrong."""

        with self.assertRaisesRegex(TypeError, "tool: wrong is of a type .*dict"):
            schema_of_arguments(tool, ToolContext)


class Approvals(HostTest):
    def asking(self, **options: Any) -> TauClient:
        return self.client("--permission-mode", "ask", **options)

    async def test_are_decided_by_a_function(self) -> None:
        seen: list[ApprovalRequest] = []

        async def approve(request: ApprovalRequest) -> Allow | Deny:
            seen.append(request)
            if "rm" in request["input"]["command"]:
                return {"decision": "deny", "message": "not that"}
            return {"decision": "allow", "input": {"command": "echo other"}}

        async with self.asking(approve=approve) as client:
            text, is_error = await asked(client, "bash echo one")
            self.assertFalse(is_error)
            self.assertIn("other", text)
            text, is_error = await asked(client, "bash rm x")
            self.assertTrue(is_error)
            self.assertIn("not that", text)
        self.assertEqual([it["toolName"] for it in seen], ["bash", "bash"])
        self.assertIn("toolCallId", seen[0])

    async def test_are_denied_if_the_function_fails_or_decides_nothing(self) -> None:
        async def fails(_: ApprovalRequest) -> Any:
            raise ValueError("broken")

        async def none(_: ApprovalRequest) -> Any:
            return None

        async def wrong(_: ApprovalRequest) -> Any:
            return {"decision": "perhaps"}

        for approve, what in ((fails, "broken"), (none, "no decision"), (wrong, "decision")):
            async with self.asking(approve=approve) as client:
                text, is_error = await asked(client, "bash touch made")
                self.assertTrue(is_error)
                self.assertIn("Denied", text)
                self.assertIn(what, text)
        self.assertFalse((self.project / "made").exists())

    async def test_are_withdrawn_with_the_run(self) -> None:
        started, ended = asyncio.Event(), asyncio.Event()

        async def approve(_: ApprovalRequest) -> Allow | Deny:
            started.set()
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()
            return {"decision": "allow"}

        async with self.asking(approve=approve) as client:
            await client.prompt("bash touch made")
            await asyncio.wait_for(started.wait(), 20)
            await client.abort()
            await asyncio.wait_for(ended.wait(), 20)
            await client.wait_until_settled(timeout=20)
        self.assertFalse((self.project / "made").exists())

    async def test_are_dialogs_without_a_function(self) -> None:
        class Ui(UiHandler):
            async def select(self, request: ExtensionUiRequestSelect) -> str | None:
                return request["options"][0]

        async def raise_budget(_: BudgetRequest) -> Any:
            return {"stop": True}

        # Whether the host translates them, or the client because it has a function for something
        # else.
        for options in ({}, {"raise_budget": raise_budget}):
            async with self.asking(ui=Ui(), **options) as client:
                self.assertIn("one", (await asked(client, "bash echo one"))[0])


class Questions(HostTest):
    questions = [{"question": "Which?", "options": [{"label": "This"}, {"label": "That"}]}]

    async def test_are_answered_by_a_function(self) -> None:
        seen: list[QuestionRequest] = []

        async def answer(request: QuestionRequest) -> Any:
            seen.append(request)
            return {"answers": [{"labels": ["That"], "text": "but later"}]}

        async with self.client(answer_questions=answer) as client:
            text, is_error = await asked(client, use("ask_user", questions=self.questions))
        self.assertFalse(is_error)
        self.assertEqual(text, "Which?\n- That\nbut later")
        self.assertEqual(seen[0]["questions"], self.questions)

    async def test_are_dialogs_of_the_ui_or_not_offered(self) -> None:
        class Ui(UiHandler):
            async def select(self, request: ExtensionUiRequestSelect) -> str | None:
                return request["options"][-1]

            async def input(self, request: ExtensionUiRequestInput) -> str | None:
                return "neither"

        async with self.client(ui=Ui()) as client:
            text, is_error = await asked(client, use("ask_user", questions=self.questions))
            self.assertEqual((text, is_error), ("Which?\nneither", False))
        async with self.client() as client:
            text, is_error = await asked(client, use("ask_user", questions=self.questions))
            self.assertTrue(is_error)


class Uris(HostTest):
    async def test_are_read_and_written_by_functions(self) -> None:
        written: list[tuple[str, str]] = []

        async def read(url: str) -> str | UriContent:
            if url.endswith("none"):
                raise LookupError("no such row")
            return UriContent("A row.", "text/markdown", ["of today"]) if "note" in url else "Row"

        async def write(url: str, content: str) -> None:
            written.append((url, content))

        async with self.client() as client:
            schemes = [UriScheme("db", read, write), UriScheme("log", read)]
            self.assertEqual(await client.serve_uris(schemes), ["db", "log"])
            with self.assertRaisesRegex(RpcError, "file is reserved"):
                await client.serve_uris([UriScheme("file", read)])
            for path, wanted in (
                ("db://1", ("Row", False)),
                ("log://note", ("A row.[of today]", False)),
                ("db://none", ("Cannot read db://none: no such row", True)),
            ):
                self.assertEqual(await asked(client, use("read", path=path)), wanted)
            await asked(client, use("write", path="db://2", content="new"))
        self.assertEqual(written, [("db://2", "new")])


class Budgets(HostTest):
    async def test_are_raised_or_refused_by_a_function(self) -> None:
        seen: list[BudgetRequest] = []

        async def raise_budget(request: BudgetRequest) -> Any:
            seen.append(request)
            return {"limit": request["limit"] + 1} if len(seen) == 1 else {"stop": True}

        async with self.client(raise_budget=raise_budget) as client:
            await client.set_budget(max_tool_calls=1, on_exceeded="ask")
            run = await client.prompt_and_wait("bash echo one")
            self.assertEqual(run.status, "completed")
            run = client.run("twice")
            await run.wait()
            self.assertEqual([it["dimension"] for it in seen], ["tool_calls", "tool_calls"])


class Keys(HostTest):
    async def test_are_supplied_by_a_function_and_fallbacks_are_named(self) -> None:
        seen: list[CredentialParams] = []

        async def credentials(asked: CredentialParams) -> GivenCredentials | None:
            seen.append(asked)
            if asked["reason"] == "start" and asked["provider"] == "first":
                return {"apiKey": "vault.0123456789", "expiresAt": 4e12}
            return None

        # Nothing listens there.
        vendor = {
            "baseUrl": "http://127.0.0.1:9/v1",
            "api": "openai-completions",
            "apiKey": "$NOT_SET",
            "models": [{"id": "one"}],
        }
        agent = self.folder / "keys"
        agent.mkdir()
        files = {
            "models.json": {"providers": {"first": vendor, "second": vendor}},
            "settings.json": {"retry": {"enabled": False}},
        }
        for name, content in files.items():
            (agent / name).write_text(json.dumps(content))
        options: dict[str, Any] = {
            "model": "first/one",
            "session": "memory",
            "cwd": self.project,
            "env": {"PI_CODING_AGENT_DIR": str(agent)},
            "credentials": credentials,
        }
        async with TauClient(TAU, fallback_models=["second/one"], **options) as client:
            run = client.run("hi")
            await run.wait()
            self.assertEqual(run.status, "error")
        first: CredentialParams = {"provider": "first", "modelId": "one", "reason": "start"}
        # The second model gets no key, so it does not answer.
        self.assertEqual(seen, [first, {**first, "provider": "second"}])
        with self.assertRaisesRegex(ConnectionClosedError, "second/one"):
            async with TauClient(TAU, fallback_models=["second/oen"], **options):
                pass


class Merging(HostTest):
    async def test_is_sent_at_the_start(self) -> None:
        script = self.folder / "host.py"
        script.write_text(
            "import json, sys\n"
            "asked = json.loads(sys.stdin.readline())\n"
            "print(asked['mergeMs'], asked.get('capabilities'), file=sys.stderr)\n"
        )
        client = TauClient(["python3", str(script)], merge_ms=0, host_requests={"open_url": _never})
        with self.assertRaisesRegex(Exception, "0 .*open_url"):
            await client.start()


async def _never(_: dict[str, Any]) -> None:
    raise AssertionError
