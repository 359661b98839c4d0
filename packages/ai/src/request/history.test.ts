import type {
  AssistantContent,
  AssistantMessage,
  LlmMessage,
  Model,
  ToolCall,
  ToolResultMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prepareContext } from "./history.ts";

const model: Model = {
  id: "m",
  name: "M",
  api: "test",
  provider: "p",
  baseUrl: "http://localhost",
  reasoning: true,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1000,
  maxTokens: 100,
};

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function said(content: AssistantContent[], more: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: "assistant",
    content,
    api: "test",
    provider: "p",
    model: "m",
    usage: { ...usage, cost: { ...usage, total: 0 } },
    stopReason: "stop",
    timestamp: 1,
    ...more,
  };
}

const user = (content: string | UserContent[]): LlmMessage => ({
  role: "user",
  content,
  timestamp: 1,
});
const call = (id: string): ToolCall => ({ type: "toolCall", id, name: "run", arguments: {} });
const result = (toolCallId: string, text = "ok"): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "run",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
});

function outline(messages: readonly LlmMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === "toolResult") {
      const [block] = message.content;
      return `result ${message.toolCallId} ${block?.type === "text" ? block.text : ""}`;
    }
    if (message.role === "user") return `user ${JSON.stringify(message.content)}`;
    const parts = message.content.map((block) =>
      block.type === "toolCall" ? block.id : block.type,
    );
    return `assistant ${parts.join(" ")}`;
  });
}

const transform = (...messages: LlmMessage[]) => prepareContext(model, { messages }).messages;

describe("prepareContext", () => {
  it("renames calls of unknown tools so that any vendor accepts them", () => {
    const names = ["functions.bash:0", "bash", "", "x".repeat(70), "house.tool"];
    const calls = names.map((name, index) => ({ ...call(`c${index}`), name }));
    const results = calls.map(({ id }) => result(id));
    const tools = [{ name: "house.tool", description: "", parameters: {} }];
    const { messages } = prepareContext(model, {
      messages: [user("go"), said(calls, { stopReason: "toolUse" }), ...results],
      tools,
    });
    const shown = messages.flatMap((message) =>
      message.role === "toolResult" ? [message.toolName] : [],
    );
    const hash = "[a-z0-9]{7}";
    expect(shown).toEqual([
      expect.stringMatching(`^functions_bash_0_${hash}$`),
      "bash",
      expect.stringMatching(`^tool_${hash}$`),
      expect.stringMatching(`^x{50}_${hash}$`),
      expect.stringMatching(`^house_tool_${hash}$`),
    ]);
    expect(messages[1]).toMatchObject({ content: shown.map((name) => ({ name })) });
  });

  it("drops the calls of a truncated reply, with their results", () => {
    const cut = said([{ type: "text", text: "I will" }, call("1")], { stopReason: "length" });
    const { messages } = prepareContext(model, { messages: [user("a"), cut, result("1")] });
    expect(messages).toEqual([user("a"), { ...cut, content: [{ type: "text", text: "I will" }] }]);
  });

  it("drops failed and aborted replies, with their calls and results", () => {
    const messages = transform(
      user("a"),
      said([call("1")], { stopReason: "aborted" }),
      result("1"),
      said([call("2")], { stopReason: "error" }),
      result("2"),
      user("b"),
    );
    expect(outline(messages)).toEqual(['user "a"', 'user "b"']);
  });

  it("finds a late result, answers open calls and drops results without a call", () => {
    const messages = transform(
      said([call("1"), call("2")]),
      result("2"),
      result("2", "again"),
      result("9"),
      user("b"),
      result("1", "late"),
      said([call("3")]),
    );
    expect(outline(messages)).toEqual([
      "assistant 1 2",
      "result 2 ok",
      "result 1 late",
      'user "b"',
      "assistant 3",
      "result 3 No result provided",
    ]);
  });

  it("makes ids acceptable and unique, in calls and results", () => {
    const provider = { normalizeToolCallId: (id: string) => id.replace(/\W/g, "_") };
    const messages = [said([call("a|b"), call("a|b")]), result("a|b", "1"), result("a|b", "2")];
    const context = prepareContext(
      model,
      { messages: [...messages, said([call("a/b")]), result("a/b", "3")] },
      provider,
    );
    expect(outline(context.messages)).toEqual([
      "assistant a_b a_b_2",
      "result a_b 1",
      "result a_b_2 2",
      "assistant a_b_3",
      "result a_b_3 3",
    ]);
  });

  it("keeps signed thinking only for the same model", () => {
    const content: AssistantContent[] = [
      { type: "thinking", thinking: "", thinkingSignature: "s" },
      { type: "thinking", thinking: "" },
      { type: "thinking", thinking: "", redacted: true, thinkingSignature: "r" },
      { type: "text", text: "t", textSignature: "x" },
      { ...call("1"), thoughtSignature: "y" },
    ];
    const [same] = transform(said(content, { responseModel: "m-2026" }));
    expect(same).toMatchObject({ content: [content[0], content[2], content[3], content[4]] });
    for (const other of [{ model: "n" }, { provider: "q" }, { api: "other" }]) {
      const [foreign] = transform(said(content, other));
      expect(foreign).toMatchObject({ content: [{ type: "text", text: "t" }, call("1")] });
      expect(JSON.stringify(foreign)).not.toMatch(/ignature/);
    }
  });

  it("omits empty blocks", () => {
    const messages = transform(user(""), user([]), said([{ type: "text", text: "" }]), user("x"));
    expect(outline(messages)).toEqual(['user "x"']);
  });

  it("replaces images with one note for a model that reads only text", () => {
    const image: UserContent = { type: "image", data: "AA==", mimeType: "image/png" };
    const content: UserContent[] = [image, image, { type: "text", text: "see" }];
    const [shown] = prepareContext(
      { ...model, input: ["text", "image"] },
      { messages: [user(content)] },
    ).messages;
    expect(shown).toMatchObject({ content });
    const [noted] = transform(user(content));
    expect(noted).toMatchObject({
      content: [{ text: "(image left out: this model reads text only)" }, { text: "see" }],
    });
  });

  it("gives every call exactly one result and keeps prefixes, for any history", () => {
    const id = fc.constantFrom("1", "2", "3");
    const message = fc.oneof(
      fc.constant(user("u")),
      fc
        .tuple(fc.array(id, { maxLength: 3 }), fc.constantFrom("stop", "error", "aborted"))
        .map(([ids, stopReason]) =>
          said([{ type: "text", text: "t" }, ...ids.map(call)], {
            stopReason: stopReason as AssistantMessage["stopReason"],
          }),
        ),
      id.map((given) => result(given)),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        const transformed = transform(...messages);
        const open = new Set<string>();
        const seen = new Set<string>();
        for (const one of transformed) {
          if (one.role === "toolResult") expect(open.delete(one.toolCallId)).toBe(true);
          else expect(open.size).toBe(0);
          if (one.role !== "assistant") continue;
          for (const block of one.content) {
            if (block.type !== "toolCall") continue;
            expect(seen.has(block.id)).toBe(false);
            seen.add(block.id);
            open.add(block.id);
          }
        }
        expect(open.size).toBe(0);
        const longer = transform(...messages, user("next"));
        expect(longer.slice(0, transformed.length)).toEqual(transformed);
      }),
    );
  });
});
