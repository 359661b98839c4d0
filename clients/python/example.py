# A session with Tau, typed: PYTHONPATH=clients/python python3 clients/python/example.py
import asyncio

from tau_rpc import TauClient

# For a real model set a key, such as ANTHROPIC_API_KEY, and leave these arguments out.
scripted = ["--provider", "scripted"]


async def main() -> None:
    async with TauClient(args=["--no-session", *scripted]) as client:
        run = client.run("What is in this folder?")
        async for event in run:
            if event["type"] == "tool_execution_start":
                print(f"[{event['toolName']}]")
        stats = await client.get_session_stats()
        print(run.text, f"({run.status}, {stats['tokens']['total']} tokens)")


asyncio.run(main())
