"""A session with the built host: prompts, tools, steering, forks, dialogs."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import signal
from typing import Any, get_type_hints

from tau_rpc import ConnectionClosedError, RpcError, commands, protocol
from tau_rpc.protocol import Event, ExtensionUiRequestSelect, KnownSessionEntry, SessionHeader

from .support import HERE, HostTest, Notices, mismatch, texts


class Policies(HostTest):
    async def test_apply_to_the_started_host(self) -> None:
        policy = {"permissions": {"mode": "readOnly"}, "tools": {"deny": ["write"]}}
        async with self.client(policy=[policy, {"models": ["*"]}]) as client:
            held = await client.request("get_policy")
            self.assertEqual(held["policy"], {**policy, "models": ["*"]})
            with self.assertRaisesRegex(RpcError, "permissions.mode is not allowed"):
                await client.request("set_permissions", {"mode": "all"})

    async def test_prevent_the_start_if_they_are_invalid(self) -> None:
        with self.assertRaisesRegex(ConnectionClosedError, "there is no such member"):
            async with self.client(policy={"permisions": {}}):
                pass


class Prompts(HostTest):
    async def test_streams_a_reply_up_to_its_result(self) -> None:
        async with self.client() as client:
            assert client.host is not None
            self.assertEqual(client.host["stream"], "delta")
            run = client.run("hello there")
            events = [event async for event in run]
            self.assertEqual(events[0]["type"], "agent_start")
            end = {name: it for name, it in events[-1].items() if name not in {"promptId", "seq"}}
            self.assertEqual(end, {"type": "prompt_result", "id": run.id, "status": "completed"})
            self.assertEqual(texts(events), "You said: hello there")
            self.assertEqual(run.text, "You said: hello there")
            assert run.disposition is not None
            self.assertEqual(run.disposition["disposition"], "started")
            self.assertEqual({event.get("promptId") for event in events}, {run.disposition.get("promptId")})
            self.assertEqual([it["role"] for it in run.messages], ["user", "assistant"])
        self.assertEqual(client.exit_code, 0)

    async def test_pauses_and_continues_until_its_end(self) -> None:
        async with self.client(durability="effects") as client:
            run = await client.prompt_and_wait("bash echo 1", prompt_id="mine", until={"turns": 1})
            self.assertEqual((run.status, run.paused_by), ("paused", "turns"))
            run = await client.prompt_and_wait("resume", prompt_id="mine", resume=True)
            self.assertEqual((run.status, run.paused_by, run.text), ("completed", None, "Done."))
            run = await client.prompt_and_wait("resume", prompt_id="mine", resume=True)
            self.assertEqual(run.status, "handled")

    async def test_pauses_each_prompt_of_its_host(self) -> None:
        async with self.client(max_turns=1) as client:
            run = await client.prompt_and_wait("bash echo 1")
            self.assertEqual((run.status, run.paused_by), ("paused", "max_turns"))

    async def test_requests_an_answer_of_a_certain_shape(self) -> None:
        async with self.client() as client:
            run = await client.prompt_and_wait("hello", output_schema={"type": "number"}, prompt_id="mine")
            self.assertEqual((run.output_status, run.output_attempts), ("invalid", 3))
            self.assertIsNone(run.output)
            self.assertTrue(run.text.startswith("You said:"))
            answer = await client.prompt("again", prompt_id="mine")
            assert answer is not None
            self.assertEqual(answer["disposition"], "duplicate")

    async def test_have_an_informative_repr(self) -> None:
        async with self.client() as client:
            run = client.run("long 500")
            self.assertEqual(repr(run), "PromptRun(status='not sent', text='', messages=0)")
            async for _ in run:
                if run.status is None:
                    self.assertIn("status='running'", repr(run))
            self.assertRegex(
                repr(run), r"^PromptRun\(status='completed', text='(word ){10,}.*…, messages=2\)$"
            )
            failed = client.run("fail")
            await failed.wait()
            self.assertRegex(repr(failed), r"^PromptRun\(status='error', error='.*no such thing")

    async def test_names_the_span_that_a_run_belongs_to(self) -> None:
        agent = self.folder / "agent"
        agent.mkdir(exist_ok=True)
        (agent / "settings.json").write_text('{"telemetry": {"enabled": true}}')
        traceparent = f"00-{'a' * 32}-{'b' * 16}-01"
        async with self.client() as client:
            # Without a provider in the host, what a command starts continues the client's span.
            await client.prompt_and_wait("bash echo $TRACEPARENT > seen.txt", traceparent=traceparent)
        self.assertEqual((self.project / "seen.txt").read_text(), f"{traceparent}\n")

    async def test_runs_tools(self) -> None:
        async with self.client() as client:
            run = await client.prompt_and_wait("ls")
            self.assertEqual(run.text, "It has only-file.txt.")
            stats = await client.get_session_stats()
            self.assertEqual((stats["toolCalls"], stats["toolResults"]), (1, 1))

    async def test_waits_for_the_end_of_all_work(self) -> None:
        async with self.client() as client:
            await client.wait_until_settled(timeout=5)
            await client.prompt("bash sleep 0.3")
            await client.follow_up("and then")
            await client.wait_until_settled(timeout=20)
            last = await client.get_last_assistant_text()
            self.assertEqual(last["text"], "You said: and then")

    async def test_does_not_wait_for_messages_queued_for_the_next_prompt(self) -> None:
        async with self.client() as client:
            await client.queue_message("for later")
            self.assertEqual((await client.get_state())["pendingMessageCount"], 1)
            await client.wait_until_settled(timeout=5)

    async def test_waits_for_a_prompt_that_is_still_being_processed(self) -> None:
        async with self.client("-e", str(HERE / "dialogs.mjs")) as client:
            prompt = asyncio.ensure_future(client.prompt("look well"))
            await asyncio.sleep(0)
            await client.wait_until_settled(timeout=20)
            self.assertTrue(prompt.done())
            last = await client.get_last_assistant_text()
            self.assertEqual(last["text"], "You said: look well")

    async def test_waits_and_rebuilds_behind_a_filter(self) -> None:
        async with self.client() as client:
            await client.set_event_filter(["message_update", "agent_end"])
            for word in ("one", "two"):
                run = client.run(word)
                events = [event async for event in run]
                kinds = {event["type"] for event in events}
                self.assertEqual(kinds, {"message_update", "agent_end"})
                self.assertEqual((run.status, run.text), ("completed", f"You said: {word}"))
                last = [event for event in events if event["type"] == "message_update"][-1]
                assert last["message"]["role"] == "assistant"
                self.assertEqual(texts(events), f"You said: {word}")
                self.assertEqual(last["message"]["content"][0].get("text"), f"You said: {word}")
            await client.initialize(events=[])
            await client.prompt("bash sleep 0.2")
            await client.wait_until_settled(timeout=20)
            with self.assertRaises(RpcError):
                await client.request("set_event_filter", {"events": 7})
            self.assertEqual([event async for event in client.run("three")], [])
            await client.set_event_filter()
            self.assertIn("agent_start", [event["type"] async for event in client.run("four")])

    async def test_gives_every_reader_every_event(self) -> None:
        async with self.client() as client:
            readers = [client.events() for _ in range(3)]
            await client.prompt_and_wait("ls")
        seen: list[list[str]] = []
        for reader in readers:
            seen.append([event["type"] async for event in reader])
        self.assertGreater(len(seen[0]), 10)
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])

    async def test_starts_reading_in_the_middle_of_a_reply(self) -> None:
        async with self.client() as client:
            early = client.events()
            await client.prompt("slow")
            async for event in early:
                if event["type"] == "message_update" and len(texts([event])) > 0:
                    break
            await asyncio.sleep(0.2)
            late = client.events()
            async for event in late:
                if event["type"] == "message_update":
                    message = event["message"]
                    assert message["role"] == "assistant"
                    self.assertRegex(str(message["content"][0].get("text")), "^tick tick")
                    break
            await client.abort()

    async def test_ends_with_an_error_when_the_run_fails(self) -> None:
        async with self.client() as client:
            run = client.run("fail")
            self.assertEqual(await run.wait(), "error")
            self.assertIn("no such thing", run.error or "")
            self.assertEqual(run.code, "invalid_request")
            with self.assertRaises(RpcError) as caught:
                await client.prompt_and_wait("fail")
            self.assertEqual(caught.exception.code, "prompt_failed")
            self.assertEqual(caught.exception.prompt_code, "invalid_request")

    async def test_aborts(self) -> None:
        async with self.client() as client:
            run = client.run("slow")
            async for event in run:
                if event["type"] == "message_update":
                    await client.abort()
                    break
            self.assertEqual(await run.wait(), "aborted")
            async with client.run("slow") as second:
                async for event in second:
                    if event["type"] == "message_update":
                        break
            self.assertFalse((await client.get_state())["isStreaming"])

    async def test_steers(self) -> None:
        async with self.client() as client:
            run = client.run("twice")
            async for event in run:
                if event["type"] == "tool_execution_start":
                    steering = await client.steer("be brief")
                    assert steering is not None
                    self.assertEqual(steering["disposition"], "queued")
                    self.assertIn("itemId", steering)
                    break
            await run.wait()
            self.assertEqual(run.text, "You said: be brief")
            results = [it for it in run.messages if it["role"] == "toolResult"]
            self.assertEqual([it["isError"] for it in results], [False, True])

    async def test_sends_one_prompt_after_another(self) -> None:
        async with self.client() as client:
            first = client.run("bash sleep 0.3")
            await first.__anext__()
            second = client.run("afterwards", streaming_behavior="followUp")
            statuses = await asyncio.gather(first.wait(), second.wait())
            self.assertEqual(statuses, ["completed", "completed"])
            self.assertEqual(second.text, "You said: afterwards")


class Sessions(HostTest):
    async def test_forks(self) -> None:
        async with self.keeping() as client:
            await client.prompt_and_wait("one")
            await client.prompt_and_wait("two")
            messages = (await client.get_fork_messages())["messages"]
            self.assertEqual([it["text"] for it in messages], ["one", "two"])
            fork = await client.fork(messages[1]["entryId"])
            self.assertEqual(fork, {"text": "two", "cancelled": False})
            self.assertEqual((await client.get_state())["messageCount"], 2)

    async def test_have_typed_files(self) -> None:
        async with self.keeping() as client:
            await client.prompt_and_wait("everything")
            await client.set_session_name("typed")
            path = (await client.get_state()).get("sessionFile", "")
            with open(path, encoding="utf-8") as file:
                header, *entries = [json.loads(line) for line in file]
            self.assertIsNone(mismatch(header, SessionHeader))
            self.assertGreater(len(entries), 4)
            for entry in entries:
                self.assertIsNone(mismatch(entry, KnownSessionEntry))
            listed = (await client.list_sessions())["sessions"]
            self.assertEqual([it.get("name") for it in listed], ["typed"])


class Frames(HostTest):
    async def test_match_their_types(self) -> None:
        async with self.client() as client:
            events = client.events()
            await client.prompt_and_wait("everything")
            await client.bash("echo out", stream=True)
            answers: list[tuple[Any, str]] = [
                (await client.get_state(), "get_state"),
                (await client.get_messages(), "get_messages"),
                (await client.get_session_stats(), "get_session_stats"),
                (await client.get_context(), "get_context"),
                (await client.get_commands(), "get_commands"),
                (await client.get_tree(), "get_tree"),
                (await client.get_entries(), "get_entries"),
                (await client.get_available_models(), "get_available_models"),
                (await client.get_capabilities(), "get_capabilities"),
                (await client.get_budget(), "get_budget"),
                (await client.cycle_thinking_level(), "cycle_thinking_level"),
                (await client.cycle_model(), "cycle_model"),
                (await client.bash("exit 3"), "bash"),
                (await client.clear_queue(), "clear_queue"),
            ]
        seen: set[str] = set()
        async for event in events:
            seen.add(event["type"])
            self.assertIsNone(mismatch(event, Event))
        self.assertLess({"message_update", "tool_execution_end", "bash_execution_update"}, seen)
        for data, name in answers:
            self.assertIsNone(mismatch(data, typed_result(name)), name)

    async def test_are_the_same_in_both_forms_of_a_stream(self) -> None:
        replies: list[list[Any]] = []
        for form in ("delta", "full"):
            async with self.client(stream=form) as client:
                replies.append([copy.deepcopy(it) async for it in client.run("everything")])
        delta, full = ([scrubbed(event) for event in events] for events in replies)
        self.assertEqual(ends(delta), ends(full))
        # Deltas that arrive fast are merged, so the steps differ, but their result does not.
        for events in (delta, full):
            self.assertEqual(last_partials(events), last_partials(full))
        for kind in ("text_delta", "thinking_delta", "toolcall_delta"):
            self.assertEqual(added(delta, kind), added(full, kind))

    async def test_may_contain_awkward_characters(self) -> None:
        awkward = "a\u2028b\u2029c\x85d\r\n💜 \\u0041 \"q\""
        async with self.client() as client:
            run = await client.prompt_and_wait(awkward)
            self.assertEqual(run.text, f"You said: {awkward}")

    async def test_may_be_large_in_both_directions(self) -> None:
        large = "size " + "x💜" * 2_500_000
        async with self.client() as client:
            run = await client.prompt_and_wait(large)
            self.assertEqual(run.text, f"{len(large)} characters")
            self.assertEqual(run.messages[0].get("content"), large)

    async def test_stream_thousands_of_deltas(self) -> None:
        async with self.client() as client:
            events = [event async for event in client.run("long 16000")]
            self.assertEqual(texts(events), "word " * 16000)


class Errors(HostTest):
    async def test_name_the_field_and_the_code(self) -> None:
        async with self.client() as client:
            with self.assertRaises(RpcError) as caught:
                await client.request("set_model", {"provider": 1})
            self.assertEqual(caught.exception.code, "invalid_params")
            self.assertEqual(caught.exception.command, "set_model")
            self.assertIn('"provider"', str(caught.exception))
            with self.assertRaises(RpcError) as caught:
                await client.set_model("nobody", "nothing")
            self.assertEqual(caught.exception.code, "model_not_found")
            with self.assertRaises(RpcError) as caught:
                await client.request("no_such_command")
            self.assertEqual(caught.exception.code, "unknown_command")
            self.assertIsNone(await client.set_auto_retry(False))

    async def test_refuse_a_prompt_before_its_events(self) -> None:
        async with self.client() as client:
            run = client.run("slow")
            await run.__anext__()
            with self.assertRaises(RpcError) as caught:
                await client.run("me too").wait()
            self.assertEqual(caught.exception.code, "busy")
            await client.abort()
            self.assertEqual(await run.wait(), "aborted")


class Dialogs(HostTest):
    extension = ("-e", str(HERE / "dialogs.mjs"))

    async def asked(self, ui: Notices, *commands: str, **options: Any) -> list[str]:
        async with self.client(*self.extension, ui=ui, **options) as client:
            for count, command in enumerate(commands, 1):
                await client.prompt(f"/{command}")
                await asyncio.wait_for(ui.have(count), 10)
        return ui.notices

    async def test_are_answered_by_the_handler(self) -> None:
        class Ui(Notices):
            async def select(self, request: ExtensionUiRequestSelect) -> str:
                return request["options"][1]

            async def confirm(self, request: Any) -> bool:
                return True

            async def input(self, request: Any) -> str:
                return "it is " + str(request["placeholder"])

            def editor(self, request: Any) -> Any:
                return request["prefill"] + " and end"

        self.assertEqual(
            await self.asked(Ui(), "select", "confirm", "input", "editor"),
            ['select: "two"', "confirm: true", 'input: "it is yours"', 'editor: "begin and end"'],
        )

    async def test_are_cancelled_when_nobody_handles_them(self) -> None:
        self.assertEqual(
            await self.asked(Notices(), "select", "confirm", "input", "editor"),
            ["select: nothing", "confirm: false", "input: nothing", "editor: nothing"],
        )

    async def test_are_cancelled_when_the_handler_fails_or_never_answers(self) -> None:
        cancelled: list[str] = []

        class Ui(Notices):
            async def select(self, request: Any) -> str:
                raise LookupError("no screen")

            async def input(self, request: Any) -> str:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    cancelled.append(request["title"])
                    raise
                return "never"

        self.assertEqual(
            await self.asked(Ui(), "select", "brief", "input", dialog_timeout=0.5),
            ["select: nothing", "brief: nothing", "input: nothing"],
        )
        self.assertEqual(cancelled, ["Quick?", "Name?"])

    async def test_do_not_block_commands_or_the_end(self) -> None:
        class Ui(Notices):
            async def select(self, request: Any) -> str:
                await asyncio.Event().wait()
                return "never"

        async with self.client(*self.extension, ui=Ui()) as client:
            run = asyncio.ensure_future(client.prompt("/select"))
            self.assertEqual((await client.get_state())["messageCount"], 0)
            await asyncio.sleep(0.1)
        await asyncio.gather(run, return_exceptions=True)
        self.assertEqual(client.exit_code, 0)


class Ends(HostTest):
    async def test_fail_everything_that_waits_when_the_host_is_killed(self) -> None:
        async with self.client() as client:
            events = client.events()
            run = client.run("slow")
            await run.__anext__()
            bash = asyncio.ensure_future(client.bash("sleep 30"))
            settled = asyncio.ensure_future(client.wait_until_settled())
            await client.get_state()
            assert client.pid is not None
            os.kill(client.pid, signal.SIGKILL)
            for waiting in (bash, settled, run.wait()):
                with self.assertRaises(ConnectionClosedError) as caught:
                    await waiting
                self.assertEqual(caught.exception.exit_code, -9)
            with self.assertRaises(ConnectionClosedError):
                async for _ in events:
                    pass
            with self.assertRaises(ConnectionClosedError):
                await client.get_state()

    async def test_arrive_in_order_during_a_run(self) -> None:
        client = self.client()
        await client.start()
        events = client.events()
        run = client.run("bash sleep 60")
        async for event in run:
            if event["type"] == "tool_execution_start":
                break
        await asyncio.wait_for(client.close(), 6)
        self.assertEqual(client.exit_code, 0)
        types = [event["type"] async for event in events]
        self.assertIn("tool_execution_start", types)
        # The host still reports how it ended.
        self.assertEqual(await run.wait(), "aborted")
        await client.close()

    async def test_keep_clients_apart(self) -> None:
        async def one(number: int) -> str:
            async with self.client() as client:
                return (await client.prompt_and_wait(f"number {number}")).text

        replies = await asyncio.gather(*(one(number) for number in range(6)))
        self.assertEqual(replies, [f"You said: number {number}" for number in range(6)])


def typed_result(command: str) -> Any:
    scope = {**vars(protocol), **vars(commands)}
    return get_type_hints(getattr(commands.CommandMethods, command), scope)["return"]


def scrubbed(value: Any) -> Any:
    """Without the values that differ between sessions."""
    if isinstance(value, dict):
        members: dict[str, Any] = value
        gone = {"timestamp", "usage", "id", "toolCallId", "promptId", "seq"}
        return {name: scrubbed(it) for name, it in members.items() if name not in gone}
    if isinstance(value, list):
        items: list[Any] = value
        return [scrubbed(it) for it in items]
    return value


def ends(events: list[Any]) -> list[Any]:
    return [event for event in events if event["type"] != "message_update"]


def last_partials(events: list[Any]) -> list[Any]:
    """The message at the end of each block."""
    found: list[Any] = []
    for event in events:
        step = event.get("assistantMessageEvent", {})
        if step.get("type", "").endswith("_end"):
            found.append((event["message"], step))
    return found


def added(events: list[Any], kind: str) -> list[str]:
    """The joined deltas of each reply."""
    sums = [""]
    for event in events:
        step = event.get("assistantMessageEvent", {})
        if event["type"] == "message_end":
            sums.append("")
        if step.get("type") == kind:
            sums[-1] += step["delta"]
    return sums
