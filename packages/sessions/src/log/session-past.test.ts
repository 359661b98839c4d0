import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionEntry } from "@tau-agent/rpc-protocol";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assistant,
  linesOf,
  message,
  temporaryFolder,
  toolResult,
  user,
} from "./__fixtures__/session-files.ts";
import { contextOfBranch, countMessages } from "./branch-context.ts";
import { loadedTools, loadedToolsEntry } from "./loaded-tools.ts";
import { readSession } from "./read-session.ts";
import { SessionLog } from "./session-log.ts";
import { describePast } from "./session-past.ts";
import { SessionTotals } from "./session-totals.ts";

const texts = fc.string({ maxLength: 12 });
const acts = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant("say" as const), text: texts }) },
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant("answer" as const),
      text: texts,
      stopReason: fc.constantFrom("stop", "stop", "stop", "error", "aborted"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("result" as const), text: texts }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("name" as const), text: texts }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("tools" as const), text: texts }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("level" as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("label" as const), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("move" as const), at: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("compact" as const), at: fc.nat(6) }) },
);
type Act = typeof acts extends fc.Arbitrary<infer Value> ? Value : never;

/** Performs an action; where it refers to an entry, one of the existing entries is used. */
async function perform(log: SessionLog, path: string, act: Act): Promise<void> {
  const { tree } = log;
  const idAt = (at: number) => tree.idAt(at % tree.length);
  switch (act.act) {
    case "say":
      log.append({ ...message(user(act.text)), promptId: `prompt-${tree.length}` });
      return;
    case "answer": {
      const { stopReason } = act;
      log.append(message(assistant(act.text, { stopReason: stopReason as "stop" })));
      return;
    }
    case "result":
      log.append(message(toolResult("c", { details: { diff: act.text } })));
      return;
    case "name":
      log.append({ type: "session_info", name: act.text });
      return;
    case "tools":
      log.append(loadedToolsEntry([act.text]));
      return;
    case "level":
      log.append({ type: "thinking_level_change", thinkingLevel: "high" });
      return;
    case "label":
      log.append({ type: "label", targetId: idAt(act.at), label: "here" });
      return;
    case "move":
      tree.moveLeaf(idAt(act.at));
      return;
    case "compact": {
      const branch = tree.branchPositions();
      const firstKeptEntryId = tree.idAt(branch.at(-1 - (act.at % branch.length)) as number);
      const past = await describePast(path, firstKeptEntryId, 0);
      const more = past === undefined ? {} : { past };
      log.append({ type: "compaction", summary: "s", firstKeptEntryId, tokensBefore: 1, ...more });
    }
  }
}

async function written(path: string, all: readonly Act[]): Promise<void> {
  const log = SessionLog.create({ cwd: "/", path });
  log.append(message(user("first")));
  for (const act of all) await perform(log, path, act);
  log.close();
}

/** Enough entries to be left unread, a compaction, and one message after it. */
function compacted(text: string): Act[] {
  return [
    ...Array.from({ length: 50 }, (_, at) => ({
      ...{ act: at % 2 === 0 ? "answer" : "say", text: "x" },
      stopReason: "stop",
    })),
    { act: "level" },
    { act: "compact", at: 3 },
    { act: "say", text },
  ] as Act[];
}

interface Opened {
  readonly seen: object;
  /** Whether the session was opened without reading its past. */
  readonly isLazy: boolean;
}

/** What readers see of a session: first right after opening, then everything. */
async function opened(path: string, shortest: number): Promise<Opened> {
  const { header, diagnostics, tail, tree, lines, totals } = await readSession(path, shortest);
  try {
    const isLazy = tree.unreadLength > 0;
    const counted = totals ?? new SessionTotals();
    for (let at = tree.unreadLength; at < tree.length; at++) counted.addAt(tree, at);
    const { leafId } = tree;
    const early = {
      ...{ header, diagnostics, tail, leafId, totals: counted.record, length: tree.length },
      ...{ count: countMessages(tree, leafId), tools: loadedTools(tree) },
      names: tree.parsed.filter(({ type }) => type === "session_info"),
    };
    const context = contextOfBranch(tree);
    const entries = [...tree.entries];
    const late = {
      ...{ context, entries, promptIds: tree.promptIds },
      positions: entries.map(({ id }) => tree.indexOf(id)),
      branches: entries.map(({ id }) => tree.branch(id).map((entry) => entries.indexOf(entry))),
    };
    return { isLazy, seen: { ...early, ...late } };
  } finally {
    lines.close();
  }
}

const whole = Number.POSITIVE_INFINITY;

describe("a session whose past is not read", () => {
  it("equals the session found by reading the whole file", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    const foreign = fc.record({ parentAt: fc.option(fc.nat()), text: texts });
    const damage = fc.option(
      fc.record({ at: fc.nat(), cut: fc.integer({ min: 1, max: 300 }), isEnd: fc.boolean() }),
      { freq: 3 },
    );
    let lazily = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(acts, { minLength: 5, maxLength: 25 }),
        fc.array(foreign, { maxLength: 4 }),
        damage,
        async (all, added, damaged) => {
          writeFileSync(path, "");
          await written(path, all);
          // As if another program continued the file, from any entry.
          for (const [index, { parentAt, text }] of added.entries()) {
            const known = linesOf(path).slice(1) as unknown as SessionEntry[];
            const parent = parentAt === null ? known.at(-1) : known[parentAt % known.length];
            const id = `f000000${index}`;
            const timestamp = "2026-01-01T00:00:00.000Z";
            const entry = { type: "message", id, parentId: parent?.id ?? null, timestamp };
            appendFileSync(path, `${JSON.stringify({ ...entry, message: user(text) })}\n`);
          }
          if (damaged !== null) {
            const bytes = readFileSync(path);
            const at =
              bytes.indexOf("\n") + 1 + (damaged.at % (bytes.length - bytes.indexOf("\n")));
            const rest = damaged.isEnd ? Buffer.alloc(0) : bytes.subarray(at + damaged.cut);
            writeFileSync(path, Buffer.concat([bytes.subarray(0, at), rest]));
          }
          const lazy = await opened(path, 0);
          if (lazy.isLazy) lazily += 1;
          expect(lazy.seen).toEqual((await opened(path, whole)).seen);
        },
      ),
      { numRuns: 100 },
    );
    expect(lazily).toBeGreaterThan(3);
  });

  it("does not read its past for state, messages and a prompt", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    await written(path, compacted("more"));
    const { tree, lines } = await readSession(path, 0);
    const context = contextOfBranch(tree);
    expect(context.messages).toHaveLength(5);
    expect(context.thinkingLevel).toBe("high");
    expect(countMessages(tree, tree.leafId)).toBe(5);
    tree.adopt({ ...message(user("now")), ...tree.createNode() });
    expect(tree.unreadLength).toBeGreaterThan(40);
    // The first entry can be reached only by reading all of the others.
    expect(tree.branch()).toHaveLength(55);
    expect(tree.unreadLength).toBe(0);
    lines.close();
  });

  it("is opened lazily wherever the compaction is in the windows that are read", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    await written(path, compacted("more"));
    const bytes = readFileSync(path);
    const end = bytes.lastIndexOf("\n", -2) + 1;
    const behind = bytes.length - bytes.lastIndexOf('{"type":"compaction"');
    // The line begins before, at and after the boundary between two windows of 256 KiB.
    for (const shift of [-25, -20, -12, -1, 0, 1, 40]) {
      const text = "x".repeat(256 * 1024 - behind + shift);
      const more = bytes
        .subarray(end)
        .toString()
        .replace('"more"', JSON.stringify(`more${text}`));
      writeFileSync(path, bytes.subarray(0, end) + more);
      const { isLazy, seen } = await opened(path, 0);
      expect(isLazy).toBe(true);
      expect(seen).toEqual((await opened(path, whole)).seen);
    }
  });

  it("is read as a whole if its past was cut out of the file", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    await written(path, compacted("more"));
    const [header, ...lines] = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, [header, ...lines.slice(-6)].join("\n"));
    const { isLazy, seen } = await opened(path, 0);
    expect(isLazy).toBe(false);
    expect(seen).toEqual((await opened(path, whole)).seen);
  });
});
