import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { SessionSharing } from "../../src/create/options/session-sharing.ts";
import type { AgentSession } from "../../src/session/agent-session.ts";
import {
  callTool,
  fixtureEntry,
  fixtureTools,
  isAlive,
  textOf,
  workspaceForEach,
} from "./mcp-session.ts";

const workspace = workspaceForEach();
const log = () => join(workspace().root, "log");

const limit = { timeout: 60_000 };
const entry = (more: object = {}, ...names: string[]) =>
  fixtureEntry(
    { tools: fixtureTools("folder", "echo", ...names), log: log() },
    { stateless: true, ...more },
  );
const starts = () =>
  existsSync(log())
    ? [...readFileSync(log(), "utf8").matchAll(/^start (\d+)$/gm)].map(([, pid]) => Number(pid))
    : [];
const folderOf = async (session: AgentSession) =>
  textOf(await callTool(session, "mcp__one__folder"));

describe("an MCP server declared stateless", () => {
  it("is one process for the sessions of a pool, and ends with the last of them", async () => {
    await workspace().configure({ one: entry() });
    const sharing = new SessionSharing();
    const [a, b] = await Promise.all([
      workspace().openReady({ sharing }),
      workspace().openReady({ sharing }),
    ]);
    expect(await folderOf(a)).toBe(workspace().cwd);
    expect(await folderOf(b)).toBe(workspace().cwd);
    expect(starts()).toHaveLength(1);
    // The session that started the server leaves first.
    await a.dispose();
    expect(await folderOf(b)).toBe(workspace().cwd);
    await b.dispose();
    expect(isAlive(starts()[0] ?? 0)).toBe(false);
    const c = await workspace().openReady({ sharing });
    expect(await folderOf(c)).toBe(workspace().cwd);
    expect(starts()).toHaveLength(2);
  });

  it("is not shared across folders, environments or pools, nor when it is not declared stateless", async () => {
    const other = join(workspace().root, "other");
    mkdirSync(other);
    await workspace().configure({ one: entry() });
    const sharing = new SessionSharing();
    const a = await workspace().openReady({ sharing });
    const b = await workspace().openReady({ sharing, cwd: other });
    expect(await folderOf(b)).toBe(other);
    expect(await folderOf(a)).toBe(workspace().cwd);
    const environment = { PATH: process.env.PATH, HOME: workspace().root, MINE: "yes" };
    await workspace().openReady({ sharing, environment });
    await workspace().openReady({ sharing: new SessionSharing() });
    await workspace().openReady();
    expect(starts()).toHaveLength(5);
    await workspace().configure({ one: entry({ stateless: false }) });
    await workspace().openReady({ sharing });
    expect(starts()).toHaveLength(6);
  });

  it("asks the session whose call it works on, and does not know its folder", async () => {
    await workspace().configure({ one: entry({}, "ask", "roots", "hang") });
    const sharing = new SessionSharing();
    const [a, b] = [
      await workspace().openReady({ sharing }),
      await workspace().openReady({ sharing }),
    ];
    const asked: string[] = [];
    for (const [name, session] of Object.entries({ a, b })) {
      session.requests.attach({
        answers: () => true,
        open: ({ id }) => {
          asked.push(name);
          queueMicrotask(() => session.requests.answer(id, { result: { action: "accept" } }));
          return true;
        },
        closed: () => {},
      });
    }
    const question = { message: "Who?", requestedSchema: { type: "object", properties: {} } };
    const answer = async (session: AgentSession) =>
      JSON.parse(textOf(await callTool(session, "mcp__one__ask", question)));
    expect(await answer(b)).toMatchObject({ action: "accept" });
    expect(await answer(a)).toMatchObject({ action: "accept" });
    expect(asked).toEqual(["b", "a"]);
    // With two open calls, the question could belong to either.
    const controller = new AbortController();
    const hanging = callTool(b, "mcp__one__hang", {}, { signal: controller.signal });
    expect(await answer(a)).toEqual({ action: "cancel" });
    expect(asked).toEqual(["b", "a"]);
    controller.abort();
    await expect(hanging).rejects.toThrow();
    expect(textOf(await callTool(a, "mcp__one__roots"))).not.toContain(workspace().cwd);
  });

  it("is restarted once for all sessions when it dies", async () => {
    await workspace().configure({ one: entry({}, "die") });
    const sharing = new SessionSharing();
    const sessions = [
      await workspace().openReady({ sharing }),
      await workspace().openReady({ sharing }),
    ] as const;
    await expect(callTool(sessions[0], "mcp__one__die")).rejects.toThrow(/lost/);
    for (const session of sessions) {
      await vi.waitFor(async () => {
        const [server] = (await session.mcp.list()).servers;
        expect(server).toMatchObject({ status: "connected", restarts: 1 });
      }, limit);
      expect(await folderOf(session)).toBe(workspace().cwd);
    }
    expect(starts()).toHaveLength(2);
  });

  it("keeps running for the others when the session that waits for it gives up", async () => {
    const slow = fixtureEntry({ tools: fixtureTools("folder"), log: log(), first: "rubbish" });
    await workspace().configure({ one: { ...slow, stateless: true } });
    const sharing = new SessionSharing();
    const [a, b] = [await workspace().open({ sharing }), await workspace().open({ sharing })];
    void a.mcp.list();
    void b.mcp.list();
    await a.dispose();
    await b.mcp.ready();
    expect(await folderOf(b)).toBe(workspace().cwd);
    await b.dispose();
    for (const pid of starts()) expect(isAlive(pid)).toBe(false);
  });
});
