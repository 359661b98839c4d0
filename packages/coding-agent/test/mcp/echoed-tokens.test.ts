import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { McpWorkspace } from "./mcp-session.ts";

const token = "header-token-0123456789";
const custom = "custom-token-0123456789";

let workspace: McpWorkspace;
beforeEach(async () => {
  workspace = await McpWorkspace.create();
});
afterEach(() => workspace.remove());

/** A server whose answers repeat the headers that it received. */
async function echoServer(status: number): Promise<string> {
  const server = createServer((request, response) => {
    const { authorization = "", "x-corp": corp = "" } = request.headers;
    const words = `${"x".repeat(480)} not good: ${authorization} and ${String(corp)}`;
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      const id = body === "" ? 0 : ((JSON.parse(body) as { id?: number }).id ?? 0);
      const error = { jsonrpc: "2.0", id, error: { code: -32000, message: words } };
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(status === 200 ? JSON.stringify(error) : words);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

it.each([200, 400, 403, 500])(
  "hides a token that a server echoes with status %i",
  async (status) => {
    vi.stubEnv("CORP_TOKEN", custom);
    onTestFinished(() => void vi.unstubAllEnvs());
    const headers = { Authorization: `Bearer ${token}`, "X-Corp": custom };
    await workspace.configure({ web: { url: await echoServer(status), headers } });
    const session = await workspace.openReady();
    const events: unknown[] = [];
    session.subscribe((event) => void events.push(event));
    const { servers } = await session.mcp.list();
    await session.prompt("go").catch((error: unknown) => events.push(String(error)));
    const shown = JSON.stringify([servers, await session.mcp.list(), session.diagnostics, events]);
    expect(servers[0]?.error).toContain("not good: ");
    expect(shown).not.toContain(token.slice(0, 12));
    expect(shown).not.toContain(custom.slice(0, 12));
  },
);
