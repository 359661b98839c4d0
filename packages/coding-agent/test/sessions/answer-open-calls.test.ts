import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionEntryOf } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { buildSessionContext, migrateEntries, SessionLog } from "@tau-agent/sessions/log";
import { describe, expect, it } from "vitest";
import { openInFolder } from "../../../sessions/src/log/__fixtures__/open-in-folder.ts";
import { readSessionFile } from "../../../sessions/src/log/file/read-session-file.ts";
import {
  createTestSession,
  temporaryFolder,
  unpaired,
} from "../../src/create/__fixtures__/test-session.ts";

/** A session with two calls in one reply. */
async function withBatch() {
  const test = await createTestSession(({ messages, systemPrompt }) =>
    messages.length > 1 || systemPrompt.includes("summaries")
      ? "done"
      : {
          content: ["a.txt", "b.txt"].map((path, index) => ({
            type: "toolCall",
            id: `call_${index}`,
            name: "ls",
            arguments: { path },
          })),
        },
  );
  await test.session.prompt("look");
  const { entries } = test.session.log.tree;
  const messages = entries.filter(
    (entry): entry is SessionEntryOf<"message"> => entry.type === "message",
  );
  return { ...test, messages };
}

/** The file of a session whose host was killed after the first result. */
async function killed(): Promise<{ path: string; cwd: string; directory: string }> {
  const { session } = await withBatch();
  const { path = "", header } = session.log;
  await session.dispose();
  const lines = readFileSync(path, "utf8").split("\n");
  const end = lines.findIndex((line) => line.includes('"role":"toolResult"'));
  const cut = join(temporaryFolder(), "killed.jsonl");
  writeFileSync(cut, `${lines.slice(0, end + 1).join("\n")}\n`);
  return { path: cut, cwd: header.cwd, directory: join(cut, "..") };
}

const messagesOf = (log: SessionLog): AgentMessage[] =>
  buildSessionContext(log.tree.branch()).messages;

const textOf = (message: AgentMessage | undefined): string =>
  JSON.stringify(message && "content" in message ? message.content : undefined);

describe("the calls of a killed host", () => {
  it.each(["file", "fork"] as const)(
    "get a result when a session begins with a %s",
    async (kind) => {
      const { path, ...options } = await killed();
      const start = kind === "file" ? { kind, path } : { kind, from: path };
      const { log } = await openInFolder(start, options);
      const messages = messagesOf(log);
      expect(unpaired(messages)).toEqual([]);
      expect(messages.at(-1)).toMatchObject({ toolCallId: "call_1", isError: true });
      expect(textOf(messages.at(-1))).toContain("the host ended before");
      log.append({ type: "message", message: { role: "user", content: "go on", timestamp: 1 } });
      log.close();
      const again = await openInFolder({ kind: "file", path: log.path ?? "" }, options);
      expect(messagesOf(again.log)).toHaveLength(5);
      expect(unpaired(messagesOf(again.log))).toEqual([]);
      again.log.close();
    },
  );

  it("get a result when a session begins with a log that was read elsewhere", async () => {
    const { path, ...options } = await killed();
    const { header = { type: "session", id: "read", timestamp: "", cwd: "/" }, entries } =
      await readSessionFile(path);
    const log = SessionLog.create({ ...options, id: "read" });
    log.takeOver(migrateEntries({ header, entries }));
    const opened = await openInFolder({ kind: "log", log }, options);
    expect(unpaired(messagesOf(opened.log))).toEqual([]);
  });

  it("get a result in a fork while another host continues the session, without claiming an end", async () => {
    const { path, ...options } = await killed();
    const owner = { pid: process.pid, host: "elsewhere", token: "t" };
    writeFileSync(`${path}.lock`, JSON.stringify(owner));
    const { log } = await openInFolder({ kind: "fork", from: path }, options);
    expect(unpaired(messagesOf(log))).toEqual([]);
    expect(textOf(messagesOf(log).at(-1))).toContain("goes on from before");
  });

  it("get a result when the session is switched to or cloned", async () => {
    const { path } = await killed();
    const { session } = await createTestSession(() => "reply");
    await session.navigation.switchSession(path);
    expect(unpaired(session.messages)).toEqual([]);
    await session.navigation.clone();
    expect(unpaired(session.messages)).toEqual([]);
    await session.prompt("go on");
    expect(unpaired(session.messages)).toEqual([]);
  });
});

describe("a reply with two calls, one of them unanswered", () => {
  it("gets the missing result in a fork that ends there", async () => {
    const { session, messages, written } = await withBatch();
    const [, , result] = messages;
    await session.navigation.fork(result?.id ?? "", { position: "at" });
    expect(unpaired(session.messages)).toEqual([]);
    expect(session.messages).toHaveLength(4);
    await session.prompt("other");
    expect(written().filter(({ message }) => message?.role === "toolResult")).toHaveLength(2);
  });

  it("gets the missing result in a fork, before a message that another program appended", async () => {
    const { path } = await killed();
    const last = JSON.parse(readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "");
    const message = { role: "user", content: "and?", timestamp: 1 };
    const entry = { ...last, id: "0000ffff", parentId: last.id, message };
    appendFileSync(path, `${JSON.stringify(entry)}\n`);
    const { session } = await createTestSession(() => "reply");
    await session.navigation.switchSession(path);
    await session.navigation.fork("0000ffff");
    expect(session.messages).toHaveLength(4);
    expect(unpaired(session.messages)).toEqual([]);
  });

  it("stays unchanged for a reader, and gets the missing result when the conversation continues", async () => {
    const { session, messages, written } = await withBatch();
    const [, reply] = messages;
    await session.navigation.navigate(reply?.id ?? "");
    expect(session.navigation.tree().leafId).toBe(reply?.id);
    const before = written().length;
    await session.prompt("other");
    expect(unpaired(session.messages)).toEqual([]);
    expect(session.messages.map(({ role }) => role).slice(2, 6)).toEqual([
      "toolResult",
      "toolResult",
      "user",
      "assistant",
    ]);
    expect(written()[before]?.message).toMatchObject({ toolCallId: "call_0", isError: true });
    const entries = session.log.tree.branch().filter(({ type }) => type === "message");
    expect(entries).toHaveLength(session.messages.length);
  });

  it("gets the missing result before the summary of the branch that is left", async () => {
    const { session, messages } = await withBatch();
    const [, , result] = messages;
    await session.navigation.navigate(result?.id ?? "", { summarize: true });
    expect(session.messages.at(-1)).toMatchObject({ role: "branchSummary" });
    expect(unpaired(session.messages)).toEqual([]);
  });
});
