import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { SessionStore } from "../../log/store/session-store.ts";
import { MemorySessionStore } from "../memory/memory-session-store.ts";
import { FileSessionStore } from "./file-session-store.ts";

const key = { projectKey: "project", sessionId: "session" };
const DAY_MS = 86_400_000;
const timestamp = "2026-11-22T15:00:00.000Z";
const header = { type: "session", version: 3, id: "session", timestamp, cwd: "/" };

const stores: [string, () => SessionStore][] = [
  ["in memory", () => new MemorySessionStore()],
  [
    "in files",
    () => new FileSessionStore({ directory: mkdtempSync(join(tmpdir(), "tau-clock-")) }),
  ],
];

/** Sets the system clock only; monotonic clocks do not notice. */
function setClock(byMs: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
  onTestFinished(() => void vi.useRealTimers());
}

async function later(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

test.each(stores)("a lease %s lasts although the clock is set forward", async (_, open) => {
  const store = open();
  const lease = await store.acquire(key, 60_000);
  setClock(DAY_MS);
  await expect(store.acquire(key, 60_000)).rejects.toMatchObject({ code: "lease_held" });
  await store.append(key, [header], await store.renew(lease, 60_000));
});

test.each(stores)("a lease %s ends although the clock is set back", async (_, open) => {
  const store = open();
  await store.acquire(key, 30);
  setClock(-DAY_MS);
  await later(50);
  expect(await store.acquire(key, 60_000)).toMatchObject({ token: 2 });
});
