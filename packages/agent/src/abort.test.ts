import { scriptedModel, toolCall, turn } from "@tau-agent/ai/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  createTestAgent,
  ok,
  resultTexts,
  textOf,
  tool,
  typesOf,
  unpaired,
  user,
} from "./__fixtures__/test-agent.ts";

const call = (id: string, name = "write") => toolCall(name, {}, { id });

afterEach(() => {
  vi.useRealTimers();
});

describe("abort", () => {
  it("before the start keeps the prompt and answers it with an aborted reply", async () => {
    const scenario = vi.fn(() => "x");
    const { agent, events } = createTestAgent(scenario);
    const outcome = await agent.run([user("hi")], AbortSignal.abort());
    expect(outcome).toMatchObject({ aborted: true });
    expect(outcome.reply?.message).toMatchObject({
      stopReason: "aborted",
      errorMessage: "Request was aborted",
    });
    expect(scenario).not.toHaveBeenCalled();
    expect(typesOf(events).at(-1)).toBe("turn_end");
  });

  it("while the request is prepared ends as aborted, with the current model in the reply", async () => {
    const { agent } = createTestAgent(["x"], {
      currentModel: scriptedModel,
      prepareRequest: async () => {
        agent.abort();
        throw new TypeError("interrupted key lookup");
      },
    });
    const outcome = await agent.run([user("hi")]);
    const { provider, id: model, api } = scriptedModel();
    expect(outcome.reply?.message).toMatchObject({ stopReason: "aborted", provider, model, api });
  });

  it.each([
    ["the request is prepared", { prepareRequest: () => new Promise<never>(() => {}) }],
    ["an extension looks at the context", { transformContext: () => new Promise<never>(() => {}) }],
    ["rules are read", { watchReply: () => new Promise<never>(() => {}) }],
  ])("ends the run at once while %s, even if that never ends", async (_, options) => {
    const { agent } = createTestAgent(["x"], options);
    const running = agent.run([user("hi")]);
    setTimeout(() => agent.abort(), 5);
    const outcome = await running;
    expect(outcome.reply?.message).toMatchObject({ stopReason: "aborted" });
  });

  it("does not wait for a hook before a tool, and runs nothing", async () => {
    const execute = vi.fn(async () => ok("ran"));
    const { agent, recorded } = createTestAgent([turn([call("a", "read")])], {
      tools: [tool("read", execute)],
      hooks: {
        beforeToolCall: () => {
          setTimeout(() => agent.abort(), 5);
          return new Promise(() => {});
        },
      },
    });
    expect((await agent.run([user("hi")])).aborted).toBe(true);
    expect(execute).not.toHaveBeenCalled();
    expect(unpaired(recorded)).toEqual([]);
  });

  it("drops the result when a hook holds it longer than the grace period", async () => {
    vi.useFakeTimers();
    const { agent, recorded } = createTestAgent([turn([call("a", "read")])], {
      tools: [tool("read", async () => ok("the secret"))],
      hooks: {
        afterToolCall: () => {
          agent.abort();
          return new Promise(() => {});
        },
      },
    });
    const running = agent.run([user("hi")]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await running).aborted).toBe(true);
    expect(JSON.stringify(recorded)).not.toContain("the secret");
    expect(resultTexts(recorded).a).toContain("did not process the result in time");
  });

  it("while streaming keeps the text so far", async () => {
    const { agent, recorded } = createTestAgent([turn("abcdefgh", { chunkSize: 2, delayMs: 2 })], {
      emit: (event) => {
        if (event.type === "message_update" && "delta" in event.assistantMessageEvent) {
          agent.abort();
        }
      },
    });
    const outcome = await agent.run([user("hi")]);
    expect(outcome.aborted).toBe(true);
    expect(recorded.at(-1)).toMatchObject({ stopReason: "aborted", content: [{ text: "ab" }] });
  });

  it("while streaming answers the calls that are complete and drops the half-streamed one", async () => {
    const execute = vi.fn(async () => ok("ran"));
    let ends = 0;
    const half = toolCall("write", { text: "x".repeat(200) }, { id: "b", delayMs: 2 });
    const { agent, recorded } = createTestAgent([turn([call("a"), half])], {
      tools: [tool("write", execute)],
      emit: (event) => {
        if (event.type !== "message_update") return;
        if (event.assistantMessageEvent.type === "toolcall_end") ends++;
        if (ends === 1 && event.assistantMessageEvent.type === "toolcall_delta") agent.abort();
      },
    });
    await agent.run([user("hi")]);
    expect(execute).not.toHaveBeenCalled();
    expect(unpaired(recorded)).toEqual([]);
    expect(Object.keys(resultTexts(recorded))).toEqual(["a"]);
  });

  it("in a tool reaches it through its signal, and its own result counts", async () => {
    const { agent, recorded } = createTestAgent([turn([call("a"), call("b")]), "never"], {
      tools: [
        tool("write", (_, { signal }) => {
          setImmediate(() => agent.abort());
          return new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve(ok("half done")));
          });
        }),
      ],
    });
    const outcome = await agent.run([user("hi")]);
    expect(outcome.aborted).toBe(true);
    expect(unpaired(recorded)).toEqual([]);
    expect(resultTexts(recorded)).toEqual({
      a: "half done",
      b: "The run was aborted before this tool call started.",
    });
    expect(recorded.at(-2)).toMatchObject({ isError: true, details: { skipped: "aborted" } });
    expect(recorded.at(-1)).toMatchObject({ stopReason: "aborted", content: [] });
    expect(outcome.reply?.message).toBe(recorded.at(-1));
  });

  it("does not wait for a tool that ignores the signal beyond the grace period", async () => {
    vi.useFakeTimers();
    const { agent, recorded } = createTestAgent([turn([call("a"), call("b")])], {
      tools: [
        tool("write", () => {
          agent.abort();
          return new Promise(() => {});
        }),
      ],
    });
    const running = agent.run([user("hi")]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await running).aborted).toBe(true);
    expect(unpaired(recorded)).toEqual([]);
    expect(resultTexts(recorded).a).toContain("may still be running");
  });

  it("between tools answers the remaining calls", async () => {
    const ran: string[] = [];
    const { agent, recorded } = createTestAgent(
      [turn([call("a"), call("b"), call("c")]), "never"],
      {
        tools: [
          tool("write", async (_, { toolCallId }) => {
            ran.push(toolCallId);
            return ok("ran");
          }),
        ],
        emit: (event) => {
          if (event.type === "tool_execution_end") agent.abort();
        },
      },
    );
    await agent.run([user("hi")]);
    expect(ran).toEqual(["a"]);
    expect(unpaired(recorded)).toEqual([]);
    expect(recorded.filter(({ role }) => role === "toolResult")).toHaveLength(3);
  });

  it("in a hook calls no further hook and runs nothing", async () => {
    const execute = vi.fn(async () => ok("ran"));
    const asked: string[] = [];
    const { agent, recorded } = createTestAgent([turn([call("a", "read"), call("b", "read")])], {
      tools: [tool("read", execute, { isReadOnly: true })],
      hooks: {
        beforeToolCall: async ({ id }) => {
          asked.push(id);
          agent.abort();
          return undefined;
        },
      },
    });
    await agent.run([user("hi")]);
    expect(asked).toEqual(["a"]);
    expect(execute).not.toHaveBeenCalled();
    expect(unpaired(recorded)).toEqual([]);
  });

  it("leaves queued messages in their queues", async () => {
    const { agent, recorded } = createTestAgent([turn([call("a")])], {
      tools: [
        tool("write", async () => {
          agent.steering.enqueue(user("left"));
          agent.followUp.enqueue(user("also left"));
          agent.abort();
          return ok("x");
        }),
      ],
    });
    await agent.run([user("hi")]);
    expect(agent.steering.messages.map(textOf)).toEqual(["left"]);
    expect(agent.followUp.messages.map(textOf)).toEqual(["also left"]);
    expect(recorded.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
  });

  it("after the end does nothing", async () => {
    const { agent } = createTestAgent(["one", "two"]);
    await agent.run([user("hi")]);
    agent.abort();
    expect((await agent.run([user("again")])).aborted).toBe(false);
  });
});
