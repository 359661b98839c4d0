import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { describe, expect, it, vi } from "vitest";
import {
  createTestAgent,
  ok,
  resultTexts,
  tool,
  typesOf,
  unpaired,
  user,
} from "../__fixtures__/test-agent.ts";
import { ToolError } from "../tools/errors.ts";
import type { AgentTool } from "../tools/tool.ts";
import type { AgentOptions, ToolHooks } from "./run.ts";

const call = (id: string, name: string, args: Record<string, unknown> = {}) =>
  toolCall(name, args, { id });

async function runCalls(
  calls: ReturnType<typeof toolCall>[],
  tools: AgentTool[],
  options: Partial<AgentOptions> = {},
) {
  const test = createTestAgent([turn(calls), "done"], { tools, ...options });
  await test.agent.run([user("go")]);
  expect(unpaired(test.recorded)).toEqual([]);
  return { ...test, results: resultTexts(test.recorded), types: typesOf(test.events) };
}

describe("groups of tool calls", () => {
  it("run adjacent read-only calls in parallel and every other call alone", async () => {
    let active = 0;
    const groups: string[] = [];
    const execute = async (_: unknown, { toolCallId }: { toolCallId: string }) => {
      active++;
      await new Promise((resolve) => setTimeout(resolve, 5));
      groups.push(`${toolCallId}:${active}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      active--;
      return ok(toolCallId);
    };
    const tools = [tool("read", execute, { isReadOnly: true }), tool("write", execute)];
    await runCalls(
      [
        call("a", "read"),
        call("b", "read"),
        call("c", "write"),
        call("d", "write"),
        call("e", "read"),
      ],
      tools,
    );
    expect(groups).toEqual(["a:2", "b:2", "c:1", "d:1", "e:1"]);
  });

  it("report each end when it happens and keep results in the order of the calls", async () => {
    const delays: Record<string, number> = { a: 20, b: 1 };
    const read = tool(
      "read",
      async (_, { toolCallId }) => {
        await new Promise((resolve) => setTimeout(resolve, delays[toolCallId]));
        return ok(toolCallId);
      },
      { isReadOnly: true },
    );
    const { types, recorded } = await runCalls([call("a", "read"), call("b", "read")], [read]);
    expect(types.filter((type) => type.startsWith("tool_"))).toEqual([
      "tool_execution_start a",
      "tool_execution_start b",
      "tool_execution_end b",
      "tool_execution_end a",
    ]);
    expect(Object.keys(resultTexts(recorded))).toEqual(["a", "b"]);
  });

  it("keep the other results of a group when one call fails", async () => {
    const read = tool(
      "read",
      async (_, { toolCallId }) => {
        if (toolCallId === "a") throw new ToolError("no such file", { path: "x" });
        return ok("fine");
      },
      { isReadOnly: true },
    );
    const { results, recorded } = await runCalls([call("a", "read"), call("b", "read")], [read]);
    expect(results).toEqual({ a: "no such file", b: "fine" });
    expect(recorded[2]).toMatchObject({ isError: true, details: { path: "x" } });
  });

  it("use the details of a ToolError from another installed copy", async () => {
    vi.resetModules();
    const other = await import("../tools/errors.ts");
    expect(other.ToolError).not.toBe(ToolError);
    const fail = tool("fail", () => Promise.reject(new other.ToolError("no", { path: "x" })));
    const { recorded } = await runCalls([call("a", "fail")], [fail]);
    expect(recorded[2]).toMatchObject({ isError: true, details: { path: "x" } });
  });
});

describe("a tool call", () => {
  it("of an unknown tool is answered with the available names", async () => {
    const { results, recorded } = await runCalls(
      [call("a", "grep")],
      [tool("read"), tool("write")],
    );
    expect(results.a).toBe("Tool grep not found. Available tools: read, write");
    expect(recorded[2]).toMatchObject({ isError: true });
  });

  it("with malformed arguments is not run and shows what was received", async () => {
    const execute = vi.fn(async () => ok("ran"));
    const broken = toolCall("write", {}, { id: "a", rawArguments: '{"path": "x", "text": "y' });
    const { results } = await runCalls([broken], [tool("write", execute)]);
    expect(execute).not.toHaveBeenCalled();
    expect(results.a).toContain("not valid JSON");
    expect(results.a).toContain('{"path": "x", "text": "y');
  });

  it("that throws something unreadable still has a text", async () => {
    const thrower = tool("write", () => Promise.reject(new TypeError("")));
    expect((await runCalls([call("a", "write")], [thrower])).results.a).toBe(
      "The tool failed without a message",
    );
  });

  it("that throws synchronously or throws a string becomes an error result", async () => {
    const sync = tool("write", () => {
      throw "just text";
    });
    expect((await runCalls([call("a", "write")], [sync])).results.a).toBe("just text");
  });

  it("without output gets a note in its result, because some vendors reject an empty one", async () => {
    const quiet = tool("write", async () => ({ content: [] }));
    expect((await runCalls([call("a", "write")], [quiet])).results.a).toBe("(no output)");
  });

  it("reports progress until it settles and not after", async () => {
    let report: ((partial: ToolResult) => void) | undefined;
    const { events } = await runCalls(
      [call("a", "write"), call("b", "read")],
      [
        tool("write", async (_, { onUpdate }) => {
          report = onUpdate;
          onUpdate(ok("half"));
          return ok("whole");
        }),
        tool("read", async () => {
          report?.(ok("too late"));
          return ok("x");
        }),
      ],
    );
    const updates = events.flatMap((event) =>
      event.type === "tool_execution_update" ? [event.partialResult.content[0]] : [],
    );
    expect(updates).toEqual([{ type: "text", text: "half" }]);
  });

  it("ends the run without another reply when every result requests it", async () => {
    const last = tool("write", async () => ({ ...ok("bye"), terminate: true }));
    const { recorded } = await runCalls([call("a", "write"), call("b", "write")], [last]);
    expect(recorded.at(-1)?.role).toBe("toolResult");
    expect(recorded.at(-1)).not.toHaveProperty("terminate");
  });

  it("does not end the run when only one result requests it", async () => {
    const last = tool("write", async (_, { toolCallId }) => ({
      ...ok("bye"),
      terminate: toolCallId === "a",
    }));
    const { recorded } = await runCalls([call("a", "write"), call("b", "write")], [last]);
    expect(recorded.at(-1)?.role).toBe("assistant");
  });
});

describe("hooks", () => {
  const runWith = (hooks: ToolHooks, execute = vi.fn(async () => ok("ran"))) => {
    const parameters = { type: "object", properties: { n: { type: "number" } } };
    return runCalls([call("a", "write", { n: 1 })], [tool("write", execute, { parameters })], {
      hooks,
    });
  };

  it("block a call with their reason, or with a standard one", async () => {
    const execute = vi.fn(async () => ok("ran"));
    const blocked = await runWith({ beforeToolCall: async () => ({ block: true }) }, execute);
    expect(blocked.results.a).toBe("Tool execution was blocked");
    const why = async () => ({ block: true, reason: "not on Sundays" });
    expect((await runWith({ beforeToolCall: why }, execute)).results.a).toBe("not on Sundays");
    expect(execute).not.toHaveBeenCalled();
  });

  it("block a call by throwing", async () => {
    const execute = vi.fn(async () => ok("ran"));
    const beforeToolCall = () => Promise.reject(new TypeError("hook broke"));
    expect((await runWith({ beforeToolCall }, execute)).results.a).toBe("hook broke");
    expect(execute).not.toHaveBeenCalled();
  });

  it("replace arguments, which are validated again", async () => {
    const execute = vi.fn(async () => ok("ran"));
    await runWith({ beforeToolCall: async () => ({ arguments: { n: "2" } }) }, execute);
    expect(execute).toHaveBeenCalledWith({ n: 2 }, expect.anything());
    const wrong = await runWith({ beforeToolCall: async () => ({ arguments: { n: "two" } }) });
    expect(wrong.results.a).toContain("Validation failed");
  });

  it("see validated arguments, one call after another", async () => {
    const seen: string[] = [];
    let open = 0;
    const beforeToolCall: ToolHooks["beforeToolCall"] = async ({ id }) => {
      expect(open++).toBe(0);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      seen.push(id);
      return undefined;
    };
    await runCalls(
      [call("a", "read"), call("b", "read")],
      [tool("read", undefined, { isReadOnly: true })],
      { hooks: { beforeToolCall } },
    );
    expect(seen).toEqual(["a", "b"]);
  });

  it("change fields of a result and leave the others", async () => {
    const afterToolCall = async () => ({ content: ok("changed").content, isError: true });
    const { results, recorded, events } = await runWith({ afterToolCall });
    expect(results.a).toBe("changed");
    expect(recorded[2]).toMatchObject({ isError: true });
    expect(events.find(({ type }) => type === "tool_execution_end")).toMatchObject({
      isError: true,
      result: { content: [{ text: "changed" }] },
    });
  });

  it("get the results of tools that ran, with their final arguments", async () => {
    const asked: unknown[] = [];
    const { results } = await runCalls(
      [call("a", "t"), call("b", "t"), call("c", "unknown")],
      [tool("t")],
      {
        hooks: {
          beforeToolCall: async ({ id }) =>
            id === "a" ? { block: true, reason: "no" } : { arguments: { changed: true } },
          afterToolCall: async ({ id, arguments: args }) => {
            asked.push([id, args]);
            return { content: ok("changed").content };
          },
        },
      },
    );
    expect(asked).toEqual([["b", { changed: true }]]);
    expect(results).toMatchObject({ a: "no", b: "changed" });
  });

  it("turn the result into an error when they throw after a call", async () => {
    const afterToolCall = () => Promise.reject(new TypeError("hook broke"));
    const { results, recorded } = await runWith({ afterToolCall });
    expect(results.a).toBe("hook broke");
    expect(recorded[2]).toMatchObject({ isError: true });
  });
});
