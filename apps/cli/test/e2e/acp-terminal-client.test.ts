import { join } from "node:path";
import { expect, it } from "vitest";
import { makeEditorPlace } from "../support/acp-editor.ts";
import { TerminalClient } from "../support/terminal-client.ts";

const call = (name: string, args: Record<string, unknown>) => ({
  type: "toolCall" as const,
  name,
  arguments: args,
});
const todos = [
  { content: "Change it", status: "in_progress" },
  { content: "Test it", status: "pending" },
];
const slow = { type: "text" as const, text: "word ".repeat(400), chunkSize: 5, delayMs: 20 };
const scenario = [
  {
    when: { lastUserIncludes: "Hello", hasToolResults: false },
    content: [
      call("todo_write", { todos }),
      call("edit", { path: "a.txt", oldText: "old", newText: "new" }),
      call("bash", { command: "rm a.txt" }),
    ],
  },
  { when: { lastUserIncludes: "Hello" }, content: "Hello, client!" },
  { when: { lastUserIncludes: "long" }, content: [slow] },
  { repeat: true, content: "Here I am again." },
];

it("a client modelled on the library's example runs whole sessions and reopens them", async () => {
  const place = makeEditorPlace({ scenario });
  const file = join(place.cwd, "a.txt");
  const terminal = new TerminalClient();
  terminal.files.set(file, "old text\n");
  // Picks the first option for an edit, the last for everything else.
  terminal.choose = ({ toolCall, options }) => {
    const { optionId = "" } = (toolCall.kind === "edit" ? options.at(0) : options.at(-1)) ?? {};
    return { outcome: "selected", optionId };
  };
  const asking = { ...place, arguments: [...place.arguments, "--permission-mode", "ask"] };
  const first = await terminal.run(asking, (agent) =>
    agent.buildSession(place.cwd).withSession(async (session) => {
      void session.prompt("Hello, agent!");
      for (;;) {
        const message = await session.nextUpdate();
        if (message.kind === "stop") {
          expect(message.response).toEqual({ stopReason: "end_turn" });
          break;
        }
        terminal.show(message.update);
      }
      void session.prompt("Say something long");
      for (;;) {
        const message = await session.nextUpdate();
        if (message.kind === "stop") {
          expect(message.response).toEqual({ stopReason: "cancelled" });
          break;
        }
        if (message.update.sessionUpdate === "agent_message_chunk") {
          await agent.notify("session/cancel", { sessionId: session.sessionId });
        }
      }
      return session.sessionId;
    }),
  );
  expect(first.exitCode).toBe(0);
  const shown = terminal.lines.join("\n");
  expect(shown).toContain("in_progress: Change it\npending: Test it");
  expect(shown).toContain("Edit a.txt?\nold text\n -> new text\n");
  expect(shown).toContain("rm a.txt?");
  expect(shown).toContain("call_0_1: completed");
  expect(shown).toContain("call_0_2: failed");
  expect(terminal.lines.at(-1)).toBe("Hello, client!");
  expect(terminal.files.get(file)).toBe("new text\n");

  const sessionId = first.result;
  const { lines } = terminal;
  lines.length = 0;
  const order = { sessionId, cwd: place.cwd, mcpServers: [] };
  const prompt = [{ type: "text" as const, text: "Are you there?" }];
  const second = await terminal.run(place, async (agent) => {
    const { sessions } = await agent.request("session/list", { cwd: place.cwd });
    expect(sessions.map((one) => one.sessionId)).toEqual([sessionId]);
    terminal.updates.length = 0;
    await agent.request("session/load", order);
    for (const update of terminal.updates.splice(0)) terminal.show(update);
    return agent.request("session/prompt", { sessionId, prompt });
  });
  expect(second).toEqual({ result: { stopReason: "end_turn" }, exitCode: 0 });
  expect(lines[0]).toBe("Hello, agent!");
  const replayed = lines.join("\n");
  expect(replayed).toContain("call_0_1: completed");
  expect(replayed).toContain("Hello, client!\nSay something long\nword");
  expect(replayed).toContain("in_progress: Change it\npending: Test it");
  const third = await terminal.run(place, async (agent) => {
    await agent.request("session/resume", order);
    return agent.request("session/prompt", { sessionId, prompt });
  });
  expect(third).toEqual({ result: { stopReason: "end_turn" }, exitCode: 0 });
  expect(terminal.violations).toEqual([]);
});
