import { describe, expect, it } from "vitest";
import type { ExtensionApi } from "../../src/extensions/api/api.ts";
import type { AgentSession } from "../../src/session/agent-session.ts";
import { callTool, fixtureEntry, fixtureTool, textOf, workspaceForEach } from "./mcp-session.ts";

const workspace = workspaceForEach();

const entry = (name = "echo") => fixtureEntry({ tools: [fixtureTool(name)] });
const open = (...factories: ((pi: ExtensionApi) => void)[]) =>
  workspace().openReady({
    extensions: { factories, onlyNamed: true, hostModules: async () => ({}) },
  });
const serversOf = async (session: AgentSession) =>
  (await session.mcp.list()).servers.map(({ name, source, status }) => [name, source, status]);

describe("an MCP server registered by an extension", () => {
  it("is connected with the session, and its tools can be called", async () => {
    const session = await open((pi) => pi.registerMcpServer("docs", entry()));
    expect(await serversOf(session)).toEqual([["docs", "extension", "connected"]]);
    const result = await callTool(session, "mcp__docs__echo", { message: "hi" });
    expect(textOf(result)).toBe("echo: hi");
  });

  it("can be added and removed later, even as the only server", async () => {
    const session = await open((pi) => {
      pi.registerCommand("add", { handler: () => pi.registerMcpServer("late", entry()) });
      pi.registerCommand("drop", { handler: () => pi.unregisterMcpServer("late") });
    });
    expect(await serversOf(session)).toEqual([]);
    await session.prompt("/add");
    const connected = [["late", "extension", "connected"]];
    await expect.poll(() => serversOf(session)).toEqual(connected);
    await session.prompt("/drop");
    await expect.poll(() => serversOf(session)).toEqual([]);
  });

  it("yields to a user's server of the same name, and is stopped with the others", async () => {
    await workspace().configure({ docs: entry("mine") });
    const session = await open((pi) => {
      pi.registerMcpServer("docs", entry());
      pi.registerMcpServer("more", entry());
    });
    expect(await serversOf(session)).toEqual([
      ["docs", "user", "connected"],
      ["more", "extension", "connected"],
    ]);
    await session.mcp.set({});
    expect(await serversOf(session)).toEqual([]);
  });

  it("is left to an extension that connects to servers itself", async () => {
    const session = await open(
      (pi) => pi.registerMcpServer("docs", entry()),
      (pi) => pi.on("mcp_servers_change", () => {}),
    );
    expect(await serversOf(session)).toEqual([]);
  });

  it("is refused with a reason if it is unusable or belongs to another extension", async () => {
    const errors: unknown[] = [];
    const attempt = (work: () => void) => {
      try {
        work();
      } catch (error) {
        errors.push((error as Error).message);
      }
    };
    const apis: ExtensionApi[] = [];
    const keep = (pi: ExtensionApi) => void apis.push(pi);
    await open(keep, keep);
    attempt(() => apis[0]?.registerMcpServer("bad", { command: 1 }));
    apis[0]?.registerMcpServer("docs", entry());
    attempt(() => apis[1]?.registerMcpServer("docs", entry()));
    expect(errors).toEqual([
      expect.stringContaining('pi.registerMcpServer("bad"): command'),
      expect.stringContaining("has registered it"),
    ]);
  });
});
