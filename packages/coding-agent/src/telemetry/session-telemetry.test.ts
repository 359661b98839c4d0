import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { defineTool, ToolError } from "@tau-agent/agent";
import { overloaded, type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { createTestSession, eventOf, isType } from "../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";
import { project, scenario } from "../subagents/task-tool/__fixtures__/task-call.ts";
import { recordSpans, type SeenSpan, treeOf } from "./__fixtures__/recorded-spans.ts";

const on = { telemetry: { enabled: true } };
const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;
const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 1000 };

const named = (spans: readonly SeenSpan[], name: string): SeenSpan => {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`no span ${name}`);
  return found;
};

async function record(scenario: Scenario, options: Partial<CreateAgentSessionOptions> = {}) {
  const recorded = recordSpans();
  return { ...recorded, ...(await createTestSession(scenario, { ...on, ...options })) };
}

describe("the span of a run", () => {
  it("contains its requests and calls as siblings", async () => {
    const calls = turn([toolCall("ls", {}), toolCall("bash", { command: "true" })]);
    const { session, spans } = await record([calls, "done"]);
    await session.prompt("go");
    expect(treeOf(spans())).toEqual([
      {
        "invoke_agent tau": [
          "chat scenario",
          "execute_tool ls",
          "execute_tool bash",
          "chat scenario",
        ],
      },
    ]);
  });

  it("describes the run and its usage", async () => {
    const calls = turn([toolCall("ls", {}, { id: "call-1" })], { usage });
    const { session, spans } = await record([calls, turn("done", { usage })]);
    await session.prompt("go");
    const [run, chat, tool] = spans();
    const common = {
      "gen_ai.conversation.id": session.log.header.id,
      "gen_ai.agent.name": "tau",
    };
    expect(run).toMatchObject({ kind: "INTERNAL", status: "UNSET" });
    expect(run?.attributes).toEqual({
      ...common,
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.usage.input_tokens": 2220,
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.usage.cache_read.input_tokens": 200,
      "gen_ai.usage.cache_creation.input_tokens": 2000,
    });
    expect(chat).toMatchObject({ kind: "CLIENT", status: "UNSET" });
    expect(chat?.attributes).toEqual({
      ...common,
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "scripted",
      "gen_ai.request.model": "scenario",
      "gen_ai.response.model": "scenario",
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.usage.input_tokens": 1110,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cache_read.input_tokens": 100,
      "gen_ai.usage.cache_creation.input_tokens": 1000,
      ...(chat?.attributes["server.address"] === undefined
        ? {}
        : { "server.address": expect.any(String), "server.port": expect.any(Number) }),
    });
    expect(tool).toMatchObject({ kind: "INTERNAL", status: "UNSET" });
    expect(tool?.attributes).toEqual({
      ...common,
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "ls",
      "gen_ai.tool.call.id": "call-1",
      "gen_ai.tool.type": "function",
    });
    expect(spans().at(-1)?.attributes["gen_ai.response.finish_reasons"]).toEqual(["stop"]);
  });

  it("has a child for each attempt, and does not fail because of a retried one", async () => {
    const { session, spans } = await record([turn("", { fault: overloaded() }), "done"]);
    session.settings.override("retry.baseDelayMs", 1);
    await session.prompt("go");
    const [run, first, second, ...rest] = spans();
    expect(treeOf(spans())).toEqual([{ "invoke_agent tau": ["chat scenario", "chat scenario"] }]);
    expect(first).toMatchObject({ status: "ERROR", attributes: { "error.type": "overloaded" } });
    expect(second?.status).toBe("UNSET");
    expect(run?.status).toBe("UNSET");
    expect(run?.attributes["error.type"]).toBeUndefined();
    expect(rest).toEqual([]);
  });

  it("fails with the last attempt", async () => {
    const { session, spans } = await record([turn("", { fault: overloaded() })]);
    session.settings.override("retry.enabled", false);
    await session.prompt("go");
    expect(spans().map(({ status }) => status)).toEqual(["ERROR", "ERROR"]);
    expect(spans().map(({ attributes }) => attributes["error.type"])).toEqual([
      "overloaded",
      "overloaded",
    ]);
    // The text of an error may quote the conversation.
    expect(spans().map(({ message }) => message)).toEqual([undefined, undefined]);
  });

  it("is separate for each prompt", async () => {
    const { session, spans } = await record(["one", "two"]);
    await session.prompt("go");
    await session.prompt("go");
    const tree = { "invoke_agent tau": ["chat scenario"] };
    expect(treeOf(spans())).toEqual([tree, tree]);
    expect(new Set(spans().map((span) => span.traceId)).size).toBe(2);
  });

  it("ends with all its children when a tool is aborted, which is not a failure", async () => {
    const test = await record([turn(toolCall("bash", { command: "echo begun; sleep 660" }))]);
    const running = test.session.prompt("go");
    await eventOf(test, isType("tool_execution_update"));
    await test.session.abort();
    await running;
    const run = named(test.spans(), "invoke_agent tau");
    const tool = named(test.spans(), "execute_tool bash");
    for (const span of [run, tool]) {
      expect(span.status).toBe("UNSET");
      expect(span.attributes).toMatchObject({ "tau.aborted": true });
      expect(span.attributes["error.type"]).toBeUndefined();
    }
  });

  it("ends with all its children when a reply is aborted", async () => {
    let isAsked = false;
    const { session, spans } = await record(async () => {
      isAsked = true;
      return new Promise(() => {});
    });
    const running = session.prompt("go");
    await expect.poll(() => isAsked).toBe(true);
    await session.abort();
    await running;
    expect(treeOf(spans())).toEqual([{ "invoke_agent tau": ["chat scenario"] }]);
    expect(spans().every((span) => span.attributes["tau.aborted"] === true)).toBe(true);
  });

  it("ends with all its children when the session is closed", async () => {
    const test = await record([turn(toolCall("bash", { command: "echo begun; sleep 660" }))]);
    void test.session.prompt("go");
    await eventOf(test, isType("tool_execution_update"));
    await test.session.dispose();
    const names = test.spans().map(({ name }) => name);
    expect(names).toEqual(["invoke_agent tau", "chat scenario", "execute_tool bash"]);
  });
});

describe("a tool call", () => {
  const tool = (execute: () => Promise<string>) =>
    defineTool({
      name: "probe",
      description: "Probes.",
      parameters: { type: "object" },
      execute: async () => ({ content: [{ type: "text" as const, text: await execute() }] }),
    });

  it("runs with its span as the active one", async () => {
    let seen: string | undefined;
    const probe = tool(async () => {
      await Promise.resolve();
      trace.getTracer("inner").startSpan("inner").end();
      seen = trace.getActiveSpan()?.spanContext().spanId;
      return "ok";
    });
    const { session, spans } = await record([turn(toolCall("probe", {})), "done"], {
      customTools: [probe],
    });
    await session.prompt("go");
    expect(seen).toBe(named(spans(), "execute_tool probe").spanId);
    expect(named(spans(), "inner").parentId).toBe(seen);
  });

  it.each([
    ["tool_error", new ToolError("no")],
    ["ENOENT", Object.assign(new Error("gone"), { code: "ENOENT" })],
    ["RangeError", new RangeError("too far")],
  ])("has error.type %s when it fails, and its run continues", async (type, error) => {
    const probe = tool(() => Promise.reject(error));
    const { session, spans } = await record([turn(toolCall("probe", {})), "done"], {
      customTools: [probe],
    });
    await session.prompt("go");
    expect(named(spans(), "execute_tool probe")).toMatchObject({
      status: "ERROR",
      attributes: { "error.type": type },
    });
    expect(named(spans(), "invoke_agent tau").status).toBe("UNSET");
  });

  it("has no span if it never ran", async () => {
    const { session, spans } = await record([turn(toolCall("nothing", {})), "done"]);
    await session.prompt("go");
    expect(spans().filter(({ name }) => name.startsWith("execute_tool"))).toEqual([]);
  });
});

describe("message contents", () => {
  const script: Scenario = [
    turn(["Looking.", toolCall("bash", { command: "echo found" }, { id: "c" })]),
    "done",
  ];

  it("are not in spans by default", async () => {
    const { session, spans } = await record(script);
    await session.prompt("the question");
    const text = JSON.stringify(spans());
    expect(text).not.toMatch(/the question|Looking|found|done/);
  });

  it("are in spans on request", async () => {
    const { session, spans } = await record(script, {
      telemetry: { enabled: true, contents: true },
    });
    await session.prompt("the question");
    const [run, , tool, chat] = spans().map(({ attributes }) => attributes);
    const parsed = (value: unknown) => JSON.parse(String(value));
    expect(tool?.["gen_ai.tool.call.arguments"]).toBe('{"command":"echo found"}');
    expect(tool?.["gen_ai.tool.call.result"]).toBe("found\n");
    const question = { role: "user", parts: [{ type: "text", content: expect.any(String) }] };
    const answer = {
      role: "assistant",
      parts: [{ type: "text", content: "done" }],
      finish_reason: "stop",
    };
    expect(parsed(chat?.["gen_ai.input.messages"])).toEqual([
      question,
      {
        role: "assistant",
        parts: [
          { type: "text", content: "Looking." },
          { type: "tool_call", id: "c", name: "bash", arguments: { command: "echo found" } },
        ],
        finish_reason: "tool_call",
      },
      { role: "tool", parts: [{ type: "tool_call_response", id: "c", response: "found\n" }] },
    ]);
    expect(parsed(chat?.["gen_ai.output.messages"])).toEqual([answer]);
    expect(parsed(run?.["gen_ai.input.messages"])).toEqual([question]);
    expect(parsed(run?.["gen_ai.output.messages"])).toEqual([answer]);
  });

  it("are free of known keys", async () => {
    const key = "sk-a-key-that-nobody-may-see";
    const { session, spans } = await record(
      [turn(toolCall("bash", { command: `echo ${key}` })), "done"],
      {
        telemetry: { enabled: true, contents: true },
        environment: { PATH: process.env.PATH, OPENAI_API_KEY: key },
      },
    );
    await session.prompt(`use ${key}`);
    const text = JSON.stringify(spans());
    expect(text).toContain("echo");
    expect(text).not.toContain(key);
  });
});

describe("the parent of a run", () => {
  it("is the active span", async () => {
    const { session, spans } = await record(["done"]);
    const outer = trace.getTracer("app").startSpan("outer");
    await context.with(trace.setSpan(ROOT_CONTEXT, outer), () => session.prompt("go"));
    outer.end();
    expect(treeOf(spans())).toEqual([{ outer: [{ "invoke_agent tau": ["chat scenario"] }] }]);
  });

  it("is the span in which a queued prompt was sent", async () => {
    const { session, spans, ...test } = await record([
      turn(toolCall("bash", { command: "sleep 0.2" })),
      "one",
      "two",
    ]);
    const first = session.prompt("go");
    await eventOf({ session, events: test.events }, isType("tool_execution_start"));
    const later = session.prompt("then", { streamingBehavior: "followUp", traceparent });
    await session.abort();
    await Promise.all([first, later]);
    const runs = spans().filter(({ name }) => name === "invoke_agent tau");
    expect(runs.map((span) => span.traceId === traceId)).toEqual([false, true]);
  });

  it("is the span that the prompt names", async () => {
    const { session, spans } = await record(["done"]);
    await session.prompt("go", { traceparent });
    expect(named(spans(), "invoke_agent tau")).toMatchObject({ traceId, parentId: spanId });
  });

  it("is the span in which the host was started, if nothing else is known", async () => {
    const environment = { PATH: process.env.PATH, TRACEPARENT: traceparent };
    const { session, spans } = await record(["one", "two"], { environment });
    await session.prompt("go");
    expect(named(spans(), "invoke_agent tau")).toMatchObject({ traceId, parentId: spanId });
    await session.prompt("go", { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` });
    expect(spans().at(-1)?.traceId).toBe("1".repeat(32));
  });

  it.each([
    "",
    "nonsense",
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
  ])("is not taken from the malformed %j", async (malformed) => {
    const { session, spans } = await record(["done"]);
    const { status } = await session.prompt("go", { traceparent: malformed });
    expect(status).toBe("completed");
    const run = named(spans(), "invoke_agent tau");
    expect(run.parentId).toBeUndefined();
    expect(run.traceId).not.toBe(traceId);
  });
});

describe("a process that a call starts", () => {
  const echo = turn(toolCall("bash", { command: "echo [$TRACEPARENT]" }));
  const resultOf = (messages: unknown) => /\[([0-9a-f-]*)\]/.exec(JSON.stringify(messages))?.[1];

  it("belongs to the span of the call", async () => {
    const { session, spans } = await record([echo, "done"]);
    await session.prompt("go", { traceparent });
    const tool = named(spans(), "execute_tool bash");
    const results = session.messages.filter(({ role }) => role === "toolResult");
    expect(JSON.stringify(results)).toContain(`[00-${traceId}-${tool.spanId}-01]`);
  });

  it("belongs to the span of the call even in the background", async () => {
    const command = "echo [$TRACEPARENT]";
    const { session, spans } = await record([
      turn(toolCall("bash", { command, background: true })),
      "done",
    ]);
    await session.prompt("go");
    const [job] = await session.jobs.list();
    const tool = named(spans(), "execute_tool bash");
    await expect
      .poll(async () => (await session.jobs.output(job?.jobId ?? "")).output)
      .toContain(`-${tool.spanId}-01]`);
  });

  it("has no traceparent while telemetry is off", async () => {
    recordSpans();
    const { session } = await createTestSession([echo, "done"]);
    await session.prompt("go", { traceparent });
    const results = session.messages.filter(({ role }) => role === "toolResult");
    expect(resultOf(results)).toBe("");
  });

  it("has no traceparent without a provider, unless one came with the prompt", async () => {
    const { session } = await createTestSession([echo, "done", echo, "done"], on);
    await session.prompt("go");
    const results = () => session.messages.filter(({ role }) => role === "toolResult");
    expect(resultOf(results())).toBe("");
    await session.prompt("go", { traceparent });
    expect(resultOf(results().slice(1))).toBe(traceparent);
  });
});

describe("a subagent in this process", () => {
  it("is a run below the call that starts it, under its own name", async () => {
    const places = project({ ".pi/agents/reader.md": "---\ntools: ls\n---\n" });
    const script = scenario(
      { task: "<child>", agent: "reader" },
      { child: (step) => (step === 0 ? turn(toolCall("ls", {})) : "child done") },
    );
    const { session, spans } = await record(script, { ...places, trustProject: true });
    await session.prompt("go", { traceparent });
    expect(treeOf(spans())).toEqual([
      {
        "invoke_agent tau": [
          "chat scenario",
          {
            "execute_tool task": [
              {
                "invoke_agent reader": ["chat scenario", "execute_tool ls", "chat scenario"],
              },
            ],
          },
          "chat scenario",
        ],
      },
    ]);
    expect(new Set(spans().map((span) => span.traceId))).toEqual(new Set([traceId]));
    const inner = spans().filter((span) => span.attributes["gen_ai.agent.name"] === "reader");
    expect(inner).toHaveLength(4);
    const conversations = new Set(inner.map((span) => span.attributes["gen_ai.conversation.id"]));
    expect(conversations.size).toBe(1);
    expect(conversations.has(session.log.header.id)).toBe(false);
  });
});

describe("telemetry", () => {
  it("is off by default, and can be switched on by a setting", async () => {
    const { spans } = recordSpans();
    const off = await createTestSession(["done"]);
    await off.session.prompt("go");
    expect(spans()).toEqual([]);
    const settings = SettingsStore.inMemory({ "telemetry.enabled": true });
    const { session } = await createTestSession(["done"], { settings });
    await session.prompt("go");
    expect(spans().map(({ name }) => name)).toEqual(["invoke_agent tau", "chat scenario"]);
  });

  it("lets a program register its provider if telemetry is on and none is registered", async () => {
    let recorded: ReturnType<typeof recordSpans> | undefined;
    let calls = 0;
    const register = async () => {
      calls += 1;
      recorded = recordSpans();
    };
    const off = await createTestSession(["done"], { telemetry: { register } });
    await off.session.prompt("go");
    expect(calls).toBe(0);
    for (const _ of ["first", "second"]) {
      const { session } = await createTestSession(["done"], {
        telemetry: { enabled: true, register },
      });
      await session.prompt("go");
    }
    expect(calls).toBe(1);
    expect(recorded?.spans()).toHaveLength(4);
  });

  it("waits for the export at its end only if asked to", async () => {
    const { flushes } = recordSpans();
    for (const flushMs of [undefined, 5000]) {
      const { session } = await createTestSession(["done"], {
        telemetry: { enabled: true, flushMs },
      });
      await session.prompt("go");
      await session.dispose();
    }
    expect(flushes()).toBe(1);
  });

  it("does not wait for an export that never ends", async () => {
    const { hang } = recordSpans();
    hang();
    const { session } = await createTestSession(["done"], {
      telemetry: { enabled: true, flushMs: 10 },
    });
    await session.prompt("go");
    await session.dispose();
  });
});
