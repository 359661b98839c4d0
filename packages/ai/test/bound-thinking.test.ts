import { createStream, type LlmMessage } from "@tau-agent/ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type BoundThinkingMemory,
  checkBoundThinking,
  rememberBoundThinking,
} from "../src/testing/rules/bound-thinking.ts";
import { allChanges, Chat, modelOf, type Sent, ThinkingServer, tool } from "./thinking-chat.ts";

/** What may happen to a session between two prompts. */
const happenings: Record<string, (chat: Chat) => void | Promise<void>> = {
  nothing: () => undefined,
  "a compaction": (chat) => {
    const summary: LlmMessage = { role: "user", content: "Summary of before.", timestamp: 2 };
    chat.messages = [summary, ...chat.messages.slice(3)];
  },
  "a compaction before the last reply was sent back": (chat) => {
    const summary: LlmMessage = { role: "user", content: "Summary of before.", timestamp: 2 };
    chat.messages = [summary, ...chat.messages.slice(-1)];
  },
  "a fork": (chat) => {
    chat.sessionId = "s2";
    chat.messages = chat.messages.slice(0, 2);
  },
  "a resume in another process": (chat) => {
    chat.stream = createStream();
    chat.messages = JSON.parse(JSON.stringify(chat.messages));
  },
  "other tools": (chat) => {
    chat.tools = [tool("read", "Reads differently."), tool("edit")];
  },
  "another system prompt": (chat) => {
    chat.systemPrompt = "Be verbose.";
  },
  "another effort": (chat) => {
    chat.thinkingLevel = "high";
  },
  "all of it at once": (chat) => {
    chat.tools = [tool("edit")];
    chat.systemPrompt = "Be verbose.";
    chat.thinkingLevel = "low";
  },
  "more images than fit": async (chat) => {
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    const content = Array.from({ length: 60 }, () => image);
    await chat.prompt(content);
    await chat.prompt(content);
  },
  "another model and back": async (chat) => {
    const { model } = chat;
    chat.model = modelOf("claude-fable-5-1", allChanges);
    await chat.promptThrice();
    chat.model = model;
  },
  "a change and back": async (chat) => {
    const { tools } = chat;
    chat.tools = [tool("read")];
    await chat.prompt("between");
    chat.tools = tools;
  },
};

const models = [
  modelOf("claude-opus-5-5", allChanges),
  modelOf(
    "anthropic/claude-sonnet-5.5",
    { supportsMidConvoEffort: true },
    { provider: "openrouter" },
  ),
  modelOf("anthropic/claude-haiku-5.5", {}, { provider: "vercel-ai-gateway" }),
];

describe.each(models.map((model) => [model.provider, model] as const))(
  "a bound model of %s",
  (_, model) => {
    it.each(Object.keys(happenings))(
      "continues after %s without relying on dropped thinking",
      async (name) => {
        const server = new ThinkingServer(name !== "a resume in another process");
        const chat = new Chat(model, server);
        await chat.promptThrice();
        await happenings[name]?.(chat);
        await chat.promptThrice();
        await happenings[name]?.(chat);
        await chat.promptThrice();
        expect(server.refusals).toEqual([]);
      },
    );

    it("asks to drop thinking that a resumed session cannot know to be invalid", async () => {
      const server = new ThinkingServer(false);
      const chat = new Chat(model, server);
      await chat.promptThrice();
      chat.stream = createStream();
      chat.systemPrompt = "Changed while nobody looked.";
      await chat.promptThrice();
      expect(server.refusals).toEqual([]);
      for (const { body, headers } of server.sent) {
        expect(body.thinking).toEqual({
          type: "adaptive",
          display: "summarized",
          block_binding: { prefix_mismatch_behavior: "drop_block" },
        });
        expect(headers["anthropic-beta"]).toContain("thinking-binding-controls-2026-08-01");
      }
    });
  },
);

describe("a model that supports changes between messages", () => {
  it("gets changes appended to what it received first", async () => {
    const server = new ThinkingServer(true);
    const chat = new Chat(modelOf("claude-opus-5-5", allChanges), server);
    await chat.prompt("one");
    await happenings["all of it at once"]?.(chat);
    await chat.promptThrice();
    const [first, ...later] = server.sent;
    for (const { body } of later) {
      expect(body.system).toEqual(first?.body.system);
      expect(body.tools).toEqual(first?.body.tools);
      expect(body.output_config).toEqual({ effort: "medium" });
    }
    const { messages } = later.at(-1)?.body ?? expect.fail("nothing was sent");
    expect(messages.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "system", "user", "system", "assistant"],
      ...["user", "assistant", "user"],
    ]);
    expect(messages[2]).toEqual({ role: "system", content: [], output_config: { effort: "low" } });
    expect(messages[4]?.content).toEqual([
      { type: "tool_removal", tool: { type: "tool_reference", name: "read" } },
      { type: "tool_removal", tool: { type: "tool_reference", name: "bash" } },
      {
        type: "tool_addition",
        tool: { type: "tool_definition", definition: expect.objectContaining({ name: "edit" }) },
      },
      { type: "text", text: expect.stringContaining("Be verbose.") },
    ]);
    expect(later.at(-1)?.headers["anthropic-beta"]?.split(",")).toEqual(
      expect.arrayContaining([
        "thinking-binding-controls-2026-08-01",
        "mid-conversation-output-config-2026-07-01",
        "mid-conversation-tool-changes-2026-07-01",
        "inline-tools-2026-09-15",
      ]),
    );
  });

  it("keeps its thinking if nothing before it changed, and sends it back", async () => {
    const server = new ThinkingServer(true);
    const chat = new Chat(modelOf("claude-opus-5-5", allChanges), server);
    await chat.prompt("one");
    await happenings["all of it at once"]?.(chat);
    await chat.promptThrice();
    const last = JSON.stringify(server.sent.at(-1)?.body.messages);
    expect(last.match(/"type":"thinking"/g)).toHaveLength(3);
  });

  it("gets the same changes again, whatever an extension did to an earlier payload", async () => {
    const server = new ThinkingServer(false);
    const chat = new Chat(modelOf("claude-opus-5-5", allChanges), server);
    await chat.prompt("one");
    await happenings["all of it at once"]?.(chat);
    chat.onPayload = (payload) => {
      const { messages, tools } = payload as Sent["body"];
      for (const { content } of messages) if (Array.isArray(content)) content.length = 0;
      for (const each of tools ?? []) each.name = "changed";
      return undefined;
    };
    await chat.prompt("two");
    chat.onPayload = undefined;
    await chat.prompt("three");
    const { messages, tools } = server.sent.at(-1)?.body ?? expect.fail("nothing was sent");
    expect(tools?.map(({ name }) => name)).toEqual(["read", "bash"]);
    expect(messages[4]?.content).toHaveLength(4);
  });

  it("does not get the binding control if it binds nothing", async () => {
    const server = new ThinkingServer(true);
    const chat = new Chat(modelOf("claude-opus-5", allChanges), server);
    await chat.prompt("one");
    expect(server.sent[0]?.body.thinking).toEqual({ type: "adaptive", display: "summarized" });
    expect(server.sent[0]?.headers["anthropic-beta"]).toBeUndefined();
  });

  it("gets an effort changed during a tool loop with the next prompt", async () => {
    const server = new ThinkingServer(true);
    const chat = new Chat(modelOf("claude-opus-5-5", allChanges), server);
    const reply = await chat.prompt("one");
    const call = { type: "toolCall" as const, id: "c1", name: "read", arguments: {} };
    chat.messages[1] = { ...reply, content: [...reply.content, call], stopReason: "toolUse" };
    chat.messages.push({
      role: "toolResult",
      toolCallId: "c1",
      toolName: "read",
      content: [{ type: "text", text: "x" }],
      isError: false,
      timestamp: 1,
    });
    chat.thinkingLevel = "high";
    await chat.prompt("a word in between");
    await chat.prompt("two");
    const efforts = server.sent.map(({ body }) =>
      body.messages.findIndex((message) => message.output_config !== undefined),
    );
    expect(efforts).toEqual([-1, -1, 4]);
    expect(server.refusals).toEqual([]);
  });
});

describe("any session with a bound model", () => {
  const steps: Record<string, (chat: Chat) => unknown> = {
    ...happenings,
    "a failed request": async (chat) => {
      chat.server.next = "failure";
      await chat.prompt("fails");
    },
    "a failed request, tried again": async (chat) => {
      chat.server.next = "failure";
      await chat.prompt("fails first");
      await chat.goOn();
    },
    "a tool loop": (chat) => chat.promptWithTool(),
    "steering in a tool loop": (chat) => chat.promptWithTool("and hurry"),
    "a tool loop that a change interrupts": async (chat) => {
      chat.server.next = "call";
      await chat.prompt("use it");
      chat.systemPrompt += " Changed.";
      chat.thinkingLevel = chat.thinkingLevel === "high" ? "low" : "high";
      await chat.goOn();
    },
    "a reply that is asked to go on": (chat) => chat.goOn(),
  };
  delete steps["a resume in another process"];

  it.each(models.map((model) => [model.provider, model] as const))(
    "is never refused and does not rely on dropped thinking: %s",
    async (_, model) => {
      const step = fc.constantFrom(...Object.keys(steps));
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (names) => {
          const chat = new Chat(model, new ThinkingServer(true));
          await chat.prompt("first");
          for (const name of names) {
            await steps[name]?.(chat);
            await chat.prompt("next");
          }
          expect(chat.server.refusals).toEqual([]);
        }),
        { numRuns: 25 },
      );
    },
  );
});

describe("checkBoundThinking", () => {
  it("refuses thinking made for another prompt with the vendor's error", async () => {
    const memory: BoundThinkingMemory = new Map();
    const thinking = { type: "adaptive" };
    const user = { role: "user", content: "Hi" };
    const reply = { role: "assistant", content: [{ type: "thinking", signature: "s" }] };
    const body = { model: "claude-opus-5-5", system: "a", messages: [user], thinking };
    rememberBoundThinking({ headers: {}, body }, ["s"], memory);
    const next = { ...body, messages: [user, reply, user] };
    expect(checkBoundThinking({ headers: {}, body: next }, memory)).toBeUndefined();
    const other = { ...next, system: "b" };
    expect(checkBoundThinking({ headers: {}, body: other }, memory)).toBe(
      'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    );
    const dropping = {
      ...other,
      thinking: { ...thinking, block_binding: { prefix_mismatch_behavior: "drop_block" } },
    };
    const headers = { "anthropic-beta": "thinking-binding-controls-2026-08-01" };
    expect(checkBoundThinking({ headers, body: dropping }, memory)).toBeUndefined();
    expect(checkBoundThinking({ headers: {}, body: dropping }, memory)).toContain("not permitted");
  });
});
