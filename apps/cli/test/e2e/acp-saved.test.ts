import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Editor, makeEditorPlace } from "../support/acp-editor.ts";

const call = (name: string, args: Record<string, unknown>) => ({
  type: "toolCall" as const,
  name,
  arguments: args,
});
const scenario = [
  {
    when: { hasToolResults: false },
    content: [
      { type: "thinking" as const, thinking: "hm" },
      "Looking.",
      call("read", { path: "notes.txt" }),
      call("read", { path: "none.txt" }),
    ],
  },
  { when: { hasToolResults: true }, content: "Seen." },
  "Later.",
  "Latest.",
];

/** Ends an agent the way an editor does. */
async function leave(editor: Editor): Promise<void> {
  expect(await editor.leave()).toBe(0);
}

const code = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => "no error",
    (error: { code: number; message: string }) => error,
  );

describe("a session of an earlier agent", () => {
  it("is listed, loaded with its conversation and continued", async () => {
    const place = makeEditorPlace({ scenario });
    const first = await Editor.start({ place });
    const { sessionId } = await first.open();
    await first.prompt(sessionId, "Look around\nnow");
    const live = first.updates(sessionId);
    await leave(first);

    const second = await Editor.start({ place });
    const listed = await second.agent.request("session/list", { cwd: place.cwd });
    expect(listed.sessions).toEqual([
      {
        sessionId,
        cwd: place.cwd,
        title: "Look around",
        updatedAt: expect.stringMatching(/^\d{4}-/),
      },
    ]);
    await second.agent.request("session/load", { sessionId, cwd: place.cwd, mcpServers: [] });
    const replayed = second.updates(sessionId);
    expect(second.text(sessionId, "user_message_chunk")).toBe("Look around\nnow");
    expect(second.text(sessionId, "agent_thought_chunk")).toBe("hm");
    expect(second.text(sessionId, "agent_message_chunk")).toBe("Looking.Seen.");
    expect(Object.values(second.states(sessionId))).toEqual([
      ["pending", "completed"],
      ["pending", "failed"],
    ]);
    const ends = (all: typeof live) =>
      all.flatMap((one) =>
        one.sessionUpdate === "tool_call_update" && one.rawOutput ? [one.content] : [],
      );
    expect(ends(replayed)).toEqual(ends(live));
    expect(await second.prompt(sessionId, "more")).toEqual({ stopReason: "end_turn" });
  });

  it("is resumed without replaying messages, and opened by a prompt", async () => {
    const place = makeEditorPlace({
      scenario: ["One.", "Two.", "Three."].map((content) => ({ content, repeat: true })),
    });
    const first = await Editor.start({ place });
    const { sessionId } = await first.open();
    await first.prompt(sessionId, "first");
    await leave(first);

    const second = await Editor.start({ place });
    await second.agent.request("session/resume", { sessionId, cwd: place.cwd, mcpServers: [] });
    expect(second.updates(sessionId)).toEqual([]);
    await leave(second);

    const third = await Editor.start({ place });
    expect(await third.prompt(sessionId, "second")).toEqual({ stopReason: "end_turn" });
    const file = execFileSync(
      "sh",
      ["-c", `cat ${place.folder}/agent/sessions/*/*_${sessionId}.jsonl`],
      { encoding: "utf8" },
    );
    expect(file).toContain('"first"');
    expect(file).toContain('"second"');
  });

  it("has its open calls reported as failed", async () => {
    const place = makeEditorPlace({
      scenario: [{ content: [call("bash", { command: "sleep 660" })] }, "next"],
    });
    const first = await Editor.start({ place, isBuilt: true });
    const { sessionId } = await first.open();
    const running = code(first.prompt(sessionId, "wait"));
    await first.until(() => JSON.stringify(first.said).includes("in_progress"));
    await first.kill();
    await running;

    const second = await Editor.start({ place });
    await second.agent.request("session/load", { sessionId, cwd: place.cwd, mcpServers: [] });
    expect(Object.values(second.states(sessionId))).toEqual([["pending", "failed"]]);
  });

  it("keeps its mode and thinking level without changing the settings files", async () => {
    const place = makeEditorPlace({ scenario: ["One."] });
    const first = await Editor.start({ place });
    const { sessionId } = await first.open();
    await first.agent.request("session/set_mode", { sessionId, modeId: "readOnly" });
    const { configOptions } = await first.agent.request("session/set_config_option", {
      sessionId,
      configId: "thinking",
      value: "high",
    });
    expect(configOptions.map(({ id, category }) => [id, category])).toEqual([
      ["model", "model"],
      ["thinking", "thought_level"],
    ]);
    expect(configOptions.at(-1)).toMatchObject({ currentValue: "high" });
    await leave(first);

    const second = await Editor.start({ place });
    const state = await second.agent.request("session/load", {
      sessionId,
      cwd: place.cwd,
      mcpServers: [],
    });
    expect(state.modes?.currentModeId).toBe("readOnly");
    expect(state.configOptions?.at(-1)).toMatchObject({ currentValue: "high" });
    expect((await second.open()).modes?.currentModeId).toBe("all");
    expect(existsSync(join(place.folder, "agent", "settings.json"))).toBe(false);
    expect(second.of(sessionId, "current_mode_update")).toEqual([]);
  });

  it("is refused with the process id if another process has it open", async () => {
    const place = makeEditorPlace({ scenario: ["One."] });
    const first = await Editor.start({ place, isBuilt: true });
    const { sessionId } = await first.open();
    const second = await Editor.start({ place });
    const load = { sessionId, cwd: place.cwd, mcpServers: [] };
    expect(await code(second.agent.request("session/load", load))).toMatchObject({
      code: -32603,
      message: expect.stringContaining(`in use by process ${first.pid}`),
    });
    expect(await code(second.agent.request("session/delete", { sessionId }))).toMatchObject({
      code: -32603,
    });
    await first.agent.request("session/close", { sessionId });
    await second.agent.request("session/load", load);
  });
});

it("chunks of one message share an id, and different messages have different ids", async () => {
  const words = { type: "text" as const, text: "one two three", chunkSize: 4 };
  const thought = { type: "thinking" as const, thinking: "Hm" };
  const editor = await Editor.start({ scenario: [{ content: [thought, words] }, "four"] });
  const { sessionId } = await editor.open();
  await editor.prompt(sessionId, "first");
  await editor.prompt(sessionId, "second");
  const ids = () => {
    const chunks = editor.updates(sessionId).flatMap((update) => {
      const isChunk = "messageId" in update && "content" in update;
      return isChunk ? [{ id: update.messageId, text: Object(update.content).text }] : [];
    });
    const texts = new Map<unknown, string>();
    for (const { id, text } of chunks) texts.set(id, (texts.get(id) ?? "") + text);
    return [...texts.values()];
  };
  expect(ids()).toEqual(["Hmone two three", "four"]);
  const { cwd } = editor.place;
  await editor.agent.request("session/close", { sessionId });
  editor.said.length = 0;
  await editor.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  expect(ids()).toEqual(["first", "Hmone two three", "second", "four"]);
});

describe("the list of sessions", () => {
  it("is paged and can be limited to one folder", async () => {
    const place = makeEditorPlace({ scenario: ["One."] });
    const editor = await Editor.start({ place });
    const other = join(place.folder, "other");
    mkdirSync(other);
    const { sessionId } = await editor.open(other);
    const opened = Array.from({ length: 101 }, () => editor.open());
    const ids = (await Promise.all(opened)).map((one) => one.sessionId);
    const all = await editor.agent.request("session/list", {});
    expect(all.sessions).toHaveLength(100);
    const rest = await editor.agent.request("session/list", { cursor: all.nextCursor ?? "" });
    expect(rest.nextCursor).toBeUndefined();
    const listed = [...all.sessions, ...rest.sessions].map((one) => one.sessionId);
    expect(listed.toSorted()).toEqual([...ids, sessionId].toSorted());
    const { sessions } = await editor.agent.request("session/list", { cwd: other });
    expect(sessions).toEqual([
      { sessionId, cwd: other, title: null, updatedAt: expect.any(String) },
    ]);
    expect(await code(editor.agent.request("session/list", { cursor: "never" }))).toMatchObject({
      code: -32602,
    });
    expect(await code(editor.agent.request("session/list", { cwd: "here" }))).toMatchObject({
      code: -32602,
    });
  });
});

describe("closing or deleting a session", () => {
  it("may be repeated and ends whatever is running", async () => {
    const editor = await Editor.start({
      scenario: [{ repeat: true, content: [call("bash", { command: "sleep 660" })] }],
    });
    const { sessionId } = await editor.open();
    const running = editor.prompt(sessionId, "wait");
    await editor.until(() => JSON.stringify(editor.said).includes("in_progress"));
    await editor.agent.request("session/close", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
    await editor.agent.request("session/close", { sessionId });
    const again = editor.prompt(sessionId, "once more");
    await editor.until(() => Object.keys(editor.states(sessionId)).length === 2);
    await editor.agent.request("session/delete", { sessionId });
    expect(await again).toEqual({ stopReason: "cancelled" });
    expect((await editor.agent.request("session/list", {})).sessions).toEqual([]);
    await editor.agent.request("session/delete", { sessionId });
    await editor.agent.request("session/delete", { sessionId: "never-was" });
    await editor.agent.request("session/close", { sessionId: "never-was" });
    expect(await code(editor.prompt(sessionId, "hello?"))).toMatchObject({ code: -32002 });
  });
});

it("requests around a close or a delete are processed in order", async () => {
  const editor = await Editor.start({ scenario: [{ repeat: true, content: "fine" }] });
  const { sessionId } = await editor.open();
  const load = { sessionId, cwd: editor.place.cwd, mcpServers: [] };
  const first = editor.prompt(sessionId, "one");
  const closed = editor.agent.request("session/close", { sessionId });
  const second = editor.prompt(sessionId, "two");
  const deleted = editor.agent.request("session/delete", { sessionId });
  const loaded = code(editor.agent.request("session/load", load));
  const third = code(editor.prompt(sessionId, "three"));
  expect(["cancelled", "end_turn"]).toContain((await first).stopReason);
  await closed;
  expect(["cancelled", "end_turn"]).toContain((await second).stopReason);
  await deleted;
  expect(await loaded).toMatchObject({ code: -32002 });
  expect(await third).toMatchObject({ code: -32002 });
});

it("a damaged session causes an error instead of a new session", async () => {
  const place = makeEditorPlace({ scenario: ["One."] });
  const editor = await Editor.start({ place });
  const { sessionId } = await editor.open();
  await editor.prompt(sessionId, "hi");
  await editor.agent.request("session/close", { sessionId });
  const [path = ""] = execFileSync("sh", ["-c", `ls ${place.folder}/agent/sessions/*/*.jsonl`], {
    encoding: "utf8",
  }).split("\n");
  appendFileSync(path, '{"type":"message","torn');
  await editor.agent.request("session/load", { sessionId, cwd: place.cwd, mcpServers: [] });
  expect(editor.text(sessionId, "user_message_chunk")).toBe("hi");
  expect(readFileSync(path, "utf8")).not.toContain("torn");
});
