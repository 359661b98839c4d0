import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Editor } from "../support/acp-editor.ts";
import { AcpSchemaCheck } from "../support/acp-schema.ts";

/** A turn that calls tools, followed by one that ends. */
const calling = (...calls: readonly (readonly [string, Record<string, unknown>])[]) => [
  {
    content: [
      { type: "thinking" as const, thinking: "let me see" },
      "I will look.",
      ...calls.map(([name, args]) => ({ type: "toolCall" as const, name, arguments: args })),
    ],
  },
  "All done.",
  "And more.",
];

function sessionFiles(editor: Editor): string[] {
  const root = join(editor.place.folder, "agent", "sessions");
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(root, folder, name)),
  );
}

it("the schema check reports messages that the schema does not allow", () => {
  const check = new AcpSchemaCheck();
  const update = (params: unknown) => ({ jsonrpc: "2.0", method: "session/update", params });
  const plan = { sessionUpdate: "plan", entries: [] };
  expect(check.violation("agent", update({ sessionId: "1", update: plan }))).toBeUndefined();
  for (const wrong of [
    {},
    { sessionId: 1, update: plan },
    { sessionId: "1", update: { ...plan, entries: 5 } },
  ]) {
    expect(check.violation("agent", update(wrong))).toContain("session/update");
  }
  expect(check.violation("agent", { jsonrpc: "2.0", id: 1, result: {} })).toContain("to nothing");
  check.violation("client", { jsonrpc: "2.0", id: 1, method: "session/prompt", params: {} });
  expect(check.violation("agent", { jsonrpc: "2.0", id: 1, result: {} })).toContain("stopReason");
});

describe("a session of an editor", () => {
  it("works with the session class of the protocol's library", async () => {
    const editor = await Editor.start({ isBuilt: true, scenario: calling(["ls", { path: "." }]) });
    const seen: string[] = [];
    const text = await editor.agent.buildSession(editor.place.cwd).withSession(async (session) => {
      void session.prompt("Look");
      for (;;) {
        const message = await session.nextUpdate();
        if (message.kind === "stop") break;
        seen.push(message.update.sessionUpdate);
      }
      void session.prompt("More");
      return session.readText();
    });
    expect(new Set(seen)).toEqual(
      new Set([
        "available_commands_update",
        "agent_thought_chunk",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "usage_update",
        "session_info_update",
      ]),
    );
    expect(text).toBe("And more.");
  });

  it("shows thoughts, text, calls, diffs, usage and title", async () => {
    const editor = await Editor.start({
      isBuilt: true,
      scenario: calling(
        ["read", { path: "notes.txt", offset: 2 }],
        ["write", { path: "new.txt", content: "fresh\n" }],
        ["edit", { path: "notes.txt", oldText: "two", newText: "2" }],
        ["bash", { command: "echo said" }],
      ),
    });
    const { cwd } = editor.place;
    const { sessionId, modes } = await editor.open();
    expect(modes?.currentModeId).toBe("all");
    expect(modes?.availableModes.map(({ id }) => id)).toEqual([
      "all",
      "ask",
      "acceptEdits",
      "readOnly",
    ]);
    const [file = ""] = sessionFiles(editor);
    expect(JSON.parse(readFileSync(file, "utf8").split("\n", 1)[0] ?? "").id).toBe(sessionId);

    expect(await editor.prompt(sessionId, "Look around\nplease")).toEqual({
      stopReason: "end_turn",
    });
    expect(editor.text(sessionId, "agent_thought_chunk")).toBe("let me see");
    expect(editor.text(sessionId, "agent_message_chunk")).toBe("I will look.All done.");
    expect(editor.of(sessionId, "user_message_chunk")).toEqual([]);
    const calls = editor.of(sessionId, "tool_call");
    expect(calls.map(({ kind, title, locations }) => [kind, title, locations])).toEqual([
      ["read", "Read notes.txt", [{ path: join(cwd, "notes.txt"), line: 2 }]],
      ["edit", "Write new.txt", [{ path: join(cwd, "new.txt") }]],
      ["edit", "Edit notes.txt", [{ path: join(cwd, "notes.txt") }]],
      ["execute", "echo said", []],
    ]);
    const states = ["pending", "in_progress", "completed"];
    for (const seen of Object.values(editor.states(sessionId))) {
      expect([...new Set(seen)]).toEqual(states);
    }
    const ends = editor
      .of(sessionId, "tool_call_update")
      .filter(({ status }) => status === "completed");
    expect(ends.map(({ content }) => content?.[0])).toEqual([
      { type: "content", content: { type: "text", text: "```\ntwo\n```" } },
      { type: "diff", path: join(cwd, "new.txt"), oldText: null, newText: "fresh\n" },
      { type: "diff", path: join(cwd, "notes.txt"), oldText: "one\ntwo\n", newText: "one\n2\n" },
      { type: "content", content: { type: "text", text: "```\nsaid\n```" } },
    ]);
    const used = editor.of(sessionId, "usage_update");
    expect(used).toHaveLength(2);
    expect(used[1]).toMatchObject({ size: expect.any(Number), cost: { currency: "USD" } });
    expect(editor.of(sessionId, "session_info_update").map(({ title }) => title)).toEqual([
      "Look around",
    ]);
    expect(editor.of(sessionId, "available_commands_update")).toHaveLength(1);
  });
});
