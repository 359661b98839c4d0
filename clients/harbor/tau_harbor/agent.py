"""Runs Tau in the environment of a Harbor trial and returns its trajectory."""

from __future__ import annotations

import json
import shlex
from typing import Any, Iterator

from harbor.agents.installed.base import (
    BaseInstalledAgent,
    CliFlag,
    with_prompt_template,
)
from harbor.agents.installed.node_install import nvm_node_install_snippet
from harbor.agents.model_connection import ModelConnectionSpec
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

PACKAGE = "@tau-agent/cli"
CONFIG_FOLDER = "/tmp/tau-agent"
TRAJECTORY = "trajectory.json"
# An image may have its own Node and no nvm.
LOAD_NODE = "if [ -s ~/.nvm/nvm.sh ]; then . ~/.nvm/nvm.sh; fi"


class Tau(BaseInstalledAgent):
    """Installs the host from npm and runs one prompt, without approvals: the trial is the sandbox."""

    SUPPORTS_ATIF = True
    SUPPORTS_RESUME = True
    MODEL_CONNECTION = ModelConnectionSpec(passthrough=True)
    CLI_FLAGS = [
        CliFlag(
            "thinking",
            cli="--thinking",
            type="enum",
            choices=["off", "minimal", "low", "medium", "high", "xhigh", "max"],
        ),
        CliFlag("fallback_model", cli="--fallback-model"),
        CliFlag("append_system_prompt", cli="--append-system-prompt"),
    ]

    @staticmethod
    def name() -> str:
        return "tau"

    def get_version_command(self) -> str | None:
        return f"{LOAD_NODE}; tau --version"

    def parse_version(self, stdout: str) -> str:
        return stdout.strip().splitlines()[-1].strip()

    async def install(self, environment: BaseEnvironment) -> None:
        await self.ensure_system_dependencies(environment, ("curl",))
        wanted = f"{PACKAGE}@{self._version or 'latest'}"
        await self.exec_as_agent(
            environment,
            command=(
                f"{nvm_node_install_snippet(24)} && "
                f"npm install -g --ignore-scripts {shlex.quote(wanted)} && tau --version"
            ),
        )

    @with_prompt_template
    async def run(
        self,
        instruction: str,
        environment: BaseEnvironment,
        context: AgentContext,
    ) -> None:
        if not self.model_name or "/" not in self.model_name:
            raise ValueError("Name the model as provider/model, such as anthropic/claude-sonnet-5")
        given, model = self.model_name.split("/", 1)
        access = self.model_connection
        await self._write_servers(environment)
        logs = self.environment_logs_dir.as_posix()
        words = [
            "tau",
            "-p",
            *("--permission-mode", "all"),
            *("--trajectory-file", f"{logs}/{TRAJECTORY}"),
            *("--session-dir", f"{logs}/sessions"),
            *("--provider", access.provider or given),
            *("--model", model),
            *(("--continue",) if self._resume else ()),
            *(("--skill", self.skills_dir) if self.skills_dir else ()),
        ]
        command = " ".join(shlex.quote(word) for word in words)
        # Everything after -- is the prompt, whatever its first character.
        await self.exec_as_agent(
            environment,
            command=(
                f"{LOAD_NODE}; mkdir -p {shlex.quote(logs)}; "
                f"{command} {self.build_cli_flags()} -- {shlex.quote(instruction)} "
                f"2>&1 </dev/null | tee {shlex.quote(f'{logs}/tau.txt')}"
            ),
            env={**access.env, "PI_CODING_AGENT_DIR": CONFIG_FOLDER},
        )

    async def _write_servers(self, environment: BaseEnvironment) -> None:
        """Registers the MCP servers of the task as the user's own, because these need no trust."""
        servers: dict[str, dict[str, Any]] = {}
        for server in self.mcp_servers:
            if server.transport == "stdio":
                servers[server.name] = {"command": server.command, "args": server.args}
            else:
                servers[server.name] = {"url": server.url}
        if not servers:
            return
        await self.exec_as_agent(
            environment, command=f"mkdir -p {CONFIG_FOLDER} && chmod 700 {CONFIG_FOLDER}"
        )
        await self._upload_config_text(
            environment,
            content=json.dumps({"mcpServers": servers}, indent=2) + "\n",
            remote_path=f"{CONFIG_FOLDER}/mcp.json",
            filename="mcp.json",
        )

    def populate_context_post_run(self, context: AgentContext) -> None:
        """Tokens and cost of the session and its subagents, even if the run failed."""
        path = self.logs_dir / TRAJECTORY
        try:
            trajectory = json.loads(path.read_text())
        except (OSError, ValueError):
            return
        every = [each.get("final_metrics") or {} for each in _with_subagents(trajectory)]
        total = lambda name: sum(metrics.get(name) or 0 for metrics in every)  # noqa: E731
        context.n_input_tokens = total("total_prompt_tokens")
        context.n_output_tokens = total("total_completion_tokens")
        context.n_cache_tokens = total("total_cached_tokens")
        # Includes summaries and other requests that belong to no step.
        extra = (trajectory.get("final_metrics") or {}).get("extra") or {}
        cost = extra.get("session_cost_usd") or total("total_cost_usd")
        context.cost_usd = cost if cost > 0 else None


def _with_subagents(trajectory: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield trajectory
    for below in trajectory.get("subagent_trajectories") or []:
        yield from _with_subagents(below)
