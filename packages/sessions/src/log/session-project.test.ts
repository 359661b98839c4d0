import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemorySessionStore } from "../stores/memory/memory-session-store.ts";
import { sessionDirectoryFor } from "./file/session-path.ts";
import { FileHome } from "./file-home.ts";
import { listSessions } from "./saved-sessions.ts";
import type { SessionHome } from "./session-home.ts";
import type { SessionLog } from "./session-log.ts";
import { StoredSessions } from "./stored-sessions.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-project-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const cwd = "/srv/project";
const store = new MemorySessionStore();
const access = { store, projectKey: "p", leaseMs: 60_000, timeoutMs: 5_000, owner: "test" };

const homes: Record<string, (workspaceId?: string) => SessionHome> = {
  "in one folder": (workspaceId) =>
    new FileHome({ cwd, workspaceId }, { directoryOf: () => folder, root: folder }),
  "in one store": (workspaceId) => new StoredSessions(access, workspaceId),
};

async function begin(home: SessionHome, workspaceId?: string): Promise<SessionLog> {
  const log = home.create({ cwd, workspaceId });
  log.append({ type: "message", message: { role: "user", content: "Hi", timestamp: 1 } });
  await log.close();
  return log;
}

describe.each(Object.entries(homes))("sessions of two workspaces %s", (_, homeOf) => {
  it("lists and continues only those of its own workspace", async () => {
    const box = await begin(homeOf("ws-box"), "ws-box");
    const local = await begin(homeOf());
    const listed = async (home: SessionHome) => (await home.list({ all: false })).map((s) => s.id);
    expect(await listed(homeOf())).toEqual([local.header.id]);
    expect(await listed(homeOf("ws-box"))).toEqual([box.header.id]);
    const { log } = await homeOf("ws-box").open({ kind: "latest" }, { cwd, workspaceId: "ws-box" });
    expect(log.header).toMatchObject({ id: box.header.id, cwd, workspace: { id: "ws-box" } });
    await log.close();
    await homeOf().delete(local.path ?? local.header.id);
    await homeOf("ws-box").delete(box.path ?? box.header.id);
  });

  it("refuses to open a session in another workspace, and releases it", async () => {
    const { header, path } = await begin(homeOf("ws-box"), "ws-box");
    const name = path ?? header.id;
    const before = path && readFileSync(path, "utf8");
    await expect(homeOf().openExisting(name, { cwd })).rejects.toMatchObject({
      code: "workspace_mismatch",
      message: expect.stringContaining("works in workspace ws-box, not in local"),
    });
    if (path !== undefined) expect(readFileSync(path, "utf8")).toBe(before);
    const options = { cwd, workspaceId: "ws-box" };
    const { log } = await homeOf("ws-box").openExisting(name, options);
    await log.close();
    await homeOf("ws-box").delete(name);
  });
});

it("keeps the session files of a workspace in a folder whose name begins with its id", async () => {
  const directory = sessionDirectoryFor(folder, { cwd, workspaceId: "ws-box" });
  expect(directory).toBe(join(folder, "sessions", "ws-box--srv-project--"));
  const directoryOf = () => directory;
  const project = { cwd, workspaceId: "ws-box" };
  await begin(new FileHome(project, { directoryOf, root: join(folder, "sessions") }), "ws-box");
  const options = { agentDirectory: folder, ...project };
  expect(await listSessions(options)).toMatchObject([{ cwd, workspaceId: "ws-box" }]);
  expect(await listSessions({ agentDirectory: folder })).toEqual([]);
});

it("shortens a folder name with a long id so that every file system accepts it", () => {
  const long = { cwd: `/${"x".repeat(400)}`, workspaceId: "w".repeat(64) };
  const name = sessionDirectoryFor("/a", long).split("/").at(-1) ?? "";
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name.startsWith(`${"w".repeat(64)}--`)).toBe(true);
});
