import { createStream, type StreamFunction } from "@tau-agent/ai";
import { scriptedProvider, type Turn, toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it, vi } from "vitest";
import {
  createTestAgent,
  ok,
  textOf,
  tool,
  typesOf,
  unpaired,
  user,
} from "./__fixtures__/test-agent.ts";

const call = (id: string, name = "write") => toolCall(name, {}, { id });

describe("a run", () => {
  it("reports a plain answer in the documented order", async () => {
    const { agent, events, recorded } = createTestAgent(["Hello there"]);
    const outcome = await agent.run([user("hi")]);
    expect(typesOf(events)).toEqual([
      "agent_start",
      "turn_start",
      "message_start user",
      "message_end user",
      "message_start assistant",
      "message_update assistant",
      "message_end assistant",
      "turn_end",
    ]);
    expect(recorded.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(outcome.messages).toEqual(recorded);
    expect(agent.messages).toEqual(recorded);
    expect(outcome).toMatchObject({ aborted: false });
    expect(outcome).not.toHaveProperty("failure");
  });

  it("reports a tool turn in the documented order, and stores in the order it reports", async () => {
    const { agent, events, recorded } = createTestAgent([turn([call("a")]), "done"], {
      tools: [tool("write")],
    });
    await agent.run([user("go")]);
    expect(typesOf(events).slice(4)).toEqual([
      "message_start assistant",
      "message_update assistant",
      "message_end assistant",
      "tool_execution_start a",
      "tool_execution_end a",
      "message_start toolResult",
      "message_end toolResult",
      "turn_end",
      "turn_start",
      "message_start assistant",
      "message_update assistant",
      "message_end assistant",
      "turn_end",
    ]);
    const ended = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
    expect(ended).toEqual(recorded);
    const [first] = events.flatMap((event) => (event.type === "turn_end" ? [event] : []));
    expect(first?.toolResults).toHaveLength(1);
  });

  it("emits only block events as updates, with start and end as message events", async () => {
    const { agent, events } = createTestAgent(["x"]);
    await agent.run([user("hi")]);
    const inner = events.flatMap((event) =>
      event.type === "message_update" ? [event.assistantMessageEvent.type] : [],
    );
    expect(inner).toEqual(["text_start", "text_delta", "text_end"]);
  });

  it("stores a message before it announces it", async () => {
    const order: string[] = [];
    const { agent } = createTestAgent(["x"], {
      record: (message) => {
        order.push(`stored ${message.role}`);
      },
      emit: (event) => {
        if (event.type === "message_end") order.push(`said ${event.message.role}`);
      },
    });
    await agent.run([user("hi")]);
    expect(order).toEqual(["stored user", "said user", "stored assistant", "said assistant"]);
  });

  it("waits for a listener that returns a promise", async () => {
    let waiting = 0;
    const { agent } = createTestAgent(["x"], {
      emit: async () => {
        expect(waiting++).toBe(0);
        await new Promise((resolve) => setImmediate(resolve));
        waiting--;
      },
    });
    expect(await agent.run([user("hi")])).not.toHaveProperty("failure");
  });

  it("continues from the current conversation when there is no input", async () => {
    const { agent } = createTestAgent(["again"]);
    agent.replaceMessages([user("earlier")]);
    const outcome = await agent.run([]);
    expect(outcome.messages.map(({ role }) => role)).toEqual(["assistant"]);
    expect(agent.messages).toHaveLength(2);
  });

  it("turns a failure to prepare a request into an error reply", async () => {
    const { agent, events } = createTestAgent([], {
      prepareRequest: () => Promise.reject(new TypeError("no key today")),
    });
    const outcome = await agent.run([user("hi")]);
    expect(outcome.reply?.message).toMatchObject({
      stopReason: "error",
      errorMessage: "no key today",
    });
    expect(typesOf(events).slice(-3)).toEqual([
      "message_start assistant",
      "message_end assistant",
      "turn_end",
    ]);
  });

  it("reports a provider failure before any block as one message with its error", async () => {
    const fault = { kind: "status", status: 401, message: "bad key" } as const;
    const { agent, events, recorded } = createTestAgent([turn("x", { fault })]);
    await agent.run([user("hi")]);
    expect(typesOf(events).slice(-3)).toEqual([
      "message_start assistant",
      "message_end assistant",
      "turn_end",
    ]);
    expect(recorded.at(-1)).toMatchObject({ stopReason: "error", content: [] });
  });

  it("ends with an error reply when the stream breaks off, and keeps what arrived", async () => {
    const fault = { kind: "reset", when: "mid_stream", afterDeltas: 2 } as const;
    const { agent, recorded } = createTestAgent([
      turn("a long answer in many pieces", { fault, chunkSize: 4 }),
    ]);
    const outcome = await agent.run([user("hi")]);
    expect(outcome.aborted).toBe(false);
    expect(recorded.at(-1)).toMatchObject({
      stopReason: "error",
      content: [{ text: "a long a" }],
    });
  });

  it("requests tools, model and prompt again before each call", async () => {
    const offered: number[] = [];
    const { agent } = createTestAgent(
      (request) => {
        offered.push(request.tools.length);
        return request.index === 0 ? turn([call("a")]) : "done";
      },
      { tools: [tool("write")] },
    );
    await agent.run([user("go")]);
    expect(offered).toEqual([1, 1]);
  });

  it("replaces the context of one call without touching the conversation", async () => {
    const seen: string[] = [];
    const { agent } = createTestAgent(
      (request) => {
        seen.push(request.lastUserText);
        return "ok";
      },
      { transformContext: async (context) => ({ ...context, messages: [user("instead")] }) },
    );
    await agent.run([user("hi")]);
    expect(seen).toEqual(["instead"]);
    expect(agent.messages[0]).toMatchObject({ content: "hi" });
  });
});

describe("a reply truncated by the output limit", () => {
  it("has its calls answered without running them, and ends the run", async () => {
    const execute = vi.fn(async () => ok("ran"));
    const { agent, recorded } = createTestAgent(
      [turn([call("a")], { stopReason: "length" }), "split it"],
      { tools: [tool("write", execute)] },
    );
    await agent.run([user("go")]);
    expect(execute).not.toHaveBeenCalled();
    expect(unpaired(recorded)).toEqual([]);
    expect(recorded[2]).toMatchObject({ isError: true, details: { skipped: "length" } });
    expect(recorded).toHaveLength(3);
  });

  it("ends the run when it has no calls", async () => {
    const { agent } = createTestAgent([turn("cut", { stopReason: "length" })]);
    const outcome = await agent.run([user("go")]);
    expect(outcome.reply?.message.stopReason).toBe("length");
    expect(outcome.messages).toHaveLength(2);
  });
});

describe("a stream that throws", () => {
  /** Replays a scripted reply and fails after some of its steps. */
  const brokenAfter = (steps: number, reply: Turn): StreamFunction => {
    const provider = scriptedProvider([reply]);
    const stream = createStream({ providers: { scripted: async () => provider } });
    return async function* broken(model, context, options) {
      let count = 0;
      for await (const event of stream(model, context, options)) {
        if (count++ === steps) break;
        yield event;
      }
      throw new TypeError("a bug in an extension");
    };
  };
  const reply = turn([{ type: "text", text: "Part" }, call("a")]);
  const allSteps = 8;

  it.each(Array.from({ length: allSteps }, (_, steps) => steps))(
    "after %i steps ends what it began, once, and runs no call",
    async (steps) => {
      const execute = vi.fn(async () => ok("ran"));
      const { agent, events, recorded } = createTestAgent([], {
        stream: brokenAfter(steps, reply),
        tools: [tool("write", execute)],
      });
      const outcome = await agent.run([user("hi")]);
      expect(unpaired(recorded)).toEqual([]);
      const starts = typesOf(events).filter((type) => type === "message_start assistant");
      expect(starts).toHaveLength(1);
      expect(execute).not.toHaveBeenCalled();
      expect(outcome.reply?.message).toMatchObject({
        stopReason: "error",
        errorMessage: "a bug in an extension",
      });
      expect(recorded[1]).toEqual(outcome.reply?.message);
    },
  );

  it("keeps what had arrived, except for an incomplete call", async () => {
    const { agent } = createTestAgent([], { stream: brokenAfter(5, reply) });
    const outcome = await agent.run([user("hi")]);
    expect(outcome.reply?.message.content).toEqual([{ type: "text", text: "Part" }]);
  });
});

describe("a failed write", () => {
  const failingAt = (index: number) => {
    let count = 0;
    return () => {
      if (count++ === index) throw new RangeError("disk full");
    };
  };

  it("ends the run before the model is called when the prompt cannot be stored", async () => {
    const scenario = vi.fn(() => "x");
    const { agent, events } = createTestAgent(scenario, { record: failingAt(0) });
    const outcome = await agent.run([user("hi")]);
    expect(outcome).toMatchObject({ failure: { message: "disk full" }, messages: [] });
    expect(scenario).not.toHaveBeenCalled();
    expect(typesOf(events)).toEqual(["agent_start", "turn_start", "turn_end"]);
    expect(agent.messages).toEqual([]);
  });

  it("closes a reply that cannot be stored as failed and runs none of its calls", async () => {
    const execute = vi.fn(async () => ok("ran"));
    const { agent, events } = createTestAgent([turn([call("a")])], {
      tools: [tool("write", execute)],
      record: failingAt(1),
    });
    const outcome = await agent.run([user("hi")]);
    expect(outcome).toMatchObject({ failure: { message: "disk full" } });
    expect(execute).not.toHaveBeenCalled();
    expect(typesOf(events).slice(-2)).toEqual(["message_end assistant", "turn_end"]);
    expect(events.at(-2)).toMatchObject({
      message: { stopReason: "error", errorMessage: "disk full" },
    });
    expect(agent.messages).toHaveLength(1);
  });

  it("ends the run when a tool result cannot be stored", async () => {
    const scenario = [turn([call("a"), call("b")]), "never"];
    const { agent } = createTestAgent(scenario, { tools: [tool("write")], record: failingAt(2) });
    const outcome = await agent.run([user("hi")]);
    expect(outcome).toMatchObject({ failure: { message: "disk full" } });
    expect(agent.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("leaves a steering message it could not store in its queue", async () => {
    const { agent } = createTestAgent(["one", "two"], { record: failingAt(2) });
    agent.steering.mode = "all";
    agent.steering.enqueue(user("first"));
    agent.steering.enqueue(user("second"));
    const outcome = await agent.run([user("hi")]);
    expect(outcome).toMatchObject({ failure: { message: "disk full" } });
    expect(agent.steering.messages.map(textOf)).toEqual(["first", "second"]);
  });

  it("leaves only unstored messages in the queue", async () => {
    const { agent } = createTestAgent(["one", "two"], { record: failingAt(3) });
    agent.followUp.mode = "all";
    agent.followUp.enqueue(user("first"));
    agent.followUp.enqueue(user("second"));
    await agent.run([user("hi")]);
    expect(agent.followUp.messages.map(textOf)).toEqual(["second"]);
    expect(agent.messages.at(-1)).toMatchObject({ content: "first" });
  });
});
