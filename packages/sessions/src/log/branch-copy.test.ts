import { readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionFile } from "./__fixtures__/random-session.ts";
import {
  assistant,
  linesOf,
  message,
  temporaryFolder,
  user,
} from "./__fixtures__/session-files.ts";
import { SessionLog } from "./session-log.ts";

const cwd = "/project";

/** What a copy contains of the other session, in memory and in its file. */
async function copyOf(path: string, copy: (log: SessionLog) => void) {
  const log = SessionLog.create({ cwd, path, id: "copy" });
  copy(log);
  const { tree, totals, name, promptIds } = log;
  const { consumption } = totals;
  const entries = [...tree.entries];
  const branch = tree.branch().map(({ id }) => id);
  log.close();
  const saved = entries.length === 0 ? undefined : await SessionLog.load(path, { cwd });
  const fromFile = saved?.log.tree.entries;
  saved?.log.close();
  return { entries, branch, leafId: tree.leafId, totals, consumption, name, promptIds, fromFile };
}

describe("copying a branch into another file", () => {
  it("gives the same result as writing the entries one by one", async () => {
    const folder = temporaryFolder();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(sessionFile, fc.nat(), async (bytes, at) => {
        count += 1;
        const path = join(folder, `${count}.jsonl`);
        writeFileSync(path, bytes);
        const opened = await SessionLog.load(path, { cwd }).catch(() => undefined);
        fc.pre(opened !== undefined && opened.log.tree.length > 0);
        const { log } = opened;
        const leafId = log.tree.at(at % log.tree.length)?.id ?? null;
        const byLines = await copyOf(`${path}.1`, (copy) => copy.takeOverBranch(log, leafId));
        const branch = log.tree.branch(leafId);
        const byEntries = await copyOf(`${path}.2`, (copy) => copy.takeOver(branch));
        log.close();
        expect(byLines).toEqual(byEntries);
      }),
      { numRuns: Number(process.env.TAU_RANDOM_SESSIONS ?? 25) },
    );
  });

  it("copies a session whose file has been deleted meanwhile", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "session.jsonl");
    const begun = SessionLog.create({ cwd, path });
    begun.append(message(user("first")));
    begun.append(message(assistant("second")));
    begun.close();
    const { log } = await SessionLog.load(path, { cwd });
    unlinkSync(path);
    const copy = SessionLog.create({ cwd, path: join(folder, "copy.jsonl") });
    copy.takeOverBranch(log, log.tree.leafId);
    expect(linesOf(join(folder, "copy.jsonl")).slice(1)).toEqual(log.tree.entries);
    log.close();
    copy.close();
  });

  it("leaves no entries if the other file has become shorter", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "session.jsonl");
    const begun = SessionLog.create({ cwd, path });
    begun.append(message(user("first")));
    begun.append(message(assistant("x".repeat(1000))));
    const { leafId } = begun.tree;
    begun.close();
    const { log } = await SessionLog.load(path, { cwd });
    writeFileSync(path, readFileSync(path).subarray(0, 500));
    const copy = SessionLog.create({ cwd, path: join(folder, "copy.jsonl") });
    expect(() => copy.takeOverBranch(log, leafId)).toThrow(
      expect.objectContaining({ code: "session_changed" }),
    );
    expect(readFileSync(join(folder, "copy.jsonl"), "utf8")).toBe("");
    expect(copy.tree.length).toBe(0);
    log.close();
  });
});
