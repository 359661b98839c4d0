import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import { sessionsIn } from "@tau-agent/sessions/log";
import { describe, expect, it } from "vitest";
import { openInFolder } from "../../../sessions/src/log/__fixtures__/open-in-folder.ts";
import { createTestSession, userTexts } from "../create/__fixtures__/test-session.ts";

const lines = (path: string): KnownSessionEntry[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

async function conversation() {
  const test = await createTestSession(({ index }) => `reply ${index}`);
  for (const text of ["first", "second", "third"]) await test.session.prompt(text);
  return test;
}

describe("a fork", () => {
  it("contains the branch up to before the message, and leaves the old file unchanged", async () => {
    const { session } = await conversation();
    const old = session.log.path ?? "";
    const before = readFileSync(old, "utf8");
    const messages = session.navigation.forkMessages();
    expect(messages.map(({ text }) => text)).toEqual(["first", "second", "third"]);
    const result = await session.navigation.fork(messages[1]?.entryId ?? "");
    expect(result).toEqual({ text: "second", cancelled: false });
    expect(readFileSync(old, "utf8")).toBe(before);
    expect(session.log.path).not.toBe(old);
    expect(session.log.header.parentSession).toBe(old);
    expect(userTexts(session.messages)).toEqual(["first"]);
    const written = lines(session.log.path ?? "");
    expect(written.filter(({ type }) => (type as string) === "session")).toHaveLength(1);
    await session.prompt("other");
    expect(userTexts(session.messages)).toEqual(["first", "other"]);
  });

  it("is an empty session if taken from the first message, without a file until its first prompt", async () => {
    const { session } = await conversation();
    const [first] = session.navigation.forkMessages();
    await session.navigation.fork(first?.entryId ?? "");
    expect(session.messages).toEqual([]);
    expect(existsSync(session.log.path ?? "")).toBe(false);
  });

  it("changes nothing if the entry is not a user message", async () => {
    const { session } = await conversation();
    const { path } = session.log;
    const reply = session.log.tree.leafId ?? "";
    for (const id of [reply, "nope"]) {
      await expect(session.navigation.fork(id)).rejects.toMatchObject({
        code: "invalid_fork_entry",
      });
    }
    expect(session.log.path).toBe(path);
    expect(session.messages).toHaveLength(6);
  });

  it("keeps the labels of the copied entries", async () => {
    const { session } = await conversation();
    const [first, second] = session.navigation.forkMessages();
    session.navigation.setLabel(first?.entryId ?? "", "start");
    await session.navigation.fork(second?.entryId ?? "");
    const [root] = session.navigation.tree().tree;
    const labelled = JSON.stringify(root).includes('"label":"start"');
    expect(labelled).toBe(true);
  });
});

describe("switching sessions", () => {
  it("continues with the other file, its model and its messages", async () => {
    const { session } = await conversation();
    const old = session.log.path ?? "";
    await session.newSession();
    await session.prompt("elsewhere");
    const other = session.log.path ?? "";
    expect(await session.navigation.switchSession(old)).toEqual({ cancelled: false });
    expect(userTexts(session.messages)).toEqual(["first", "second", "third"]);
    await session.prompt("fourth");
    expect(lines(other).at(-1)).not.toMatchObject({ message: { content: "fourth" } });
    expect(readFileSync(old, "utf8")).toContain("fourth");
  });

  it("keeps the current session if the file is invalid, and creates no file", async () => {
    const { session, folder } = await conversation();
    const missing = join(folder, "missing.jsonl");
    const text = join(folder, "text.jsonl");
    writeFileSync(text, "hello\n");
    await expect(session.navigation.switchSession(missing)).rejects.toMatchObject({
      code: "session_not_found",
    });
    await expect(session.navigation.switchSession(text)).rejects.toMatchObject({
      code: "session_invalid",
    });
    expect(existsSync(missing)).toBe(false);
    expect(readFileSync(text, "utf8")).toBe("hello\n");
    await session.prompt("fourth");
    expect(userTexts(session.messages)).toHaveLength(4);
  });

  it("does nothing for the current session", async () => {
    const { session } = await conversation();
    const path = session.log.path ?? "";
    await session.navigation.switchSession(path);
    expect(session.messages).toHaveLength(6);
    await session.prompt("fourth");
    expect(userTexts(session.messages)).toHaveLength(4);
  });

  it("reports for the current session that another program has changed the file", async () => {
    const { session } = await conversation();
    const path = session.log.path ?? "";
    appendFileSync(path, "{}\n");
    await expect(session.navigation.switchSession(path)).rejects.toMatchObject({
      code: "session_changed",
    });
  });
});

describe("navigating the tree", () => {
  it("goes back to before a user message and branches there", async () => {
    const { session } = await conversation();
    const [, second] = session.navigation.forkMessages();
    const result = await session.navigation.navigate(second?.entryId ?? "");
    expect(result).toEqual({ text: "second", cancelled: false });
    await session.prompt("instead");
    expect(userTexts(session.messages)).toEqual(["first", "instead"]);
    const { entries } = session.navigation.entries();
    expect(entries.filter(({ type }) => type === "message")).toHaveLength(8);
    const since = session.navigation.entries(entries.at(-2)?.id);
    expect(since.entries).toEqual(entries.slice(-1));
  });

  it("summarises the abandoned branch on request", async () => {
    const test = await createTestSession(({ systemPrompt, index }) =>
      systemPrompt.includes("summaries") ? "what happened there" : `reply ${index}`,
    );
    const { session } = test;
    await session.prompt("first");
    const start = session.log.tree.leafId ?? "";
    await session.prompt("second");
    await session.navigation.navigate(start, { summarize: true });
    expect(session.messages.at(-1)).toMatchObject({ role: "branchSummary" });
    expect(JSON.stringify(session.messages.at(-1))).toContain("what happened there");
  });

  it("reports a missing entry, and leaves the current run alone", async () => {
    const { session } = await conversation();
    const { result } = await session.submit("more");
    await expect(session.navigation.navigate("nope")).rejects.toMatchObject({
      code: "entry_not_found",
      message: "Entry not found: nope",
    });
    await expect(result).resolves.toMatchObject({ status: "completed" });
  });
});

describe("sessions of a project", () => {
  it("are listed latest first, and deleted only if they are not in use", async () => {
    const { session } = await conversation();
    const old = session.log.path ?? "";
    session.setName("work");
    await session.newSession();
    await session.prompt("elsewhere");
    const list = await session.navigation.list();
    expect(list.map(({ firstMessage }) => firstMessage)).toEqual(["elsewhere", "first"]);
    expect(list[1]).toMatchObject({ path: old, name: "work", messageCount: 6 });
    await expect(session.navigation.delete(session.log.path ?? "")).rejects.toMatchObject({
      code: "session_locked",
    });
    // Of two simultaneous deletions, one comes first.
    const deletions = await Promise.allSettled([1, 2].map(() => session.navigation.delete(old)));
    expect(existsSync(old)).toBe(false);
    const codes = deletions.flatMap((end) => (end.status === "rejected" ? [end.reason.code] : []));
    expect(["session_not_found", "session_locked"]).toContain(codes[0]);
    expect(codes).toHaveLength(1);
  });

  it("are listed whatever another program wrote into their files", async () => {
    const { session } = await conversation();
    const path = session.log.path ?? "";
    const entries = [
      { type: "message", id: "x1", parentId: null, message: { role: "user", content: null } },
      { type: "message", id: "x2", parentId: "x1", message: { role: "user", content: [null] } },
      { type: "message", id: "x3", parentId: "x2", message: null },
      { type: "session_info", id: "x4", parentId: "x3", name: ["n"] },
    ];
    await session.dispose();
    appendFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    const [listed] = await sessionsIn(join(path, ".."));
    expect(listed).toMatchObject({ path, firstMessage: "first" });
    expect(listed?.name).toBeUndefined();
  });

  it("are found by the beginning of their id, and the latest can be continued", async () => {
    const { session } = await conversation();
    const { path, header } = session.log;
    const directory = join(path ?? "", "..");
    await session.dispose();
    const options = { cwd: header.cwd, directory };
    const byId = await openInFolder({ kind: "file", path: header.id.slice(0, 8) }, options);
    expect(byId.log.path).toBe(path);
    byId.log.close();
    const latest = await openInFolder({ kind: "latest" }, options);
    expect(latest.log.path).toBe(path);
    latest.log.close();
    const fork = await openInFolder({ kind: "fork", from: header.id }, options);
    expect(fork.log.path).not.toBe(path);
    expect(fork.log.tree.entries).toHaveLength(latest.log.tree.entries.length);
    fork.log.close();
  });
});
