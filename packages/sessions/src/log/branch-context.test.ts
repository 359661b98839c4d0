import { isUtf8 } from "node:buffer";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionFile } from "./__fixtures__/random-session.ts";
import { assistant, message, temporaryFolder, user } from "./__fixtures__/session-files.ts";
import {
  contextOfBranch,
  countMessages,
  entriesForContext,
  resumedModel,
  StoredMessages,
} from "./branch-context.ts";
import { type ReadSession, readSession } from "./read-session.ts";
import { buildSessionContext, contextEntries } from "./session-context.ts";
import { SessionLog } from "./session-log.ts";

const numRuns = Number(process.env.TAU_RANDOM_SESSIONS ?? 40);

/** Reads random sessions, each with one of its entries as the leaf. */
function forRandomBranches(check: (session: ReadSession, leafId: string) => void): Promise<void> {
  const path = join(temporaryFolder(), "session.jsonl");
  return fc.assert(
    fc.asyncProperty(sessionFile, fc.nat(), async (bytes, at) => {
      writeFileSync(path, bytes);
      const session = await readSession(path).catch(() => undefined);
      fc.pre(session !== undefined);
      try {
        const leafId = session.tree.at(at % Math.max(1, session.tree.length))?.id;
        if (leafId !== undefined) check(session, leafId);
      } finally {
        session.lines.close();
      }
    }),
    { numRuns },
  );
}

/** Compares much faster than `toEqual`, which then shows the difference if there is one. */
function expectSame(value: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(value, expected)) expect(value).toEqual(expected);
}

describe("the context of a branch that is mostly not parsed", () => {
  it("equals the context built from its entries", () =>
    forRandomBranches(({ tree }, leafId) => {
      const context = contextOfBranch(tree, leafId);
      const { model, thinkingLevel } = resumedModel(tree, leafId);
      const count = countMessages(tree, leafId);
      const stored = new StoredMessages(tree, leafId);
      const json = count === undefined ? undefined : Buffer.concat(stored.json).toString();
      const expected = buildSessionContext(tree.branch(leafId));
      expectSame(context, expected);
      expect({ model, thinkingLevel }).toEqual({
        model: expected.model,
        thinkingLevel: expected.thinkingLevel,
      });
      if (json === undefined) return;
      expect(count).toBe(expected.messages.length);
      expectSame(JSON.parse(json), JSON.parse(JSON.stringify(expected.messages)));
    }));

  it("uses the same entries, without reading those before the compaction", () =>
    forRandomBranches(({ tree }, leafId) => {
      const entries = contextEntries(entriesForContext(tree, leafId));
      expectSame(entries, contextEntries(tree.branch(leafId)));
    }));

  it("does not read messages that a compaction has replaced", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    const log = SessionLog.create({ cwd: "/", path });
    for (const text of ["first", "second", "third"]) log.append(message(user(text)));
    const kept = log.append(message(user("kept")));
    const compaction = { summary: "Three questions.", firstKeptEntryId: kept.id, tokensBefore: 9 };
    log.append({ type: "compaction", ...compaction });
    log.append(message(assistant("later")));
    log.close();
    const { tree, lines } = await readSession(path);
    const read: number[] = [];
    const { entry, values, lists } = lines;
    tree.readFrom({
      read: (place) => lines.read(place),
      entry: (place) => {
        read.push(place.start);
        return entry.call(lines, place);
      },
      values: (places) => {
        const all = [...places];
        read.push(...all.map(({ start }) => start));
        return values.call(lines, all);
      },
      lists: (places, isKept) => lists.call(lines, places, isKept),
    });
    expect(countMessages(tree, tree.leafId)).toBe(3);
    expect(contextOfBranch(tree).messages).toHaveLength(3);
    // The kept question and the reply, which is read twice: as a message and for its model.
    expect(read).toHaveLength(3);
    lines.close();
  });

  it("replaces bytes in a file that are not valid UTF-8", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    const log = SessionLog.create({ cwd: "/", path });
    log.append(message(user("first ?")));
    log.append(message(assistant("é")));
    log.close();
    const bytes = readFileSync(path);
    bytes[bytes.indexOf("first ?") + 6] = 0xff;
    writeFileSync(path, bytes);
    const { tree, lines } = await readSession(path);
    const json = Buffer.concat(new StoredMessages(tree, tree.leafId).json);
    expect(isUtf8(json)).toBe(true);
    expect(json.toString()).toContain("first \ufffd");
    expect(json.toString()).toContain("é");
    lines.close();
  });

  it("can be mapped by a dialect like a list", async () => {
    const path = join(temporaryFolder(), "session.jsonl");
    const log = SessionLog.create({ cwd: "/", path });
    log.append(message(user("first")));
    log.append(message(assistant("second")));
    log.close();
    const { tree, lines } = await readSession(path);
    const stored = new StoredMessages(tree, tree.leafId);
    expect(stored.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(JSON.stringify({ stored })).toBe(`{"stored":${Buffer.concat(stored.json)}}`);
    lines.close();
  });
});
