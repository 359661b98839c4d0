import functools
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from harbor.agents.model_connection import ResolvedModelConnection


@dataclass
class CliFlag:
    kwarg: str
    cli: str
    type: str = "str"
    choices: list[str] | None = None
    default: Any = None


def with_prompt_template(run):
    @functools.wraps(run)
    async def wrapped(self, instruction, environment, context):
        return await run(self, self.render_instruction(instruction), environment, context)

    return wrapped


class BaseInstalledAgent:
    CLI_FLAGS: list[CliFlag] = []

    def __init__(self, logs_dir, model_name=None, version=None, environment_logs_dir=None, mcp_servers=None, skills_dir=None, **flags):
        self.logs_dir = logs_dir
        self.model_name = model_name
        self._version = version
        self.environment_logs_dir = environment_logs_dir or PurePosixPath("/logs/agent")
        self.mcp_servers = mcp_servers or []
        self.skills_dir = skills_dir
        self._resume = False
        self._flags = flags
        unknown = set(flags) - {flag.kwarg for flag in self.CLI_FLAGS}
        assert not unknown, unknown

    @property
    def model_connection(self):
        return ResolvedModelConnection(env={"SOME_API_KEY": "key"})

    def render_instruction(self, instruction):
        return instruction

    def build_cli_flags(self):
        given = [flag for flag in self.CLI_FLAGS if self._flags.get(flag.kwarg) is not None]
        return " ".join(f"{flag.cli} {shlex.quote(self._flags[flag.kwarg])}" for flag in given)

    async def ensure_system_dependencies(self, environment, dependencies):
        environment.commands.append(f"packages {' '.join(dependencies)}")

    async def exec_as_agent(self, environment, command, env=None, cwd=None, timeout_sec=None):
        return await environment.execute(f"set -o pipefail; {command}", env or {})

    async def _upload_config_text(self, environment, *, content, remote_path, filename):
        environment.files[remote_path] = content
