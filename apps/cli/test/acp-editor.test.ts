import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  RequestError,
} from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { Editor } from "./support/acp-editor.ts";
import { EditorTerminals } from "./support/editor-terminals.ts";
import { areGone } from "./support/start-host.ts";

const call = (name: string, args: Record<string, unknown>) => ({
  type: "toolCall" as const,
  name,
  arguments: args,
});

describe("files of the editor", () => {
  const fs = { readTextFile: true, writeTextFile: true };

  it("are read, edited and written by the tools", async () => {
    const buffers = new Map<string, string>();
    const editor = await Editor.start({
      capabilities: { fs },
      scenario: [
        {
          content: [
            call("read", { path: "notes.txt" }),
            call("read", { path: "unsaved.txt" }),
            call("read", { path: "none.txt" }),
            call("edit", { path: "notes.txt", oldText: "buffer", newText: "BUFFER" }),
            call("write", { path: "new.txt", content: "fresh\n" }),
          ],
        },
        "Done.",
      ],
      answers: (app) =>
        app
          .onRequest("fs/read_text_file", ({ params }) => {
            const content = buffers.get(params.path);
            if (content === undefined) throw RequestError.resourceNotFound(params.path);
            return { content };
          })
          .onRequest("fs/write_text_file", ({ params }) => {
            buffers.set(params.path, params.content);
            return {};
          }),
    });
    const { cwd } = editor.place;
    buffers.set(join(cwd, "notes.txt"), "in the buffer\n");
    buffers.set(join(cwd, "unsaved.txt"), "never saved\n");
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "go")).toEqual({ stopReason: "end_turn" });
    const ends = editor
      .of(sessionId, "tool_call_update")
      .filter(({ status }) => status === "completed" || status === "failed");
    const byId = ends.toSorted((one, other) => one.toolCallId.localeCompare(other.toolCallId));
    expect(byId.map(({ content }) => content?.[0])).toEqual([
      { type: "content", content: { type: "text", text: "```\nin the buffer\n```" } },
      { type: "content", content: { type: "text", text: "```\nnever saved\n```" } },
      {
        type: "content",
        content: { type: "text", text: expect.stringContaining("File not found: none.txt") },
      },
      {
        type: "diff",
        path: join(cwd, "notes.txt"),
        oldText: "in the buffer\n",
        newText: "in the BUFFER\n",
      },
      { type: "diff", path: join(cwd, "new.txt"), oldText: null, newText: "fresh\n" },
    ]);
    expect(readFileSync(join(cwd, "notes.txt"), "utf8")).toBe("one\ntwo\n");
    expect(existsSync(join(cwd, "new.txt"))).toBe(false);
    expect(buffers.get(join(cwd, "new.txt"))).toBe("fresh\n");
  });

  it("do not delay a cancel when the editor never delivers them", async () => {
    const editor = await Editor.start({
      capabilities: { fs },
      scenario: [
        { content: [call("edit", { path: "notes.txt", oldText: "a", newText: "b" })] },
        "x",
      ],
      answers: (app) => app.onRequest("fs/read_text_file", () => new Promise<never>(() => {})),
    });
    const { sessionId } = await editor.open();
    const running = editor.prompt(sessionId, "go");
    await editor.until(() =>
      editor.seen.some(({ message }) => message.method === "fs/read_text_file"),
    );
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
  });

  it("are written to disk when the editor can only read them", async () => {
    const editor = await Editor.start({
      capabilities: { fs: { readTextFile: true } },
      scenario: [
        { content: [call("edit", { path: "notes.txt", oldText: "buffer", newText: "2" })] },
        "x",
      ],
      answers: (app) => app.onRequest("fs/read_text_file", () => ({ content: "buffer\n" })),
    });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "go");
    expect(readFileSync(join(editor.place.cwd, "notes.txt"), "utf8")).toBe("2\n");
  });
});

describe("a terminal of the editor", () => {
  it("runs a command, shows it and is released", async () => {
    const terminals = new EditorTerminals();
    const editor = await Editor.start({
      capabilities: { terminal: true },
      scenario: [
        {
          content: [
            call("bash", { command: "touch one; echo here; exit 3" }),
            call("bash", { command: "touch two; pwd" }),
          ],
        },
        "Done.",
      ],
      answers: (app) => terminals.answer(app),
    });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "run");
    expect(terminals.asked).toEqual([
      "create",
      "wait",
      "output",
      "release",
      "create",
      "wait",
      "output",
      "release",
    ]);
    const updates = editor.of(sessionId, "tool_call_update");
    const shown = updates.flatMap(({ content }) => content ?? []);
    expect(new Set(shown.map((one) => one.type))).toEqual(new Set(["terminal"]));
    const ends = updates.filter(({ rawOutput }) => rawOutput !== undefined);
    expect(ends.map(({ status, rawOutput }) => [status, rawOutput])).toMatchObject([
      ["failed", { text: "here\n\nCommand exited with code 3" }],
      ["completed", { text: `${editor.place.cwd}\n` }],
    ]);
  });

  it("has its command killed by a cancel or a timeout", async () => {
    const terminals = new EditorTerminals();
    const editor = await Editor.start({
      capabilities: { terminal: true },
      scenario: [
        { content: [call("bash", { command: "echo early; sleep 660", timeout: 0.5 })] },
        { content: [call("bash", { command: "sleep 660" })] },
        "Done.",
      ],
      answers: (app) => terminals.answer(app),
    });
    const { sessionId } = await editor.open();
    const running = editor.prompt(sessionId, "run");
    await editor.until(() => terminals.all.size === 2);
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
    const ends = editor
      .of(sessionId, "tool_call_update")
      .filter(({ status }) => status === "failed");
    expect(JSON.stringify(ends[0])).toContain("early\\n\\nCommand timed out after 0.5 seconds");
    await editor.until(() => [...terminals.all.values()].every(({ isReleased }) => isReleased));
    const pids = [...terminals.all.values()].map(({ child }) => child.pid ?? 0);
    expect(await areGone(pids)).toBe(true);
  });

  it("does not delay a cancel when it stops responding, and is released", async () => {
    const mute = () => new Promise<never>(() => {});
    const editor = await Editor.start({
      capabilities: { terminal: true },
      scenario: [{ content: [call("bash", { command: "sleep 660" })] }, "next"],
      answers: (app) =>
        app
          .onRequest("terminal/create", () => ({ terminalId: "mute" }))
          .onRequest("terminal/wait_for_exit", mute)
          .onRequest("terminal/kill", mute)
          .onRequest("terminal/output", mute)
          .onRequest("terminal/release", () => ({})),
    });
    const { sessionId } = await editor.open();
    const running = editor.prompt(sessionId, "run");
    const asked = (method: string) => editor.seen.some(({ message }) => message.method === method);
    await editor.until(() => asked("terminal/wait_for_exit"));
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
    await editor.until(() => asked("terminal/release"));
    expect(await editor.prompt(sessionId, "go on")).toEqual({ stopReason: "end_turn" });
  });

  it("fails the call when it cannot be opened", async () => {
    const editor = await Editor.start({
      capabilities: { terminal: true },
      scenario: [{ content: [call("bash", { command: "pwd" })] }, "Done."],
      answers: (app) =>
        app.onRequest("terminal/create", () => {
          throw new RequestError(-32603, "no more windows");
        }),
    });
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "run")).toEqual({ stopReason: "end_turn" });
    expect(JSON.stringify(editor.updates(sessionId))).toContain(
      "The editor's terminal failed: no more windows",
    );
  });
});

describe("an action of an extension", () => {
  const source = `export default (pi) => {
    pi.registerCommand("ask", { description: "Asks", handler: async () => {
      pi.sendUserMessage("by the extension");
    }});
    pi.registerCommand("leave", { description: "Leaves", handler: async (_, ctx) => {
      await ctx.newSession();
    }});
    pi.registerCommand("forever", { description: "Stays", handler: () => new Promise(() => {}) });
  };`;
  const files = { "agent/extensions/busy.js": source };

  it("sends its message without a prompt and can be cancelled", async () => {
    const slow = { type: "text" as const, text: "word ".repeat(500), chunkSize: 5, delayMs: 10 };
    const editor = await Editor.start({ files, scenario: [{ content: [slow] }, "next"] });
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "/ask")).toEqual({ stopReason: "end_turn" });
    await editor.until(() => editor.text(sessionId, "agent_message_chunk") !== "");
    expect(editor.text(sessionId, "user_message_chunk")).toBe("by the extension");
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await editor.prompt(sessionId, "mine")).toEqual({ stopReason: "end_turn" });
    expect(editor.text(sessionId, "agent_message_chunk")).toMatch(/next$/);
    expect(editor.text(sessionId, "user_message_chunk")).toBe("by the extension");
  });

  it("does not delay a cancel when it never ends", async () => {
    const editor = await Editor.start({ files, scenario: ["next"] });
    const { sessionId } = await editor.open();
    const running = editor.prompt(sessionId, "/forever");
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
    expect(await editor.prompt(sessionId, "mine")).toEqual({ stopReason: "end_turn" });
  });

  it("that switches to another session does not delete that session", async () => {
    const editor = await Editor.start({ files, scenario: ["one", "two"] });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "first");
    await editor.prompt(sessionId, "/leave");
    expect(await editor.prompt(sessionId, "second")).toEqual({ stopReason: "end_turn" });
    await editor.agent.request("session/delete", { sessionId });
    const { sessions } = await editor.agent.request("session/list", {});
    expect(sessions).toMatchObject([{ title: "second" }]);
  });
});

describe("a dialog of an extension", () => {
  const source = `export default (pi) => {
    pi.registerCommand("survey", { description: "Asks", handler: async (_, ctx) => {
      const answers = [
        await ctx.ui.select("Colour?", ["red", "blue"]),
        await ctx.ui.confirm("Sure?", "Really"),
        await ctx.ui.input("Name?", "nobody"),
        await ctx.ui.editor("Text?", "draft"),
      ];
      ctx.ui.notify("Thank you", "warning");
      pi.sendMessage({ customType: "survey", content: JSON.stringify(answers), display: true });
    }});
    pi.registerCommand("think", { description: "Thinks", handler: async () => {
      pi.setThinkingLevel("high");
    }});
  };`;
  const files = { "agent/extensions/survey.js": source };

  it("is shown as a form if the editor supports forms", async () => {
    const asked: CreateElicitationRequest[] = [];
    const given = [
      { action: "accept", content: { value: "blue" } },
      { action: "accept", content: { value: true } },
      { action: "decline" },
      { action: "accept", content: { value: "final" } },
    ] as CreateElicitationResponse[];
    const editor = await Editor.start({
      capabilities: { elicitation: { form: {} }, session: { notices: {} } },
      files,
      scenario: ["x"],
      answers: (app) =>
        app.onRequest("elicitation/create", ({ params }) => {
          asked.push(params);
          return given[asked.length - 1] ?? { action: "cancel" };
        }),
    });
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "/survey")).toEqual({ stopReason: "end_turn" });
    expect(asked).toMatchObject([
      {
        sessionId,
        mode: "form",
        message: "Colour?",
        requestedSchema: { properties: { value: { type: "string", enum: ["red", "blue"] } } },
      },
      {
        message: "Sure?\n\nReally",
        requestedSchema: { properties: { value: { type: "boolean" } } },
      },
      { requestedSchema: { properties: { value: { description: "nobody" } } } },
      { requestedSchema: { properties: { value: { default: "draft" } } } },
    ]);
    expect(editor.text(sessionId, "agent_message_chunk")).toBe('["blue",true,null,"final"]');
    expect(editor.of(sessionId, "notice")).toMatchObject([
      { severity: "warning", title: "Thank you" },
    ]);
  });

  it("is cancelled without a notice if the editor supports no forms", async () => {
    const editor = await Editor.start({ files, scenario: ["x"] });
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "/survey")).toEqual({ stopReason: "end_turn" });
    expect(editor.text(sessionId, "agent_message_chunk")).toBe("[null,false,null,null]");
    expect(editor.of(sessionId, "notice")).toEqual([]);
  });

  it("ends when the prompt is cancelled", async () => {
    const editor = await Editor.start({
      capabilities: { elicitation: { form: {} } },
      files,
      scenario: ["x"],
      answers: (app) => app.onRequest("elicitation/create", () => new Promise<never>(() => {})),
    });
    const { sessionId } = await editor.open();
    const running = editor.prompt(sessionId, "/survey");
    await editor.until(() =>
      editor.seen.some(({ message }) => message.method === "elicitation/create"),
    );
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
  });

  it("may change what the editor shows", async () => {
    const editor = await Editor.start({ files, scenario: ["x"] });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "/think");
    expect(editor.of(sessionId, "config_option_update").at(-1)?.configOptions.at(-1)).toMatchObject(
      {
        id: "thinking",
        currentValue: "high",
      },
    );
  });
});
