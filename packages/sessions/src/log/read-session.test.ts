import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { SessionEntry } from "@tau-agent/rpc-protocol";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionFile } from "./__fixtures__/random-session.ts";
import {
  assistant,
  message,
  temporaryFolder,
  toolResult,
  user,
} from "./__fixtures__/session-files.ts";
import { migrateEntries } from "./entries/migrate.ts";
import { readSessionFile } from "./file/read-session-file.ts";
import { readSession } from "./read-session.ts";
import { SessionLog } from "./session-log.ts";
import { SessionTotals } from "./session-totals.ts";
import { SessionTree } from "./session-tree.ts";

/** Everything about a session that its readers can see. */
function seen(tree: SessionTree, totals: SessionTotals) {
  const entries = [...tree.entries];
  return {
    entries,
    leafId: tree.leafId,
    positions: entries.map(({ id }) => tree.indexOf(id)),
    branches: entries.map(({ id }) => tree.branch(id).map((entry) => entries.indexOf(entry))),
    promptIds: tree.promptIds,
    totals: { ...totals, consumption: totals.consumption },
  };
}

/** The whole file, parsed. */
async function readEagerly(path: string) {
  const { header, entries, diagnostics, tail } = await readSessionFile(path);
  const tree = new SessionTree();
  const totals = new SessionTotals();
  for (const entry of header === undefined ? [] : migrateEntries({ header, entries })) {
    tree.adopt(entry);
    totals.add(entry);
  }
  return { header, diagnostics, tail, ...seen(tree, totals) };
}

async function readLazily(path: string) {
  const { header, diagnostics, tail, tree, lines } = await readSession(path);
  const totals = new SessionTotals();
  for (let position = 0; position < tree.length; position++) {
    const scanned = tree.scannedAt(position);
    if (scanned === undefined) totals.add(tree.at(position) as SessionEntry);
    else totals.addScanned(scanned);
  }
  try {
    return { header, diagnostics, tail, ...seen(tree, totals) };
  } finally {
    lines.close();
  }
}

const outcomeOf = <Read>(reading: Promise<Read>): Promise<Read | { error: string }> =>
  reading.catch((error: Error) => ({ error: error.message }));

describe("reading a session without parsing its messages", () => {
  it("finds the same as parsing every line, whatever the file contains", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    await fc.assert(
      fc.asyncProperty(sessionFile, async (bytes) => {
        writeFileSync(path, bytes);
        const eager = await outcomeOf(readEagerly(path));
        const lazy = await outcomeOf(readLazily(path));
        // Much faster than `toEqual`, which is here only to show a difference.
        if (!isDeepStrictEqual(lazy, eager)) expect(lazy).toEqual(eager);
      }),
      { numRuns: Number(process.env.TAU_RANDOM_SESSIONS ?? 60) },
    );
  });

  it("does not parse messages that hosts write", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    const log = SessionLog.create({ cwd: "/", path });
    const call = {
      type: "toolCall",
      id: "c",
      name: "read",
      arguments: { path: "a", at: [1, {}] },
    } as const;
    const content = [{ type: "thinking", thinking: "Hm\u2026\n" }, call] as const;
    log.append(message(user("first \ud83d\ude00")));
    log.append(message(assistant("", { content: [...content], stopReason: "toolUse" })));
    log.append(message(toolResult("c", { details: { diff: "+1" } })));
    log.append(message(assistant("second", { stopReason: "aborted", errorMessage: "Aborted" })));
    log.append({ type: "session_info", name: "named" });
    log.close();
    const { tree, lines } = await readSession(path);
    const roles = Array.from({ length: tree.length }, (_, position) => tree.roleAt(position));
    expect(roles).toEqual(["user", "assistant", "toolResult", "failedAssistant", undefined]);
    expect(tree.isRead).toBe(false);
    lines.close();
  });
});
