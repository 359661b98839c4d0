import type { Turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { makePlace } from "../support/place.ts";
import { startHost } from "../support/start-host.ts";

const write = (...todos: string[]): Turn["content"] => [
  { type: "toolCall", name: "todo_write", arguments: { todos } },
];

describe("the todo list of a host", () => {
  it("survives a kill once its result was announced", async () => {
    const place = makePlace({
      scenario: [{ content: write("one", "two") }, { content: "…", delayMs: 600_000 }],
    });
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "go" });
    await host.until({
      "...": true,
      type: "message_end",
      message: { "...": true, role: "toolResult" },
    });
    host.child.kill("SIGKILL");
    await host.ended;
    const continued = { ...place, arguments: [...place.arguments, "--continue"] };
    const next = startHost({}, { place: continued });
    next.send({ type: "get_todos", id: "t" });
    const { data } = await next.until({ "...": true, id: "t" });
    expect(data).toMatchObject({
      todos: [
        { content: "one", status: "pending" },
        { content: "two", status: "pending" },
      ],
    });
  });

  it("is separate from those of its subagents, each of which is reminded of its own", async () => {
    const child = "<child>";
    const task: Turn["content"] = [{ type: "toolCall", name: "task", arguments: { task: child } }];
    const place = makePlace({
      files: { "agent/settings.json": '{"todoCompletion.enabled":true}' },
      scenario: [
        { when: { lastUserIncludes: child, hasToolResults: false }, content: write("the child's") },
        { when: { lastUserIncludes: child, hasToolResults: true }, content: "I stop." },
        {
          when: { lastUserIncludes: "[ ] the child's", hasToolResults: false },
          content: write(),
        },
        { when: { lastUserIncludes: "[ ] the child's", hasToolResults: true }, content: "Done." },
        { when: { lastUserIncludes: "start", hasToolResults: false }, content: task },
        { when: { lastUserIncludes: "start", hasToolResults: true }, content: "Over." },
      ],
    });
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start", id: "p" });
    const result = await host.until({ "...": true, type: "tool_execution_end" });
    expect(JSON.stringify(result)).toContain("Done.");
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(host.stdout).not.toContain('{"type":"todo_reminder"');
    host.send({ type: "get_todos", id: "t" });
    expect(await host.until({ "...": true, id: "t" })).toMatchObject({ data: { todos: [] } });
  });
});
