"""Hosts that misbehave, and clients that are used incorrectly."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from tau_rpc import (
    ConnectionClosedError,
    EventOverflowError,
    FrameTooLargeError,
    RequestTimeoutError,
    RpcError,
    TauClient,
)

from .support import HostTest, fake_command


def children() -> set[int]:
    """The child processes of this process that were not waited for."""
    found = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True
    )
    lines = found.stdout.splitlines()
    return {int(line.split()[0]) for line in lines if not line.endswith(str(os.getpid()))
            and " ps " not in f" {line} "}


class Faults(HostTest):
    async def test_a_host_that_dies_leaves_its_exit_code_and_stderr(self) -> None:
        async with self.fake("dies") as client:
            answers = [client.get_state() for _ in range(5)]
            for answer in await asyncio.gather(*answers, return_exceptions=True):
                assert isinstance(answer, ConnectionClosedError)
                self.assertEqual(answer.exit_code, 3)
                self.assertIn("out of luck", str(answer))

    async def test_a_queued_prompt_that_a_budget_refuses_has_its_code(self) -> None:
        async with self.fake("spent") as client:
            with self.assertRaisesRegex(RpcError, "used up") as caught:
                await client.prompt_and_wait("hi")
            self.assertEqual(caught.exception.code, "prompt_failed")
            self.assertEqual(caught.exception.prompt_code, "budget_exceeded")

    async def test_a_host_that_is_killed_leaves_the_signal(self) -> None:
        async with self.fake("killed") as client:
            with self.assertRaisesRegex(ConnectionClosedError, "signal 9"):
                await client.get_state()

    async def test_a_missing_host_is_reported(self) -> None:
        with self.assertRaisesRegex(ConnectionClosedError, "could not be started.*no-such-program"):
            async with TauClient(["/no-such-program"]):
                pass

    async def test_a_command_is_a_program_or_a_list_and_runs_in_rpc_mode(self) -> None:
        fake = self.folder / "fake"
        fake.write_text(f"#!{sys.executable}\nimport sys\nsys.exit(' '.join(sys.argv[1:]))\n")
        fake.chmod(0o755)
        for command, args, words in (
            (str(fake), ["--verbose"], "--mode rpc --verbose"),
            (fake, [], "--mode rpc"),
            ([fake, "--mode", "rpc", "-x"], ["-y"], "--mode rpc -x -y"),
            ([fake], ["--mode=rpc"], "--mode=rpc"),
        ):
            with self.assertRaises(ConnectionClosedError) as raised:
                async with TauClient(command, args=args):
                    pass
            self.assertEqual(raised.exception.stderr.strip(), words)

    async def test_a_host_whose_grandchild_holds_the_pipes_still_ends(self) -> None:
        began = time.monotonic()
        async with self.fake("orphan") as client:
            with self.assertRaises(ConnectionClosedError) as caught:
                await client.get_state()
        self.assertEqual(caught.exception.exit_code, 4)
        self.assertLess(time.monotonic() - began, 8)

    async def test_a_host_that_closes_its_output_is_ended(self) -> None:
        async with self.fake("closes-output") as client:
            with self.assertRaises(ConnectionClosedError):
                await client.get_state()

    async def test_a_host_that_never_answers_is_given_up(self) -> None:
        with self.assertRaises(RequestTimeoutError):
            await self.fake("silent", start_timeout=0.3).start()
        async with self.fake("mute", close_timeout=0.1) as client:
            with self.assertRaises(RequestTimeoutError) as caught:
                await client.get_state(timeout=0.1)
            self.assertEqual((caught.exception.command, caught.exception.timeout), ("get_state", 0.1))

    async def test_a_host_that_does_not_want_to_end_is_killed(self) -> None:
        client = self.fake("deaf", close_timeout=0.2)
        await client.start()
        await asyncio.wait_for(client.close(), 5)
        self.assertEqual(client.exit_code, -9)

    async def test_a_failing_stderr_listener_ends_nothing(self) -> None:
        heard: list[str] = []

        def listen(text: str) -> None:
            heard.append(text)
            raise LookupError("no log")

        reported: list[str] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reported.append(context["message"]))
        async with self.fake("dies", on_stderr=listen) as client:
            with self.assertRaisesRegex(ConnectionClosedError, "out of luck"):
                await client.get_state()
        self.assertEqual("".join(heard), "out of luck\n")
        self.assertEqual(len(reported), len(heard))

    async def test_a_request_cannot_take_another_id(self) -> None:
        async with self.fake("quiet") as client:
            self.assertIsNone(await client.request("x", {"id": "other", "type": "y"}, timeout=5))

    async def test_noise_and_unknown_frames_on_stdout_are_harmless(self) -> None:
        async with self.fake("noise") as client:
            events = client.events()
            self.assertEqual(await client.get_state(), {"more": "than documented"})
            self.assertIn("Warning: not JSON", client.stderr)
        self.assertEqual([event async for event in events],
                         [{"type": "from_the_future", "wonder": True}])

    async def test_a_dialog_of_an_unknown_kind_is_cancelled(self) -> None:
        for method in ("hologram", "select"):
            async with self.fake("dialog", method) as client:
                answer = await client.get_last_assistant_text(timeout=5)
                self.assertIn('"cancelled": true', answer["text"] or "")

    async def test_a_host_without_initialize_still_works(self) -> None:
        async with self.fake("legacy") as client:
            self.assertIsNone(client.host)
            run = await client.prompt_and_wait("x", timeout=5)
            self.assertEqual((run.status, run.text), ("completed", "old"))


class Limits(HostTest):
    async def test_a_frame_of_64_mib_is_read_whole(self) -> None:
        size = 64 << 20
        async with self.fake("huge", str(size)) as client:
            answer = await client.get_last_assistant_text()
            self.assertEqual(len(answer["text"] or ""), size + 1)

    async def test_an_answer_over_the_limit_fails_its_request(self) -> None:
        async with self.fake("huge", "200000", max_frame_bytes=100_000) as client:
            with self.assertRaises(FrameTooLargeError):
                await client.get_last_assistant_text()

    async def test_a_command_over_the_hosts_limit_is_not_sent(self) -> None:
        async with self.fake("quiet") as client:
            with self.assertRaises(FrameTooLargeError):
                await client.prompt("x" * 1000)

    async def test_a_reader_that_stays_behind_ends_and_others_go_on(self) -> None:
        async with self.fake("flood", "5000") as client:
            slow, lean = client.events(max_events=100), client.events(max_bytes=2000)
            patient = client.events()
            await client.get_last_assistant_text()
            for reader in (slow, lean):
                with self.assertRaises(EventOverflowError):
                    await reader.__anext__()
                with self.assertRaises(StopAsyncIteration):
                    await reader.__anext__()
        self.assertEqual(len([event async for event in patient]), 5000)

    async def test_a_dropped_reader_receives_no_more_events(self) -> None:
        async with self.fake("flood", "10") as client:
            async for _ in client.run("x"):
                break
            await asyncio.sleep(0.1)
            gc.collect()
            self.assertEqual(len(client._streams), 0)  # pyright: ignore[reportPrivateUsage]

    async def test_a_host_that_does_not_read_makes_writers_wait(self) -> None:
        async with self.fake("unread") as client:
            big = [client.request("x", {"pad": "y" * 900}) for _ in range(300)]
            waiting = asyncio.gather(*big)
            await asyncio.sleep(0.3)
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting

    async def test_nobody_waits_for_a_prompt_cancelled_before_it_was_sent(self) -> None:
        async with self.fake("unread", close_timeout=0.2) as client:
            pad = {"pad": "y" * 900}
            requests = [asyncio.ensure_future(client.request("x", pad)) for _ in range(300)]
            await asyncio.sleep(0.1)
            requests.append(asyncio.ensure_future(client.prompt("x")))
            await asyncio.sleep(0)
            pending = client._pending.values()  # pyright: ignore[reportPrivateUsage]
            answers = [answer for command, answer in pending if command == "prompt"]
            self.assertEqual(len(answers), 1)
            waiting = asyncio.ensure_future(asyncio.wait(answers))
            await asyncio.sleep(0)
            for request in requests:
                request.cancel()
            await asyncio.wait_for(waiting, 5)


class Cancelling(HostTest):
    async def test_a_cancelled_request_ignores_only_its_own_answer(self) -> None:
        async with self.client() as client:
            bash = asyncio.ensure_future(client.bash("sleep 0.3; echo late"))
            await asyncio.sleep(0.1)
            bash.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await bash
            self.assertEqual((await client.bash("echo next"))["output"].strip(), "next")

            async def both() -> None:
                while (await client.get_state())["messageCount"] < 2:
                    await asyncio.sleep(0.05)

            await asyncio.wait_for(both(), 10)

    async def test_reading_loses_no_event(self) -> None:
        async with self.client() as client:
            events = client.events()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(events.__anext__(), 0.05)
            await client.prompt_and_wait("hi")
            self.assertEqual((await events.__anext__())["type"], "agent_start")

    async def test_the_whole_client_leaves_no_process(self) -> None:
        before = children()

        async def work() -> None:
            async with self.client() as client:
                await client.prompt_and_wait("slow")

        for delay in (0.0, 0.02, 0.1, 0.6, 1.2):
            task = asyncio.ensure_future(work())
            await asyncio.sleep(delay)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        self.assertEqual(children() - before, set())

    async def test_closing_can_be_interrupted(self) -> None:
        client = self.fake("deaf", close_timeout=30)
        await client.start()
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(client.close(), 0.2)
        self.assertEqual(client.exit_code, -9)


class Life(HostTest):
    async def test_is_over_before_the_start_and_after_the_end(self) -> None:
        client = self.fake("quiet")
        with self.assertRaises(ConnectionClosedError):
            await client.get_state()
        with self.assertRaises(ConnectionClosedError):
            await client.events().__anext__()
        async with client:
            pass
        for attempt in (client.get_state(), client.start(), client.run("x").wait()):
            with self.assertRaises(ConnectionClosedError):
                await attempt
        await client.close()

    async def test_an_error_without_an_id_finds_its_request(self) -> None:
        async with self.fake("legacy") as client:
            self.assertIsNone(client.host)
            with self.assertRaises(RpcError):
                await client.initialize()


class Loops(unittest.TestCase):
    def test_a_client_works_under_repeated_asyncio_run(self) -> None:
        async def once() -> int | None:
            async with TauClient(fake_command("quiet")) as client:
                await client.abort()
            return client.exit_code

        self.assertEqual([asyncio.run(once()) for _ in range(3)], [0, 0, 0])
        with ThreadPoolExecutor(4) as threads:
            codes = threads.map(lambda _: asyncio.run(once()), range(4))
            self.assertEqual(list(codes), [0, 0, 0, 0])
