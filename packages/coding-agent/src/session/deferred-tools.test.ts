import type { AgentTool } from "@tau-agent/agent";
import { createStream } from "@tau-agent/ai";
import { loopbackApis, startLoopbackServer, toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { createTestSession, keyless, placesIn } from "../create/__fixtures__/test-session.ts";
import { createAgentSession } from "../create/create-session.ts";

const ticket = (ran: unknown[] = []): AgentTool => ({
  name: "ticket",
  description: "Looks up a support ticket.",
  parameters: { type: "object", properties: { number: { type: "number" } } },
  isDeferred: true,
  execute: async (args) => {
    ran.push(args);
    return { content: [{ type: "text", text: "It is open." }] };
  },
});
const others = Array.from(
  { length: 40 },
  (_, index): AgentTool => ({
    ...ticket(),
    name: `other_${index}`,
    description: `Does thing number ${index}.`,
  }),
);
const search = turn([toolCall("tool_search", { query: "support ticket" })]);

describe.each(loopbackApis)("deferred tools over %s", (api) => {
  it.each([
    ["by call_tool", toolCall("call_tool", { name: "ticket", arguments: { number: 7 } })],
    ["by name, although it is not declared", toolCall("ticket", { number: 7 })],
  ])(
    "are called %s once they are found, and leave earlier declarations unchanged",
    async (_, call) => {
      const scenario = [search, turn([call]), "It is open.", "Bye."];
      await using server = await startLoopbackServer({ scenario });
      const ran: unknown[] = [];
      const { session, events } = await createTestSession([], {
        model: server.model(api),
        providers: [keyless("loopback")],
        stream: createStream(),
        customTools: [...others, ticket(ran)],
      });
      const before = session.activeTools.map(({ name }) => name);
      expect(before.at(-1)).toBe("tool_search");
      await session.prompt("Is ticket 7 open?");
      await session.prompt("Thanks.");
      expect(ran).toEqual([{ number: 7 }]);
      expect(session.activeTools.map(({ name }) => name)).toEqual([...before, "ticket"]);
      const [first, ...later] = server.requests.map(({ body }) => declaredIn(body));
      expect(first?.names).toEqual([...before, "call_tool"]);
      for (const next of later) expect(next).toEqual(first);
      // Only the model uses `call_tool`; everyone else sees a call of the tool itself.
      const shown = JSON.stringify([events, session.messages]);
      expect(shown).toContain('"toolName":"ticket"');
      expect(shown).not.toContain('"call_tool"');
      expect(JSON.stringify(server.requests.at(-1)?.body)).toMatch(/call_tool.*ticket/);
    },
  );
});

/** The tool declarations of a request, and everything else except the conversation. */
function declaredIn(body: unknown) {
  const { messages, input, contents, tools, toolConfig, ...rest } = body as Record<string, unknown>;
  const declared = tools ?? (toolConfig as { tools: unknown } | undefined)?.tools;
  const list = (declared as Record<string, unknown>[]).flatMap(
    (each) => (each.functionDeclarations as object[] | undefined) ?? each.toolSpec ?? [each],
  );
  const first = (messages ?? input) as { role: string }[] | undefined;
  const inList = first?.[0]?.role === "user" ? undefined : first?.[0];
  const plain = (value: unknown) =>
    JSON.stringify(value, (key, member) => (key === "cache_control" ? undefined : member));
  const names = list.map((each) => {
    const { name, function: inner } = each as { name?: string; function?: { name: string } };
    return name ?? inner?.name;
  });
  return { system: plain([rest, inList]), names, texts: list.map(plain) };
}

describe("tools that tool_search has found", () => {
  it("are still declared when the session is reopened, and in no other session", async () => {
    const options = { customTools: [...others, ticket()] };
    const { session, folder } = await createTestSession([search, "Found."], options);
    await session.prompt("find it");
    const path = session.log.path ?? "";
    const names = session.activeTools.map(({ name }) => name);
    expect(names.at(-1)).toBe("ticket");
    await session.newSession();
    expect(session.activeTools.map(({ name }) => name)).not.toContain("ticket");
    await session.navigation.switchSession(path);
    expect(session.activeTools.map(({ name }) => name)).toEqual(names);
    await session.dispose();
    await using again = await createAgentSession({
      ...placesIn(folder),
      ...options,
      session: { kind: "file", path },
    });
    expect(again.activeTools.map(({ name }) => name)).toEqual(names);
  });

  it("do not run by a guessed name before they are found", async () => {
    const ran: unknown[] = [];
    const scenario = [turn([toolCall("ticket", { number: 7 })]), "No such tool."];
    const { session } = await createTestSession(scenario, { customTools: [ticket(ran)] });
    await session.prompt("go");
    expect(ran).toEqual([]);
    expect(JSON.stringify(session.messages)).toContain("tool_search");
  });

  it("are listed by name if none matches the query", async () => {
    const none = turn([toolCall("tool_search", { query: "zeppelin" })]);
    const { session } = await createTestSession([none, "Nothing."], { customTools: [ticket()] });
    await session.prompt("go");
    expect(JSON.stringify(session.messages)).toContain("by name: ticket.");
    expect(session.activeTools.map(({ name }) => name)).not.toContain("ticket");
  });
});
