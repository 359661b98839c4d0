"""Clients of a listening host: sessions, cut connections, tokens."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from tau_rpc import ConnectionClosedError, RpcError, TauClient
from tau_rpc.remote_client import RemoteClient

from .support import HERE, TAU, HostTest


class Remote(HostTest):
    async def listen(self, *args: str) -> list[dict[str, Any]]:
        """Starts a listening host; returns its addresses."""
        sockets = self.folder / "sockets"
        sockets.mkdir(mode=0o700)
        self.socket = sockets / "tau.sock"
        env = {**os.environ, "HOME": str(self.folder), "PI_CODING_AGENT_DIR": str(self.folder / "agent")}
        words = ["--mode", "rpc", "--provider", "scripted", "--model", str(HERE / "scenario.mjs")]
        listen = ["--listen", f"unix:{self.socket}", "--listen", "127.0.0.1:0"]
        process = await asyncio.create_subprocess_exec(
            *TAU, *words, *listen, *args, cwd=self.project, env=env, stdout=asyncio.subprocess.PIPE
        )
        self.process = process

        async def end() -> None:
            if process.returncode is None:
                process.terminate()
            await process.wait()

        self.addAsyncCleanup(end)
        assert process.stdout is not None
        return [json.loads(await process.stdout.readline()) for _ in range(2)]

    async def proxy(self) -> tuple[str, list[asyncio.StreamWriter]]:
        """A socket in front of the host that can cut its connections."""
        path = self.socket.parent / "proxy.sock"
        open_writers: list[asyncio.StreamWriter] = []

        async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while chunk := await reader.read(1 << 16):
                    writer.write(chunk)
            except OSError:
                pass
            writer.close()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            host_reader, host_writer = await asyncio.open_unix_connection(str(self.socket))
            open_writers.extend([writer, host_writer])
            await asyncio.gather(pump(reader, host_writer), pump(host_reader, writer))

        server = await asyncio.start_unix_server(serve, str(path))
        self.addCleanup(server.close)
        return f"unix:{path}", open_writers

    async def test_opens_sessions_over_a_web_socket_and_a_unix_socket(self) -> None:
        unix, tcp = await self.listen("--sessions")
        token = Path(tcp["tokenFile"]).read_text().strip()
        for url, secret in ((unix["url"], None), (tcp["url"], token)):
            async with TauClient.connect(url, token=secret) as client:
                sessions = [await client.open_session(cwd=self.project) for _ in range(2)]
                runs = await asyncio.gather(*(it.prompt_and_wait("hello") for it in sessions))
                self.assertEqual([run.text for run in runs], ["You said: hello"] * 2)
                self.assertEqual(len(await client.open_sessions()), 2)
                big = await sessions[0].prompt_and_wait("x" * 200_000)
                self.assertEqual(len(big.text), len("You said: ") + 200_000)
                for session in sessions:
                    await session.close()
                with self.assertRaises(ConnectionClosedError):
                    await sessions[0].get_state()
                self.assertEqual(await client.open_sessions(), [])

    async def test_reports_why_there_is_no_connection(self) -> None:
        _, tcp = await self.listen("--sessions")
        address = tcp["url"]
        token = Path(tcp["tokenFile"]).read_text().strip()
        closed = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        port = closed.sockets[0].getsockname()[1]
        closed.close()
        await closed.wait_closed()
        cases = [
            (address, "wrong", "unauthorized", "does not take this token"),
            (f"{address}/elsewhere", token, "refused", "takes no such connection"),
            (f"ws://127.0.0.1:{port}", "any", "unreachable", "Could not connect"),
            ("ws://192.0.2.1:1", None, "no_token", "needs token"),
        ]
        for url, secret, code, text in cases:
            with self.assertRaisesRegex(ConnectionClosedError, text) as refused:
                await TauClient.connect(url, token=secret)
            self.assertEqual(refused.exception.code, code)

    async def test_uses_the_one_session_of_a_host(self) -> None:
        unix, _ = await self.listen()
        client = await TauClient.connect(unix["url"])
        assert isinstance(client, RemoteClient)
        self.assertEqual((await client.prompt_and_wait("hello")).text, "You said: hello")
        with self.assertRaises(RpcError) as refused:
            await client.open_session()
        self.assertEqual(refused.exception.code, "multi_session_disabled")
        await client.close()

    async def test_resumes_where_a_connection_was_cut(self) -> None:
        await self.listen("--sessions")
        url, writers = await self.proxy()
        async with TauClient.connect(url) as client:
            session = await client.open_session(cwd=self.project)
            events = session.events()
            running = asyncio.ensure_future(session.prompt_and_wait("bash sleep 0.3"))
            async for event in events:
                if event["type"] == "tool_execution_start":
                    break
            for writer in writers:
                writer.close()
            await running
            seen: list[Any] = []
            async for event in events:
                seen.append(event)
                if event["type"] == "prompt_result":
                    break
            again = [event for event in seen if event["type"] == "reconnected"]
            self.assertEqual([event["resumed"] for event in again], [True])
            messages = await session.get_messages()
            roles = [message["role"] for message in messages["messages"]]
            self.assertEqual(roles.count("user"), 1)
            await session.close()

    async def test_fails_when_the_host_does_not_return(self) -> None:
        unix, tcp = await self.listen("--sessions")
        with self.assertRaises(ConnectionClosedError):
            await TauClient.connect(tcp["url"], token="wrong-wrong-wrong-wrong")
        with self.assertRaises(ConnectionClosedError):
            await TauClient.connect("ws://192.0.2.1:1")
        client = await TauClient.connect(unix["url"], reconnect=0.2)
        session = await client.open_session(cwd=self.project)
        self.process.kill()
        await self.process.wait()
        with self.assertRaises(ConnectionClosedError):
            async for _ in session.events():
                pass
        await client.close()
