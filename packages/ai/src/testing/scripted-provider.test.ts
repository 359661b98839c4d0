import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import type { Context } from "../provider.ts";
import { createStream, type StreamFunction } from "../stream.ts";
import type { Scenario } from "./scenario.ts";
import { text, thinking, toolCall, turn } from "./scenario.ts";
import { scenarioFileProvider, scriptedModel, scriptedProvider } from "./scripted-provider.ts";

const say = (content: string): Context => ({
  messages: [{ role: "user", content, timestamp: 1 }],
});

function streamOf(scenario: Scenario): StreamFunction {
  const provider = scriptedProvider(scenario);
  return createStream({ providers: { scripted: async () => provider } });
}

async function reply(stream: StreamFunction, context: Context, model = scriptedModel()) {
  const events: string[] = [];
  const replying = stream(model, context, {});
  for (;;) {
    const next = await replying.next();
    if (next.done) return { events, ...next.value };
    events.push(next.value.type);
  }
}

const withResult = (result: string, isError = false): Context => ({
  messages: [
    ...say("fix it").messages,
    {
      ...emptyReply,
      content: [{ type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } }],
    },
    {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "read",
      content: [{ type: "text", text: result }],
      isError,
      timestamp: 3,
    },
  ],
});

const emptyReply = {
  role: "assistant" as const,
  api: "scripted",
  provider: "scripted",
  model: "scenario",
  stopReason: "toolUse" as const,
  timestamp: 2,
  usage: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
};

describe("scriptedProvider", () => {
  it("accepts a prompt of any size unless a turn reports an overflow", async () => {
    const large = say("x".repeat(2_000_000));
    const { error, message } = await reply(streamOf(["Read it"]), large);
    expect(error).toBeUndefined();
    expect(message.usage.input).toBe(200_000);
    const tooMuch = turn("Read it", { usage: { input: 200_001 } });
    const over = await reply(streamOf([tooMuch]), large);
    expect(over.error?.code).toBe("context_overflow");
  });

  it("streams thinking, text and a tool call in pieces of the requested size", async () => {
    const stream = streamOf([
      turn([thinking("hm"), text("abcdef", { chunkSize: 2 }), toolCall("read", { path: "x" })]),
    ]);
    const { events, message } = await reply(stream, say("go"));
    expect(events.filter((type) => type === "text_delta")).toHaveLength(3);
    expect(events[0]).toBe("start");
    expect(events.at(-1)).toBe("done");
    expect(message.stopReason).toBe("toolUse");
    expect(message.content.map((block) => block.type)).toEqual(["thinking", "text", "toolCall"]);
    expect(message.content[2]).toMatchObject({ name: "read", arguments: { path: "x" } });
    expect(message.usage.output).toBeGreaterThan(0);
  });

  it("never splits a surrogate pair", async () => {
    const stream = streamOf([turn(text("😀😀", { chunkSize: 1 }))]);
    const { message, events } = await reply(stream, say("go"));
    expect(message.content[0]).toMatchObject({ text: "😀😀" });
    expect(events.filter((type) => type === "text_delta")).toHaveLength(2);
  });

  it("lets a function react to the results of tools", async () => {
    const stream = streamOf(({ toolResults, lastUserText }) =>
      toolResults.length === 0 ? toolReader : `${lastUserText}: ${toolResults[0]?.text}`,
    );
    expect((await reply(stream, say("fix it"))).message.stopReason).toBe("toolUse");
    const { message } = await reply(stream, withResult("line 7 fails"));
    expect(message.content[0]).toMatchObject({ text: "fix it: line 7 fails" });
  });

  it("uses the first turn whose condition holds and fills in captures", async () => {
    const stream = streamOf([
      { when: { lastToolIsError: true }, content: "sorry" },
      {
        when: { lastToolResultMatches: "^(?<file>\\S+):(\\d+)" },
        content: [toolCall("read", { path: "{{file}}", offset: "{{2}}", other: "{{none}}" })],
      },
      "otherwise",
    ]);
    const { message } = await reply(stream, withResult("Error:\nsrc/a.ts:12 boom"));
    expect(message.content[0]).toMatchObject({
      arguments: { path: "src/a.ts", offset: "12", other: "{{none}}" },
    });
    expect((await reply(stream, withResult("bad", true))).message.content[0]).toMatchObject({
      text: "sorry",
    });
    expect((await reply(stream, say("x"))).message.content[0]).toMatchObject({ text: "otherwise" });
  });

  it("reports which request found no turn", async () => {
    const stream = streamOf(["only one"]);
    await reply(stream, say("first"));
    const { error } = await reply(stream, say("second"));
    expect(error?.code).toBe("invalid_request");
    expect(error?.message).toContain("no turn for request 2 (1 of 1 turns used)");
    expect(error?.message).toContain("second");
  });

  it("keeps a repeated turn", async () => {
    const stream = streamOf([{ content: "again", repeat: true }]);
    await reply(stream, say("1"));
    expect((await reply(stream, say("2"))).message.content[0]).toMatchObject({ text: "again" });
  });

  it.each([
    [{ kind: "status", status: 429, headers: { "retry-after": "2" } }, "rate_limited"],
    [{ kind: "overflow" }, "context_overflow"],
    [{ kind: "reset", when: "mid_stream" }, "network"],
    [{ kind: "truncate" }, "network"],
    [{ kind: "error_event", message: "busy", code: "overloaded_error" }, "overloaded"],
  ] as const)("turns the fault %j into the error %s", async (fault, code) => {
    const { error, events } = await reply(streamOf([turn("some text", { fault })]), say("go"));
    expect(error?.code).toBe(code);
    expect(events.at(-1)).toBe("error");
  });

  it("ends a stalled reply at once when it is aborted", async () => {
    const stream = streamOf([turn("abc", { fault: { kind: "stall" } })]);
    const controller = new AbortController();
    const replying = stream(scriptedModel(), say("go"), { signal: controller.signal });
    for (;;) {
      const next = await replying.next();
      if (next.done) {
        expect(next.value.message.stopReason).toBe("aborted");
        break;
      }
      if (next.value.type === "text_delta") controller.abort();
    }
  });
});

const toolReader = turn(toolCall("read", { path: "a" }));

describe("scenarioFileProvider", () => {
  const stream = createStream({ providers: { scripted: async () => scenarioFileProvider() } });
  const shared = scenarioFileProvider();
  const keeping = createStream({ providers: { scripted: async () => shared } });

  it("plays a JSON file named by the model's id and remembers its progress", async () => {
    const file = join(temporaryFolder(), "a.json");
    await writeFile(file, JSON.stringify(["one", { content: [{ type: "text", text: "two" }] }]));
    const model = scriptedModel({ id: file });
    expect((await reply(keeping, say("1"), model)).message.content[0]).toMatchObject({
      text: "one",
    });
    expect((await reply(keeping, say("2"), model)).message.content[0]).toMatchObject({
      text: "two",
    });
  });

  it("plays a TypeScript module that exports a function", async () => {
    const file = join(temporaryFolder(), "a.mts");
    await writeFile(file, "export default ({ lastUserText }: any) => 'you said ' + lastUserText;");
    const { message } = await reply(stream, say("hi"), scriptedModel({ id: file }));
    expect(message.content[0]).toMatchObject({ text: "you said hi" });
  });

  it.each([
    ['[{"content": [{"type": "image"}]}]', "turn 1 holds a block"],
    ["{}", "neither a list of turns nor a function"],
    ["[", "JSON"],
    [JSON.stringify([{ when: { lastUserInclude: "x" } }]), 'unknown condition "lastUserInclude"'],
    [JSON.stringify([{ when: { lastUserMatches: "(" } }]), "Invalid regular expression"],
    [JSON.stringify(["a", { fault: { kind: "boom" } }]), "turn 2: unknown kind of fault"],
  ])("names the file and the error of %s", async (json, words) => {
    const file = join(temporaryFolder(), "bad.json");
    await writeFile(file, json);
    const { error } = await reply(stream, say("hi"), scriptedModel({ id: file }));
    expect(error?.message).toContain(words);
    expect(error?.message).toContain("bad.json");
  });
});
