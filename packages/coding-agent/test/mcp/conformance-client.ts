/** The client that the MCP project's conformance tests start: a session with their server. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentSession } from "../../src/create/create-session.ts";
import { callTool } from "./mcp-session.ts";

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
}

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const { client_id: clientId, client_secret: clientSecret } = JSON.parse(
  process.env.MCP_CONFORMANCE_CONTEXT ?? "{}",
) as Context;
const url = process.argv.at(-1) ?? "";
/** The arguments for each tool of the tests. */
const args: Record<string, Record<string, unknown>> = { add_numbers: { a: 5, b: 3 } };
const oauth = {
  ...(clientId === undefined ? {} : { clientId, clientSecret }),
  ...(scenario.includes("cimd")
    ? { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" }
    : {}),
};

const folder = await mkdtemp(join(tmpdir(), "tau-mcp-conformance-"));
const session = await createAgentSession({
  cwd: folder,
  agentDirectory: join(folder, "agent"),
  environment: { PATH: process.env.PATH },
  session: { kind: "memory" },
  mcpServers: { server: { url, oauth } },
});
session.requests.attach({
  answers: () => true,
  closed: () => {},
  open: (request) => {
    const result = request.method === "elicitation" ? { action: "accept", content: {} } : {};
    queueMicrotask(async () => {
      session.requests.answer(request.id, { result });
      // The user agrees to everything.
      if (request.method === "open_url") await fetch(request.params.url);
    });
    return true;
  },
});

const isLoggedOut = async () => (await session.mcp.list()).servers[0]?.status === "needs_auth";

await session.mcp.connected();
if (await isLoggedOut()) await session.mcp.login("server");
for (const { name } of (await session.mcp.list()).servers[0]?.tools ?? []) {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const given = args[name.replace("mcp__server__", "")] ?? {};
    const failure = await callTool(session, name, given).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure === undefined || !(await isLoggedOut())) break;
    await session.mcp.login("server");
  }
}
const [state] = (await session.mcp.list()).servers;
await session.dispose();
await rm(folder, { recursive: true, force: true });
if (state?.status !== "connected") {
  process.stderr.write(`${state?.status}: ${state?.error}\n`);
  process.exit(1);
}
process.exit(0);
