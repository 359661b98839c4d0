import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import type { AgentSession } from "../session/agent-session.ts";
import { createTestSession, eventOf, isType, placesIn } from "./__fixtures__/test-session.ts";
import { createAgentSession } from "./create-session.ts";

const bash = (command: string) => toolCall("bash", { command });
const write = (path: string, content: string) => toolCall("write", { path, content });
const enabled = { rewind: { enabled: true } };

const userIds = ({ navigation }: AgentSession) =>
  navigation.forkMessages().map(({ entryId }) => entryId);

function files(folder: string) {
  const place = (name: string) => join(folder, "project", name);
  return {
    put: (name: string, text: string) => writeFileSync(place(name), text),
    get: (name: string) =>
      existsSync(place(name)) ? readFileSync(place(name), "utf8") : undefined,
  };
}

describe("rewind of a session", () => {
  it("reverts tools and commands, keeps the user's files, and can be undone", async () => {
    const { session, folder } = await createTestSession(
      [
        turn([write("a", "one"), bash("echo 1 > b; rm -f old")]),
        "one",
        turn([bash("echo 2 > b")]),
        "two",
      ],
      enabled,
    );
    const { put, get } = files(folder);
    put("old", "old");
    await session.prompt("first");
    put("mine", "mine");
    await session.prompt("second");
    const [first = "", second = ""] = userIds(session);
    expect(await session.listCheckpoints()).toMatchObject([
      { entryId: first, text: "first" },
      { entryId: second, text: "second" },
    ]);
    const asked = await session.rewind({ entryId: first, dryRun: true });
    expect(get("a")).toBe("one");
    const done = await session.rewind({ entryId: first });
    expect(done).toEqual({ ...asked, undoCheckpointId: expect.any(String) });
    expect(done.files.changed).toEqual([
      { path: "a", change: "deleted" },
      { path: "b", change: "deleted" },
      { path: "old", change: "created" },
    ]);
    expect([get("a"), get("b"), get("old"), get("mine")]).toEqual([
      ...[undefined, undefined, "old", "mine"],
    ]);
    expect(userIds(session)).toEqual([first, second]);
    await session.rewind({ checkpointId: done.undoCheckpointId });
    expect([get("a"), get("b"), get("old")]).toEqual(["one", "2\n", undefined]);
  });

  it("moves the conversation back and forth, even for the next host", async () => {
    const created = await createTestSession(
      [turn([write("a", "1")]), "one", turn([write("a", "2")]), "two", "three"],
      enabled,
    );
    const { session, folder } = created;
    await session.prompt("first");
    await session.prompt("second");
    const [first = "", second = ""] = userIds(session);
    const done = await session.rewind({ entryId: second, conversation: true });
    expect(done.text).toBe("second");
    expect(userIds(session)).toEqual([first]);
    const undone = await session.rewind({
      checkpointId: done.undoCheckpointId,
      conversation: true,
    });
    expect(undone.text).toBeUndefined();
    expect(userIds(session)).toEqual([first, second]);
    expect(files(folder).get("a")).toBe("2");
    await session.rewind({ entryId: second, conversation: true });
    await session.dispose();
    const next = await createAgentSession({
      ...placesIn(folder),
      ...enabled,
      session: { kind: "latest" },
    });
    expect(userIds(next)).toEqual([first]);
    expect((await next.listCheckpoints()).map(({ entryId }) => entryId)).toEqual([first, second]);
    await next.rewind({ entryId: first });
    expect(files(folder).get("a")).toBeUndefined();
    await next.dispose();
  });

  it("records nothing for read-only calls", async () => {
    const { session, folder } = await createTestSession(
      [turn([toolCall("ls", {}), bash("cat x; ls -la | head"), toolCall("list_jobs", {})]), "done"],
      enabled,
    );
    await session.prompt("look");
    expect(existsSync(join(folder, "agent", "rewind"))).toBe(false);
    expect(await session.listCheckpoints()).toEqual([]);
  });

  it("is refused during a run, for unknown ids, and while it is off", async () => {
    const created = await createTestSession(
      [turn([bash("echo x > x; sleep 20")]), "done"],
      enabled,
    );
    const { session } = created;
    const running = session.prompt("go");
    await eventOf(created, isType("tool_execution_start"));
    const [entryId = ""] = userIds(session);
    await expect(session.rewind({ entryId })).rejects.toMatchObject({ code: "rewind_busy" });
    expect(session.isStreaming).toBe(true);
    await session.abort();
    await running;
    await expect(session.rewind({ entryId: "nope" })).rejects.toThrow("Entry not found: nope");
    await expect(session.rewind({ checkpointId: "cp-0" })).rejects.toThrow(
      "Checkpoint not found: cp-0",
    );
    await expect(session.rewind({})).rejects.toMatchObject({ code: "invalid_params" });
    const reply =
      session.navigation.entries().entries.find(({ type }) => type !== "message")?.id ?? "";
    await expect(session.rewind({ entryId: reply })).rejects.toMatchObject({
      code: "invalid_rewind_entry",
    });
    session.checkpoints.isEnabled = false;
    await expect(session.rewind({ entryId })).rejects.toThrow("rewind.enabled");
    await expect(session.listCheckpoints()).rejects.toMatchObject({ code: "rewind_disabled" });
    const { session: other } = await createTestSession([]);
    await expect(other.listCheckpoints()).rejects.toMatchObject({ code: "rewind_disabled" });
  });

  it("reverts an aborted prompt, and a steered one separately from earlier prompts", async () => {
    const created = await createTestSession(
      [turn([bash("echo 1 > a"), bash("sleep 20")]), turn([bash("echo 2 > b; sleep 20")])],
      enabled,
    );
    const { session, folder } = created;
    const running = session.prompt("first");
    const { get } = files(folder);
    // The shell creates the file before it writes to it.
    await expect.poll(() => get("a")).toBe("1\n");
    await session.abortAndPrompt("second");
    await expect.poll(() => get("b")).toBe("2\n");
    await session.abort();
    await running;
    await session.waitForIdle();
    const [first = "", second = ""] = userIds(session);
    await session.rewind({ entryId: second });
    expect([get("a"), get("b")]).toEqual(["1\n", undefined]);
    await session.rewind({ entryId: first });
    expect(get("a")).toBeUndefined();
  });

  it("continues without a checkpoint if git is missing, and says so", async () => {
    const { session, folder } = await createTestSession([turn([write("a", "1")]), "done"], {
      ...enabled,
      environment: { PATH: "/nowhere" },
    });
    await session.prompt("go");
    expect(files(folder).get("a")).toBe("1");
    expect(session.diagnostics.map(({ message }) => message).join()).toContain(
      "no git on the PATH",
    );
    await expect(session.listCheckpoints()).rejects.toThrow(/Could not rewind: .*git/);
  });
});
