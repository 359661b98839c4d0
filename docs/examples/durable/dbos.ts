// An agent whose turns are the steps of a DBOS workflow: node docs/examples/durable/dbos.ts <id> <prompt>
import { homedir } from "node:os";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { createAgentSession } from "@tau-agent/coding-agent";

const [, , id = "job-1", prompt = "Write three lines."] = process.argv;

/** One turn. Repeated after a crash, it goes on with what the last one has left: nothing is done twice. */
async function takeTurn(promptId: string, message: string) {
  const session = await createAgentSession({
    cwd: process.cwd(),
    durability: "effects",
    // On several machines, use a `store` and a workspace that all of them reach.
    session: { kind: "file", path: `${homedir()}/tau-jobs/${promptId}.jsonl` },
    environment: process.env,
    // For a real model, leave these two out.
    provider: "scripted",
    model: `${import.meta.dirname}/three-lines.mjs`,
  });
  try {
    const until = { turns: 1 };
    const result = await session.prompt(message, { promptId, resume: true, until });
    if (result.status === "error") throw new Error(result.error);
    return { status: result.status, text: result.text };
  } finally {
    await session.dispose();
  }
}

const drive = DBOS.registerWorkflow(
  async (promptId: string, message: string) => {
    for (let turn = 1; ; turn += 1) {
      const name = `turn ${turn}`;
      const result = await DBOS.runStep(() => takeTurn(promptId, message), { name });
      if (result.status !== "paused") return { ...result, turns: turn };
    }
  },
  { name: "drive" },
);

const { DBOS_SYSTEM_DATABASE_URL: systemDatabaseUrl = "" } = process.env;
DBOS.setConfig({ name: "tau-jobs", systemDatabaseUrl, runAdminServer: false });
// Workflows of a process that died go on here.
await DBOS.launch();
const handle = await DBOS.startWorkflow(drive, { workflowID: id })(id, prompt);
console.log(JSON.stringify(await handle.getResult()));
await DBOS.shutdown();
