import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runPrompt, settled, timedRequest } from "../../runs.ts";
import { startHost, turnTimes } from "../hosts.ts";
import { scenario } from "../scenario.ts";

const sleeps = Array.from({ length: 8 }, () => ({
  tool: "bash",
  arguments: { command: "sleep 0.3" },
}));
/** A call that is aborted. */
export const stoppedCall = scenario({
  rows: { "call-abort": { what: "abort during `bash` → response", peer: 1 } },
  rounds: 9,
  warmUps: 2,
  host: async (stage, contestant) => {
    const host = await startHost(stage, contestant);
    return async () => {
      await stage.server.reply({ tool: "bash", argumentDeltas: ['{"command":"sleep 20"}'] });
      const begun = host.next(({ type }) => type === "tool_execution_start");
      const ended = settled(host);
      await host.request("prompt", { message: "go" });
      await begun;
      // By then, the command has started.
      await sleep(100);
      const elapsed = await timedRequest(host, "abort");
      await ended;
      await stage.server.exchanges();
      return { "call-abort": elapsed };
    };
  },
});

/** Several calls in one reply. */
export const callsOfOneReply = scenario({
  rows: {
    "parallel-calls": {
      what: "eight `sleep 0.3` in one reply, where calls may run together",
      peer: 1.1,
    },
  },
  rounds: 3,
  host: async (stage, contestant) => {
    const { server, workspace } = stage;
    // Hosts that always run calls in parallel do not know the setting.
    const settings = { toolExecution: "parallel" };
    await writeFile(join(workspace.agentDirectory, "settings.json"), JSON.stringify(settings));
    const host = await startHost(stage, contestant);
    return async () => {
      await server.reply({ calls: sleeps });
      await runPrompt(host);
      const [elapsed] = turnTimes(await server.exchanges());
      return elapsed === undefined ? {} : { "parallel-calls": elapsed };
    };
  },
});
