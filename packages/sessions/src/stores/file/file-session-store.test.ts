import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionLog } from "../../log/session-log.ts";
import type { StoreEntry } from "../../log/store/session-store.ts";
import { runStoreConformance } from "../conformance/run-store-conformance.ts";
import { FileSessionStore } from "./file-session-store.ts";
import { processOwner } from "./process-owner.ts";

const key = { projectKey: "--home-ada-project--", sessionId: "4f1c" };
const header = {
  type: "session",
  version: 3,
  id: "4f1c",
  timestamp: "2026-11-22T15:00:00.000Z",
  cwd: "/home/ada/project",
};

function folder(): string {
  return mkdtempSync(join(tmpdir(), "tau-store-"));
}

function entry(id: string): StoreEntry {
  const timestamp = "2026-11-22T15:00:01.000Z";
  return { type: "custom", id, parentId: null, timestamp, customType: "test" };
}

test("the store in files passes every check", async () => {
  const { results } = await runStoreConformance(new FileSessionStore({ directory: folder() }));
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
});

test("writes the file that a host without a store would write", async () => {
  const directory = folder();
  const store = new FileSessionStore({ directory });
  const lease = await store.acquire(key, 60_000);
  await store.append(key, [header, entry("a")], lease);
  const path = join(directory, key.projectKey, "2026-11-22T15-00-00-000Z_4f1c.jsonl");
  expect(readFileSync(path, "utf8")).toBe(
    `${JSON.stringify(header)}\n${JSON.stringify(entry("a"))}\n`,
  );
  await expect(SessionLog.load(path, { cwd: "/" })).rejects.toThrow("in use by process");
  await store.release(lease);
  const { log } = await SessionLog.load(path, { cwd: "/" });
  expect(log.tree.entries.map(({ id }) => id)).toEqual(["a"]);
  await expect(store.acquire(key, 60_000)).rejects.toMatchObject({ code: "lease_held" });
  log.append({ type: "session_info", name: "named by a host" });
  log.close();
  expect(await store.load(key)).toHaveLength(3);
  await store.release(await store.acquire(key, 60_000));
});

test("a torn last line is moved aside before the next one is written", async () => {
  const directory = folder();
  const store = new FileSessionStore({ directory });
  const lease = await store.acquire(key, 60_000);
  await store.append(key, [header], lease);
  const project = join(directory, key.projectKey);
  const name = readdirSync(project).find((file) => file.endsWith(".jsonl")) ?? "";
  appendFileSync(join(project, name), '{"type":"custom","id":"to');
  expect(await store.load(key)).toEqual([header]);
  await store.append(key, [entry("a")], lease);
  expect(await store.load(key)).toEqual([header, entry("a")]);
  const torn = readdirSync(project).find((file) => file.includes(".torn-")) ?? "";
  expect(readFileSync(join(project, torn), "utf8")).toBe('{"type":"custom","id":"to');
  await store.release(lease);
});

test("a lease whose owner lives stays valid after it expires", async () => {
  const directory = folder();
  const store = new FileSessionStore({ directory });
  await store.acquire(key, 1, processOwner());
  await new Promise((resolve) => setTimeout(resolve, 20));
  await expect(store.acquire(key, 60_000)).rejects.toMatchObject({ code: "lease_held" });
});

test("a lease whose owner died, or has no name, ends when it expires", async () => {
  const store = new FileSessionStore({ directory: folder() });
  const dead = spawn(process.execPath, ["-e", ""]);
  const owner = processOwner().replace(String(process.pid), String(dead.pid));
  await once(dead, "exit");
  for (const name of [owner, "somebody else", undefined]) {
    const lease = await store.acquire(key, 1, name);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const next = await store.acquire(key, 60_000);
    expect(next.token).toBe(lease.token + 1);
    await store.release(next);
  }
});
