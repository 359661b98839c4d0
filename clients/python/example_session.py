# An answer as data, a steered run, a job and a rewind:
# PYTHONPATH=clients/python python3 clients/python/example_session.py
import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from tau_rpc import TauClient

# For a real model, set a key such as ANTHROPIC_API_KEY and leave `provider` and `model` out.
script = str(Path(__file__).parent / "example-session.json")

schema = {
    "type": "object",
    "properties": {"files": {"type": "array", "items": {"type": "string"}}},
    "required": ["files"],
}


async def main(folder: Path) -> None:
    (folder / "notes.md").write_text("# Notes\n")
    async with TauClient(provider="scripted", model=script, cwd=folder) as client:
        await client.initialize(rewind=True)

        # An answer that fits a schema. What does not fit is sent back to the model.
        run = await client.prompt_and_wait("Which files are here?", output_schema=schema)
        print(run.output_status, run.output["files"])

        # A message that the model reads as soon as its current tool has ended.
        async with client.run("Start the server and write down its port") as run:
            async for event in run:
                if event["type"] == "tool_execution_start" and event["toolName"] == "bash":
                    await client.steer("Write it into notes.md")
        print(run)

        # What runs in the background belongs to the session.
        for job in (await client.list_jobs())["jobs"]:
            print(job["command"], job["status"])
            await client.job_kill(job["jobId"])

        # The files as they were before that prompt.
        (checkpoint,) = (await client.list_checkpoints())["checkpoints"]
        done = await client.rewind(checkpoint_id=checkpoint["id"])
        print(done["files"]["changed"], (folder / "notes.md").read_text())


with TemporaryDirectory() as name:
    asyncio.run(main(Path(name)))
