import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runPrompt } from "../../runs.ts";
import { startHost, turnTimes } from "../hosts.ts";
import { scenario } from "../scenario.ts";

const sleeps = Array.from({ length: 8 }, () => ({
  tool: "bash",
  arguments: { command: "sleep 0.3" },
}));
/** Several calls in one reply. */
export const callsOfOneReply = scenario({
  rows: {
    "parallel-calls": {
      what: "eight `sleep 0.3` in one reply, where calls may run together",
      unit: "ms",
      peer: 1.1,
    },
  },
  rounds: 3,
  host: async (stage, contestant) => {
    const { server, workspace } = stage;
    // Hosts that always run calls together do not know the setting.
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
