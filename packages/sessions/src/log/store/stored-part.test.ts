import { expect, it, vi } from "vitest";
import { MemorySessionStore } from "../../stores/memory/memory-session-store.ts";
import type { StoreAccess } from "./store-access.ts";
import { openStoredPart } from "./stored-part.ts";

const key = { projectKey: "p", sessionId: "s1", subpath: "subagents/one" };

const accessTo = (store: MemorySessionStore, timeoutMs: number): StoreAccess => {
  return { store, projectKey: "p", leaseMs: 10_000, timeoutMs, owner: "test" };
};

it("waits for a store that is unavailable when a subagent begins", async () => {
  const store = new MemorySessionStore();
  const away = new TypeError("fetch failed");
  vi.spyOn(store, "load").mockRejectedValueOnce(away).mockRejectedValueOnce(away);
  const part = await openStoredPart(accessTo(store, 30_000), key);
  await part.add([{ type: "message", id: "1" }]);
  expect(await store.load(key)).toMatchObject([{ id: "1" }]);
  await part.close();
});

it("gives up on a store that stays unavailable", async () => {
  const store = new MemorySessionStore();
  vi.spyOn(store, "load").mockRejectedValue(new TypeError("fetch failed"));
  const opening = openStoredPart(accessTo(store, 250), key);
  await expect(opening).rejects.toMatchObject({ code: "session_write_failed" });
});
