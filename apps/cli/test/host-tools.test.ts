import { describe, expect, it } from "vitest";
import { takeRewrites } from "../../../packages/ai/test/stable-prefix.ts";
import { memoryHost } from "./support/hosts.ts";
import type { PlaceSetup } from "./support/place.ts";
import { type Frame, TestClient } from "./support/test-client.ts";

const ticket = {
  name: "ticket",
  description: "Looks up a ticket.",
  parameters: {
    type: "object",
    properties: { number: { type: "number" } },
    required: ["number"],
  },
};
const call = (number: unknown) => ({
  type: "toolCall" as const,
  name: "ticket",
  arguments: { number } as Record<string, unknown>,
});
const text = (said: string) => ({ content: [{ type: "text", text: said }] });

async function start(setup: PlaceSetup = {}, tools: readonly object[] = [ticket]) {
  const host = await memoryHost({
    title: "",
    requirements: [],
    scenario: [{ content: [call(7)] }, { content: "done" }],
    ...setup,
  });
  const client = new TestClient(host);
  client.send({ type: "set_host_tools", tools });
  const { success } = await client.until({ command: "set_host_tools" });
  if (success === true) client.send({ type: "prompt", message: "go" });
  return client;
}

const ended = (client: TestClient): Promise<Frame> => client.until({ type: "tool_execution_end" });

describe("a client's tool", () => {
  it.each(["pi", "pi-1", "pisces", "oh-my-pi", "oh-my-pi-18"])(
    "is called with validated arguments, sends live updates and returns a result in %s",
    async (dialect) => {
      await using client = await start({ dialect });
      const { id, ...frame } = await client.until({ type: "host_tool_call" });
      expect(frame).toEqual({
        type: "host_tool_call",
        toolCallId: expect.any(String),
        toolName: "ticket",
        arguments: { number: 7 },
      });
      client.send({ type: "host_tool_update", id, partialResult: text("looking") });
      const update = await client.until({ type: "tool_execution_update" });
      expect(JSON.stringify(update.partialResult)).toContain("looking");
      client.send({ type: "host_tool_result", id, result: text("It is open.") });
      expect(await ended(client)).toMatchObject({ isError: false, result: text("It is open.") });
    },
  );

  it("is never called with invalid arguments", async () => {
    await using client = await start({ scenario: [{ content: [call("x")] }, { content: "done" }] });
    expect(await ended(client)).toMatchObject({ isError: true });
    client.send({ type: "get_pending_requests" });
    const { data } = await client.until({ command: "get_pending_requests" });
    expect(data).toEqual({ requests: [] });
  });

  it("is listed while its call is open, and answered once", async () => {
    await using client = await start();
    const { id, toolCallId } = await client.until({ type: "host_tool_call" });
    client.send({ type: "get_pending_requests" });
    const { data } = await client.until({ command: "get_pending_requests" });
    expect(data).toMatchObject({
      requests: [
        {
          id,
          toolCallId,
          method: "host_tool",
          params: { toolName: "ticket", arguments: { number: 7 } },
        },
      ],
    });
    client.send({ type: "host_tool_result", id, result: text("no"), isError: true });
    expect(await ended(client)).toMatchObject({ isError: true, result: text("no") });
    for (const type of ["host_tool_result", "host_tool_update"]) {
      client.send({ type, id });
      expect(await client.until({ type: "response" })).toMatchObject({
        id,
        command: type,
        success: false,
      });
    }
  });

  it("ends as an error if its result has no content", async () => {
    await using client = await start();
    const { id } = await client.until({ type: "host_tool_call" });
    client.send({ type: "host_tool_result", id, result: { content: "text" } });
    const refusal = await client.until({ type: "response", command: "host_tool_result" });
    expect(refusal.error).toContain("result.content");
    expect(await ended(client)).toMatchObject({ isError: true });
  });

  it("keeps only the known members of its content", async () => {
    await using client = await start();
    const { id } = await client.until({ type: "host_tool_call" });
    const content = [{ type: "text", text: "open", cache_control: { type: "ephemeral" } }];
    client.send({ type: "host_tool_result", id, result: { content, details: { a: 1 } } });
    expect((await ended(client)).result).toEqual({ ...text("open"), details: { a: 1 } });
  });

  it("is cancelled by an abort and by its timeout", async () => {
    for (const timeoutMs of [20, undefined]) {
      await using client = await start({}, [{ ...ticket, timeoutMs }]);
      const { id } = await client.until({ type: "host_tool_call" });
      if (timeoutMs === undefined) client.send({ type: "abort" });
      expect(await client.until({ type: "host_tool_cancel" })).toMatchObject({ targetId: id });
      expect(await ended(client)).toMatchObject({ isError: true });
    }
  });

  it("requires approval unless it is declared read-only", async () => {
    for (const readOnly of [true, false]) {
      const more = { arguments: ["--permission-mode", "readOnly"] };
      await using client = await start(more, [{ ...ticket, readOnly }]);
      if (!readOnly) {
        expect(JSON.stringify(await ended(client))).toContain("Denied");
        continue;
      }
      const { id } = await client.until({ type: "host_tool_call" });
      client.send({ type: "host_tool_result", id, result: text("seen") });
      expect(await ended(client)).toMatchObject({ isError: false });
    }
  });
});

describe("the tools of the model", () => {
  it("are listed with their source; a client's tool replaces a built-in tool of the same name", async () => {
    const own = { name: "read", description: "Mine", parameters: { type: "object" } };
    await using client = await start({}, [own, ticket]);
    client.send({ type: "get_tools" });
    const { data } = await client.until({ command: "get_tools" });
    const { tools } = data as { tools: { name: string; source: string; readOnly: boolean }[] };
    expect(tools[0]).toMatchObject({
      name: "read",
      source: "host",
      description: "Mine",
      readOnly: false,
    });
    expect(tools.at(-1)).toMatchObject({ name: "ticket", source: "host" });
    expect(tools.find(({ name }) => name === "grep")).toMatchObject({
      source: "builtin",
      readOnly: true,
    });
    client.send({ type: "set_active_tools", toolNames: ["ticket", "ls"] });
    const active = await client.until({ command: "set_active_tools" });
    expect(active.data).toEqual({ toolNames: ["ls", "ticket"] });
    client.send({ type: "set_active_tools", toolNames: ["none"] });
    const refusal = await client.until({ command: "set_active_tools" });
    expect(refusal.error).toContain("none");
    client.send({ type: "set_host_tools", tools: [] });
    await client.until({ command: "set_host_tools" });
    client.send({ type: "get_tools" });
    expect((await client.until({ command: "get_tools" })).data).toMatchObject({
      tools: [{ name: "ls" }],
    });
  });

  it.each([
    [[ticket, { ...ticket, name: "a b" }], "tools[1].name"],
    [[ticket, ticket], "tools[1].name"],
    [[{ ...ticket, name: "" }], "tools[0].name"],
    [[ticket, { ...ticket, name: "x", parameters: { type: "string" } }], "tools[1].parameters"],
    [[{ ...ticket, parameters: { type: "object", properties: 5 } }], "tools[0].parameters"],
    [[{ ...ticket, parameters: "x" }], "tools[0].parameters"],
  ])("are unchanged when one is invalid: %#", async (tools, named) => {
    await using client = await start({}, []);
    client.send({ type: "set_host_tools", tools });
    const refusal = await client.until({ command: "set_host_tools" });
    expect(refusal).toMatchObject({ success: false });
    expect(refusal.error).toContain(named);
    client.send({ type: "get_tools" });
    expect(JSON.stringify(await client.until({ command: "get_tools" }))).not.toContain('"host"');
  });
});

describe("a client's deferred tool", () => {
  const search = {
    type: "toolCall" as const,
    name: "tool_search",
    arguments: { query: "look up a ticket" },
  };
  const names = async (client: TestClient): Promise<string[]> => {
    client.send({ type: "get_tools" });
    const { data } = await client.until({ command: "get_tools" });
    return (data as { tools: { name: string }[] }).tools.map(({ name }) => name);
  };

  it("is not listed before the model has found it", async () => {
    await using client = await start({ scenario: [{ content: "Hi" }] }, []);
    await client.until({ type: "agent_end" });
    const before = await names(client);
    client.send({ type: "set_host_tools", tools: [{ ...ticket, deferLoading: true }] });
    await client.until({ command: "set_host_tools" });
    expect(await names(client)).toEqual([...before, "tool_search"]);
  });

  it("is called after a search, even if the set is replaced in between", async () => {
    const scenario = [{ content: [search] }, { content: [call(7)] }, { content: "done" }];
    await using client = await start({ scenario }, [{ ...ticket, deferLoading: true }]);
    expect(await ended(client)).toMatchObject({ toolName: "tool_search", isError: false });
    const { id } = await client.until({ type: "host_tool_call" });
    const again = [
      { ...ticket, name: "other" },
      { ...ticket, deferLoading: true },
    ];
    client.send({ type: "set_host_tools", tools: again });
    client.send({ type: "host_tool_result", id, result: text("It is open.") });
    expect(await ended(client)).toMatchObject({ toolName: "ticket", isError: false });
    await client.until({ type: "agent_end" });
    // The model calls the tool by its name, so requests need not declare it.
    expect((await names(client)).slice(-4)).toEqual(["tool_search", "ask_user", "other", "ticket"]);
    expect(new Set(takeRewrites())).toEqual(new Set(["the tools"]));
  });
});
