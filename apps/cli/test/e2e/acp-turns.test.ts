import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  PermissionOptionKind,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { Editor, type EditorSetup } from "../support/acp-editor.ts";

const call = (name: string, args: Record<string, unknown>) => ({
  type: "toolCall" as const,
  name,
  arguments: args,
});

/** A model that makes one call, then ends; repeats for each prompt. */
const eachPrompt = (...calls: ReturnType<typeof call>[]) => [
  { repeat: true, when: { hasToolResults: false }, content: calls },
  { repeat: true, when: { hasToolResults: true }, content: "Done." },
];

const slow = { type: "text" as const, text: "word ".repeat(400), chunkSize: 5, delayMs: 20 };

describe("the question before a tool call", () => {
  const write = call("write", { path: "notes.txt", content: "changed\n" });
  const scenario = [{ content: [write] }, "Done."];
  const choose = (kind: PermissionOptionKind) => (asked: RequestPermissionRequest) => ({
    outcome: {
      outcome: "selected" as const,
      optionId: asked.options.find((option) => option.kind === kind)?.optionId ?? "",
    },
  });

  async function ask(
    answer: (
      asked: RequestPermissionRequest,
    ) => RequestPermissionResponse | Promise<RequestPermissionResponse>,
    setup: EditorSetup = {},
  ) {
    const asked: RequestPermissionRequest[] = [];
    const editor = await Editor.start({
      // A call is shown as running unless a question follows at once; before the first question, modules have
      // to be loaded.
      isBuilt: true,
      scenario,
      arguments: ["--permission-mode", "ask"],
      answers: (app) =>
        app.onRequest("session/request_permission", ({ params }) => {
          asked.push(params);
          return answer(params);
        }),
      ...setup,
    });
    const { sessionId } = await editor.open();
    const { stopReason } = await editor.prompt(sessionId, "go");
    const file = join(editor.place.cwd, "notes.txt");
    const text = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    return { editor, sessionId, asked, stopReason, text };
  }

  it("follows the pending call, with its diff and location", async () => {
    const { editor, asked, text, sessionId } = await ask(choose("allow_once"));
    const path = join(editor.place.cwd, "notes.txt");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      sessionId,
      options: [
        { kind: "allow_once" },
        { kind: "allow_always" },
        { kind: "reject_once" },
        { kind: "reject_always" },
      ],
      toolCall: {
        kind: "edit",
        status: "pending",
        locations: [{ path, line: 1 }],
        content: [{ type: "diff", path, oldText: "one\ntwo\n", newText: "changed\n" }],
      },
    });
    const question = editor.seen.findIndex(
      ({ message }) => message.method === "session/request_permission",
    );
    const before = editor.seen.slice(0, question).map(({ message }) => JSON.stringify(message));
    expect(before.some((line) => line.includes('"tool_call"'))).toBe(true);
    expect(before.some((line) => line.includes('"in_progress"'))).toBe(false);
    const [states = []] = Object.values(editor.states(sessionId));
    expect(states).toEqual(["pending", "in_progress", "completed"]);
    expect(text).toBe("changed\n");
  });

  it.each([
    ["is refused", choose("reject_once")],
    ["is cancelled", () => ({ outcome: { outcome: "cancelled" as const } })],
    [
      "gets an option that was not offered",
      () => ({ outcome: { outcome: "selected" as const, optionId: "yes" } }),
    ],
    ["gets an error", () => Promise.reject(new Error("the window is gone"))],
  ])("denies the call when it %s", async (_, answer) => {
    const { editor, text, sessionId, stopReason } = await ask(answer);
    expect(text).toBe("one\ntwo\n");
    expect(stopReason).toBe("end_turn");
    const [states = []] = Object.values(editor.states(sessionId));
    expect(states).toEqual(["pending", "failed"]);
  });

  it("is not repeated after an answer for always, even in later sessions", async () => {
    const repeated = eachPrompt(write);
    const { editor, asked, sessionId } = await ask(choose("allow_always"), { scenario: repeated });
    const settings = join(editor.place.folder, "agent", "settings.json");
    expect(JSON.parse(readFileSync(settings, "utf8")).permissions.rules).toEqual([
      { tool: "write", match: expect.stringContaining("notes.txt"), action: "allow" },
    ]);
    expect((await editor.prompt(sessionId, "again")).stopReason).toBe("end_turn");
    const other = await editor.open();
    await editor.prompt(other.sessionId, "elsewhere");
    expect(asked).toHaveLength(1);
  });

  it("is not repeated in this session after a lasting refusal", async () => {
    const repeated = eachPrompt(write);
    const { editor, asked, sessionId, text } = await ask(choose("reject_always"), {
      scenario: repeated,
    });
    await editor.prompt(sessionId, "again");
    expect(asked).toHaveLength(1);
    expect(text).toBe("one\ntwo\n");
    const other = await editor.open();
    await editor.prompt(other.sessionId, "elsewhere");
    expect(asked).toHaveLength(2);
  });

  it("explains why a command needs approval", async () => {
    const { asked } = await ask(choose("reject_once"), {
      scenario: [{ content: [call("bash", { command: "touch x" })] }, "Done."],
    });
    expect(asked[0]?.toolCall).toMatchObject({
      title: "touch x",
      kind: "execute",
      content: [{ type: "content", content: { text: expect.stringContaining("mode ask") } }],
    });
  });
});

describe("the plan", () => {
  it("shows the todo list", async () => {
    const todos = [
      { content: "look", status: "completed" },
      { content: "write", status: "in_progress" },
      { content: "dream", status: "abandoned" },
      { content: "test", status: "pending" },
    ];
    const editor = await Editor.start({
      scenario: [{ content: [call("todo_write", { todos })] }, "a", "b", "c", "d"],
    });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "plan it");
    expect(editor.of(sessionId, "plan").at(-1)?.entries).toEqual([
      { content: "look", status: "completed", priority: "medium" },
      { content: "write", status: "in_progress", priority: "medium" },
      { content: "test", status: "pending", priority: "medium" },
    ]);
    expect(editor.of(sessionId, "tool_call")[0]).toMatchObject({ kind: "think" });
  });
});

describe("cancelling a turn", () => {
  it("ends the reply, and nothing follows the answer", async () => {
    const editor = await Editor.start({ scenario: [{ content: [slow] }, "next"] });
    const { sessionId } = await editor.open();
    const running = editor.prompt(sessionId, "talk");
    await editor.until(() => editor.text(sessionId, "agent_message_chunk") !== "");
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
    const count = editor.said.length;
    expect(await editor.prompt(sessionId, "and now")).toEqual({ stopReason: "end_turn" });
    expect(JSON.stringify(editor.said.slice(count))).not.toContain("word");
  });

  it("fails running and later calls, and ends open requests", async () => {
    const editor = await Editor.start({
      scenario: [
        {
          content: [
            call("bash", { command: "echo on; sleep 660" }),
            call("read", { path: "notes.txt" }),
          ],
        },
        "next",
      ],
    });
    const { sessionId } = await editor.open();
    const first = editor.prompt(sessionId, "run");
    await editor.until(() => JSON.stringify(editor.said).includes("in_progress"));
    const second = editor.prompt(sessionId, "then this");
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await Promise.all([first, second])).toEqual([
      { stopReason: "cancelled" },
      { stopReason: "cancelled" },
    ]);
    for (const states of Object.values(editor.states(sessionId))) {
      expect(states.at(-1)).toBe("failed");
    }
    expect(Object.keys(editor.states(sessionId))).toHaveLength(2);
    const answers = editor.seen.filter(({ message }) =>
      JSON.stringify(message).includes("cancelled"),
    );
    expect(answers.map(({ message }) => message.id)).toEqual([2, 3]);
    expect(editor.seen.at(-1)?.message.id).toBe(3);
  });

  it("withdraws a question; later answers are ignored", async () => {
    const answer = Promise.withResolvers<RequestPermissionResponse>();
    const editor = await Editor.start({
      scenario: [{ content: [call("write", { path: "x.txt", content: "x" })] }, "next"],
      arguments: ["--permission-mode", "ask"],
      answers: (app) => app.onRequest("session/request_permission", () => answer.promise),
    });
    const { sessionId } = await editor.open();
    const running = editor.prompt(sessionId, "write");
    const isAsked = () =>
      editor.seen.some(({ message }) => message.method === "session/request_permission");
    await editor.until(isAsked);
    const question = editor.seen.find(
      ({ message }) => message.method === "session/request_permission",
    );
    expect(JSON.stringify(question)).toContain('"oldText":null,"newText":"x"');
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
    answer.resolve({ outcome: { outcome: "selected", optionId: "allow_once" } });
    expect(await editor.prompt(sessionId, "go on")).toEqual({ stopReason: "end_turn" });
    expect(existsSync(join(editor.place.cwd, "x.txt"))).toBe(false);
  });

  it("does nothing if no prompt is running", async () => {
    const editor = await Editor.start({ scenario: ["one"] });
    const { sessionId } = await editor.open();
    await editor.agent.notify("session/cancel", { sessionId });
    await editor.agent.notify("session/cancel", { sessionId: "nobody" });
    expect(await editor.prompt(sessionId, "hi")).toEqual({ stopReason: "end_turn" });
  });

  it("of one request leaves the others alone, both waiting and running prompts", async () => {
    const editor = await Editor.start({ scenario: [{ content: [slow] }, "third"] });
    const { sessionId } = await editor.open();
    const [first, second] = [new AbortController(), new AbortController()];
    const running = editor.prompt(sessionId, "one", { cancellationSignal: first.signal });
    await editor.until(() => editor.text(sessionId, "agent_message_chunk") !== "");
    const waiting = editor.prompt(sessionId, "two", { cancellationSignal: second.signal });
    const last = editor.prompt(sessionId, "three");
    second.abort();
    expect(await waiting).toEqual({ stopReason: "cancelled" });
    first.abort();
    expect(await running).toEqual({ stopReason: "cancelled" });
    expect(await last).toEqual({ stopReason: "end_turn" });
    expect(editor.text(sessionId, "agent_message_chunk")).toMatch(/third$/);
  });
});

describe("prompts", () => {
  it("are answered in order", async () => {
    const text = (word: string) => ({
      type: "text" as const,
      text: word,
      chunkSize: 1,
      delayMs: 5,
    });
    const editor = await Editor.start({
      scenario: [{ content: [text("first")] }, { content: [text("second")] }],
    });
    const { sessionId } = await editor.open();
    const ends: string[] = [];
    await Promise.all(
      ["one", "two"].map((prompt) =>
        editor.prompt(sessionId, prompt).then(() => ends.push(prompt)),
      ),
    );
    expect(ends).toEqual(["one", "two"]);
    const answered = editor.seen.findIndex(
      ({ from, message }) => from === "agent" && message.id === 2,
    );
    const later = editor.seen.slice(answered + 1).map(({ message }) => JSON.stringify(message));
    expect(later.join()).not.toContain('"f"');
    expect(editor.text(sessionId, "agent_message_chunk")).toBe("firstsecond");
  });

  it("of several sessions run concurrently, each in its folder", async () => {
    const editor = await Editor.start({
      scenario: eachPrompt(call("bash", { command: "pwd" })),
    });
    const names = ["a", "b", "c", "d", "e"];
    const opened = await Promise.all(
      names.map(async (name) => {
        const cwd = join(editor.place.folder, name);
        mkdirSync(cwd);
        const { sessionId } = await editor.open(cwd);
        return { cwd, sessionId };
      }),
    );
    await Promise.all(opened.map(({ sessionId }) => editor.prompt(sessionId, "where")));
    for (const { cwd, sessionId } of opened) {
      const said = JSON.stringify(editor.of(sessionId, "tool_call_update"));
      expect(said).toContain(JSON.stringify(`\`\`\`\n${cwd}\n\`\`\``));
      expect(editor.text(sessionId, "agent_message_chunk")).toBe("Done.");
    }
  });

  it("report when the output limit has cut the answer", async () => {
    const cut = { content: "and", stopReason: "length" as const };
    const editor = await Editor.start({ scenario: [cut, cut, cut] });
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "go")).toEqual({ stopReason: "max_tokens" });
  });

  it("can contain links, files and images", async () => {
    const editor = await Editor.start({ scenario: ["seen"] });
    const { sessionId } = await editor.open();
    const { cwd } = editor.place;
    const uri = `file://${cwd}/notes.txt`;
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await editor.prompt(sessionId, [
      { type: "text", text: "compare " },
      { type: "resource_link", name: "notes", uri },
      { type: "text", text: " with " },
      {
        type: "resource",
        resource: { uri: "file:///other.md", text: "# Other", mimeType: "text/markdown" },
      },
      { type: "image", data: pixel, mimeType: "image/png" },
    ]);
    const root = join(editor.place.folder, "agent", "sessions");
    const [folder = ""] = readdirSync(root);
    const [name = ""] = readdirSync(join(root, folder)).filter((one) => one.endsWith(".jsonl"));
    const file = readFileSync(join(root, folder, name), "utf8");
    const lines = file
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const user = lines.find((line) => line.message?.role === "user");
    expect(user.message.content).toEqual([
      { type: "text", text: `compare [notes](${cwd}/notes.txt) with [other.md](/other.md)` },
      { type: "image", data: pixel, mimeType: "image/png" },
      { type: "text", text: '<file name="/other.md">\n# Other\n</file>' },
    ]);
  });

  it("can begin with a template command", async () => {
    const editor = await Editor.start({
      scenario: ["ok"],
      files: { "agent/prompts/review.md": "---\ndescription: Reviews\n---\nReview $1 now" },
    });
    const { sessionId } = await editor.open();
    await editor.until(() => editor.of(sessionId, "available_commands_update").length > 0);
    expect(editor.of(sessionId, "available_commands_update")[0]?.availableCommands).toContainEqual({
      name: "review",
      description: "Reviews",
      input: { hint: "arguments" },
    });
    await editor.prompt(sessionId, "/review main.ts");
    const again = await Editor.start({ place: editor.place, scenario: [] });
    await editor.agent.request("session/close", { sessionId });
    await again.agent.request("session/load", { sessionId, cwd: editor.place.cwd, mcpServers: [] });
    expect(again.text(sessionId, "user_message_chunk")).toBe("Review main.ts now");
  });
});
