import type { AgentTool } from "@tau-agent/agent";
import { describe, expect, it } from "vitest";
import type { ToolSelection } from "./tool-selection.ts";
import { ToolSet } from "./tool-set.ts";

const tool = (name: string, more: Partial<AgentTool> = {}): AgentTool => ({
  name,
  description: "",
  parameters: { type: "object" },
  execute: async () => ({ content: [] }),
  ...more,
});
const deferred = (name: string) => tool(name, { isDeferred: true });
const search = tool("tool_search");
const caller = tool("call_tool");
const settings = { get: () => undefined } as never;

function create(selection?: ToolSelection) {
  const builtIn = [tool("read"), tool("bash")];
  return new ToolSet({ builtIn, selection, settings, search, caller });
}
const names = (tools: readonly AgentTool[]) => tools.map(({ name }) => name);

describe("tools from several sources", () => {
  it("have a fixed order, with the client's tools last unless they replace one", () => {
    const tools = create();
    tools.offer("host", [tool("ticket"), tool("read")]);
    tools.offer("mcp", [tool("mcp__a__x")]);
    tools.offer("extension", [tool("extra")]);
    expect(names(tools.active)).toEqual(["read", "bash", "extra", "mcp__a__x", "ticket"]);
    expect(tools.active.map((each) => tools.sourceOf(each))).toEqual([
      "host",
      "builtin",
      "extension",
      "mcp",
      "host",
    ]);
  });

  it("are limited by the selection, except for those of the client", () => {
    const tools = create({ only: ["read"] });
    tools.offer("extension", [tool("deploy")]);
    tools.offer("host", [tool("ticket")]);
    expect(names(tools.active)).toEqual(["read", "ticket"]);
  });

  it("are limited only by a selection that names tools of servers, if they belong to a server", () => {
    const given = [tool("mcp__a__x"), tool("mcp__b__y")];
    const of = (selection: ToolSelection) => {
      const tools = create(selection);
      tools.offer("mcp", given);
      return names(tools.active);
    };
    expect(of({ only: ["read"] })).toEqual(["read", "mcp__a__x", "mcp__b__y"]);
    expect(of({ only: ["read", "mcp__b__*"] })).toEqual(["read", "mcp__b__y"]);
    expect(of({ only: ["read"], exclude: ["mcp__a__*"] })).toEqual(["read", "mcp__b__y"]);
    expect(of({ none: true })).toEqual([]);
  });

  it("keep their order once a request has declared them", () => {
    const tools = create({ only: ["read"] });
    tools.offer("mcp", [tool("mcp__b__y")]);
    tools.noteRequested(tools.active);
    tools.offer("mcp", [tool("mcp__a__x"), tool("mcp__b__y")]);
    expect(names(tools.active)).toEqual(["read", "mcp__b__y", "mcp__a__x"]);
  });

  it("do not change the list in the system prompt if they belong to servers", () => {
    const tools = create({ only: ["read"] });
    const before = tools.named;
    tools.offer("mcp", [tool("mcp__a__x"), { ...tool("mcp__a__y"), isDeferred: true }]);
    expect(names(tools.active)).toContain("tool_search");
    expect(tools.named).toBe(before);
  });

  it("do not switch on the tools that they replaced", () => {
    const limited = create({ only: ["read"] });
    const narrowed = create();
    narrowed.activate(["read"]);
    const narrowedMeanwhile = create();
    for (const tools of [limited, narrowed, narrowedMeanwhile]) {
      tools.offer("host", [tool("bash")]);
      expect(names(tools.active)).toEqual(["read", "bash"]);
      narrowedMeanwhile.activate(["read"]);
      tools.offer("host", []);
      expect(names(tools.active)).toEqual(["read"]);
    }
    const replaced = create({ only: ["read"] });
    replaced.offer("host", [tool("bash")]);
    replaced.activate(["read", "bash"]);
    replaced.offer("host", []);
    expect(names(replaced.active)).toEqual(["read"]);
  });

  it("stay switched off when their source offers them again", () => {
    const tools = create();
    tools.offer("extension", [tool("a"), tool("b")]);
    tools.activate(["read", "b"]);
    tools.offer("extension", [tool("a"), tool("b"), tool("c")]);
    expect(names(tools.active)).toEqual(["read", "b", "c"]);
  });
});

describe("deferred tools", () => {
  it("bring tool_search with them, and only they do", () => {
    const tools = create();
    expect(names(tools.all)).not.toContain("tool_search");
    tools.offer("mcp", [deferred("x"), tool("y")]);
    expect(names(tools.active)).toEqual(["read", "bash", "y", "tool_search"]);
    expect(names(tools.all)).toContain("tool_search");
    tools.offer("mcp", [tool("y")]);
    expect(names(tools.active)).toEqual(["read", "bash", "y"]);
  });

  it("come after all others once they are loaded, in that order, and stay", () => {
    const tools = create();
    tools.offer("host", [deferred("h")]);
    tools.offer("mcp", [deferred("a"), deferred("b")]);
    const { named } = tools;
    tools.load(["b"]);
    tools.load(["h", "b"]);
    expect(names(tools.active)).toEqual(["read", "bash", "tool_search", "b", "h"]);
    expect(tools.named).toBe(named);
    tools.offer("mcp", []);
    expect(names(tools.active)).toEqual(["read", "bash", "tool_search", "h"]);
    tools.offer("mcp", [deferred("b")]);
    expect(names(tools.active)).toEqual(["read", "bash", "tool_search", "b", "h"]);
  });

  it("are activated by name without a search, and found only while tool_search is active", () => {
    const tools = create();
    tools.offer("mcp", [deferred("a"), deferred("b")]);
    tools.activate(["read", "tool_search", "b"]);
    expect(names(tools.active)).toEqual(["read", "tool_search", "b"]);
    expect(names(tools.deferred)).toEqual(["a", "b"]);
    tools.activate(["read", "a"]);
    expect(names(tools.active)).toEqual(["read", "a"]);
    expect(names(tools.deferred)).toEqual(["a"]);
    tools.offer("host", [deferred("h")]);
    expect(names(tools.active)).toEqual(["read", "tool_search", "a"]);
    expect(names(tools.deferred)).toEqual(["a", "h"]);
  });

  it("have no search if it is excluded, or if another tool has its name", () => {
    for (const selection of [{ exclude: ["tool_*"] }, { only: ["-tool_search"] }]) {
      const tools = create(selection);
      tools.offer("mcp", [deferred("a")]);
      expect(names(tools.active)).toEqual(["read", "bash"]);
      expect(tools.diagnose().map(({ message }) => message)).not.toContainEqual(
        expect.stringContaining("tool_search"),
      );
    }
    const tools = create();
    const own = tool("tool_search");
    tools.offer("host", [own, deferred("a")]);
    expect(tools.active.filter(({ name }) => name === "tool_search")).toEqual([own]);
  });
});
