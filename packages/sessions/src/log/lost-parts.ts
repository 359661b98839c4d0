import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { describeLost, type LostSubagent, type LostTask, lostSubagent } from "./lost-task.ts";
import { partName } from "./store/named-files.ts";
import { parseStored } from "./store/open-stored-session.ts";
import type { SessionKey } from "./store/session-store.ts";
import { referenceOf, type StoreAccess, storeErrorCode } from "./store/store-access.ts";
import { numbered } from "./store/stored-part.ts";

/** How often to request a lease that another host holds. */
const POLL_MS = 100;

export interface LostCall {
  readonly access: StoreAccess;
  readonly key: SessionKey;
  readonly entries: readonly SessionEntry[];
  readonly call: ToolCall;
}

/**
 * Reads what subagents had done when their host died: their logs are parts of the session's log, but no result
 * names them. Their leases are taken once, so that a host that was only paused cannot add to them later.
 */
export async function readLostParts({ access, key, entries, call }: LostCall): Promise<LostTask> {
  const told = toldParts(entries);
  const results: LostSubagent[] = [];
  for (const id of idsOf(call)) {
    const name = partName(call.id, id);
    const first = key.subpath === undefined ? name : `${key.subpath}/${name}`;
    for (let count = 1; ; count++) {
      const part = { ...key, subpath: numbered(first, count) };
      if ((await access.store.load(part)) === null) break;
      if (told.has(referenceOf(part))) continue;
      await endLease(access, part);
      const lines = (await access.store.load(part)) ?? [];
      const found = lostSubagent(parseStored(access, part, lines).entries);
      results.push({ ...found, storedSession: referenceOf(part) });
    }
  }
  return describeLost(results);
}

/** Waits at most as long as a lease lasts that is not renewed. */
async function endLease({ store, leaseMs, owner }: StoreAccess, key: SessionKey): Promise<void> {
  const deadline = performance.now() + leaseMs;
  for (;;) {
    try {
      await store.release(await store.acquire(key, leaseMs, owner));
      return;
    } catch (error) {
      if (storeErrorCode(error) !== "lease_held" || performance.now() > deadline) return;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
}

function idsOf({ id, arguments: args }: ToolCall): string[] {
  const tasks: unknown = Reflect.get(Object(args), "tasks");
  if (!Array.isArray(tasks)) return [id];
  return tasks.map((task) => String(Reflect.get(Object(task), "id")));
}

function toldParts(entries: readonly SessionEntry[]): Set<string> {
  const told = new Set<string>();
  for (const entry of entries) {
    const message: unknown = Reflect.get(entry, "message");
    const results: unknown = Reflect.get(
      Object(Reflect.get(Object(message), "details")),
      "results",
    );
    for (const result of Array.isArray(results) ? results : []) {
      told.add(String(Reflect.get(Object(result), "storedSession")));
    }
  }
  return told;
}
