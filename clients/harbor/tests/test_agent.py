"""Tests the agent with a stub of Harbor, and with a real host if TAU_COMMAND names one."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

here = Path(__file__).parent
sys.path[:0] = [str(here.parent), str(here / "harbor_stub")]

from harbor.environments.base import BaseEnvironment  # noqa: E402
from harbor.models.agent.context import AgentContext  # noqa: E402
from tau_harbor import Tau  # noqa: E402


class Recorded(BaseEnvironment):
    """Records the commands, or runs them locally."""

    def __init__(self, runs=None):
        self.commands = []
        self.environments = []
        self.files = {}
        self.runs = runs

    async def execute(self, command, env):
        self.commands.append(command)
        self.environments.append(env)
        if self.runs is not None:
            self.runs(command, env)


class Installing(unittest.TestCase):
    def test_installs_the_wanted_version(self):
        environment = Recorded()
        asyncio.run(Tau(Path("."), version="1.2.3").install(environment))
        self.assertIn("npm install -g --ignore-scripts @tau-agent/cli@1.2.3", environment.commands[-1])
        self.assertEqual(Tau(Path(".")).parse_version("loading\n0.4.1\n"), "0.4.1")


class Running(unittest.TestCase):
    def run_agent(self, instruction="fix it", resume=False, **options):
        environment = Recorded()
        agent = Tau(Path("."), model_name="anthropic/claude-sonnet-5", **options)
        agent._resume = resume
        asyncio.run(agent.run(instruction, environment, AgentContext()))
        return environment

    def test_passes_on_model_flags_and_keys(self):
        environment = self.run_agent("-x 'quoted' $HOME", thinking="high", skills_dir="/skills")
        command = environment.commands[-1]
        self.assertIn("--provider anthropic --model claude-sonnet-5", command)
        self.assertIn("--trajectory-file /logs/agent/trajectory.json", command)
        self.assertIn("--skill /skills", command)
        self.assertIn("--thinking high -- '-x '\"'\"'quoted'\"'\"' $HOME'", command)
        self.assertNotIn("--continue", command)
        self.assertEqual(environment.environments[-1]["SOME_API_KEY"], "key")
        self.assertIn("--continue", self.run_agent(resume=True).commands[-1])

    def test_passes_on_servers(self):
        servers = [
            SimpleNamespace(name="a", transport="stdio", command="serve", args=["-v"], url=None),
            SimpleNamespace(name="b", transport="streamable-http", url="http://b/mcp"),
        ]
        environment = self.run_agent(mcp_servers=servers)
        written = json.loads(environment.files["/tmp/tau-agent/mcp.json"])
        self.assertEqual(
            written["mcpServers"],
            {"a": {"command": "serve", "args": ["-v"]}, "b": {"url": "http://b/mcp"}},
        )

    def test_refuses_a_model_without_a_provider(self):
        with self.assertRaisesRegex(ValueError, "provider/model"):
            asyncio.run(Tau(Path("."), model_name="sonnet").run("x", Recorded(), AgentContext()))


class Reporting(unittest.TestCase):
    def test_counts_subagents_and_requests_outside_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            metrics = {"total_prompt_tokens": 10, "total_completion_tokens": 2, "total_cached_tokens": 4}
            below = {"final_metrics": {**metrics, "total_cost_usd": 1.0}}
            trajectory = {
                "final_metrics": {**metrics, "total_cost_usd": 2.0, "extra": {"session_cost_usd": 3.5}},
                "subagent_trajectories": [{**below, "subagent_trajectories": [below]}],
            }
            Path(folder, "trajectory.json").write_text(json.dumps(trajectory))
            context = AgentContext()
            Tau(Path(folder)).populate_context_post_run(context)
            self.assertEqual((context.n_input_tokens, context.n_cache_tokens), (30, 12))
            self.assertEqual((context.n_output_tokens, context.cost_usd), (6, 3.5))

    def test_reports_nothing_without_a_trajectory(self):
        context = AgentContext()
        Tau(Path("/nowhere")).populate_context_post_run(context)
        self.assertIsNone(context.n_input_tokens)


@unittest.skipUnless("TAU_COMMAND" in os.environ, "TAU_COMMAND names no host")
class WithAHost(unittest.TestCase):
    def test_a_trial_ends_with_a_trajectory(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = Path(folder, "scenario.json")
            scenario.write_text(json.dumps(["Fixed."]))
            [program] = json.loads(os.environ["TAU_COMMAND"])

            def runs(command, env):
                path = f"{Path(program).parent}:{os.environ['PATH']}"
                variables = {**os.environ, **env, "PATH": path, "HOME": folder}
                variables["PI_CODING_AGENT_DIR"] = f"{folder}/agent"
                subprocess.run(["bash", "-c", command], env=variables, cwd=folder, check=True)

            logs = Path(folder, "logs")
            agent = Tau(
                logs,
                model_name=f"scripted/{scenario}",
                environment_logs_dir=PurePosixPath(logs),
            )
            context = AgentContext()
            asyncio.run(agent.run("- fix\n'it'", Recorded(runs), context))
            agent.populate_context_post_run(context)
            self.assertEqual((logs / "tau.txt").read_text(), "Fixed.\n")
            trajectory = json.loads((logs / "trajectory.json").read_text())
            self.assertEqual(trajectory["steps"][1]["message"], "- fix\n'it'")
            self.assertGreater(context.n_input_tokens, 0)


if __name__ == "__main__":
    unittest.main()
