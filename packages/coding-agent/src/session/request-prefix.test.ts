import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import { loopbackApis, startLoopbackServer, thinking, toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import {
  createTestSession,
  keyless,
  placesIn,
  temporaryFolder,
} from "../create/__fixtures__/test-session.ts";
import { createAgentSession } from "../create/create-session.ts";

const key = "sk-very-secret-0123456789abcdef";

/** The parts of a request that a vendor's cache matches, in order, without the moving cache marks. */
function prefixOf(body: unknown): { head: string; messages: string[] } {
  const fields = body as Record<string, unknown>;
  const list = (fields.messages ?? fields.input ?? fields.contents) as unknown[];
  const { messages: _m, input: _i, contents: _c, ...head } = fields;
  const text = (value: unknown) =>
    JSON.stringify(value, (name, member) => (name === "cache_control" ? undefined : member));
  return { head: text(head), messages: list.map(text) };
}

describe.each(loopbackApis)("requests over %s", (api) => {
  it("repeat the earlier request byte for byte and only append to it", async () => {
    const scenario = [
      turn([thinking("Hm.", { signature: "c2ln" }), toolCall("ls", { path: "." })]),
      turn(["Two files.", toolCall("read", { path: "missing.txt" })]),
      "It is not there.",
      "Good bye",
    ];
    await using server = await startLoopbackServer({ scenario });
    const { session } = await createTestSession([], {
      model: server.model(api),
      providers: [keyless("loopback")],
      stream: createStream(),
    });
    await session.prompt("look around");
    await session.bash.run("echo from the client");
    await session.prompt("bye");
    expect(server.requests).toHaveLength(4);
    const prefixes = server.requests.map(({ body }) => prefixOf(body));
    for (const [index, next] of prefixes.slice(1).entries()) {
      const before = prefixes[index]!;
      expect(next.head).toBe(before.head);
      expect(next.messages.slice(0, before.messages.length)).toEqual(before.messages);
      expect(next.messages.length).toBeGreaterThan(before.messages.length);
    }
  });
});

describe("API keys", () => {
  it("reach the vendor and nothing else: no event, no file", async () => {
    const folder = temporaryFolder();
    const fault = { kind: "status", status: 401, message: `bad key ${key}` } as const;
    const scenario = [turn([toolCall("ls", { path: "." })]), "done", turn("x", { fault })];
    await using server = await startLoopbackServer({ scenario });
    const session = await createAgentSession({
      ...placesIn(folder),
      model: server.model("openai-completions"),
      apiKey: key,
    });
    const heard: string[] = [];
    session.subscribe((event) => {
      heard.push(JSON.stringify(event));
    });
    await session.prompt("go");
    await session.prompt("fail");
    const shown = `${heard.join()}${JSON.stringify([session.state, session.stats, session.diagnostics])}`;
    await session.dispose();
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(shown).toContain("401");
    expect(shown).not.toContain(key);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile());
    expect(files.some((path) => path.endsWith(".jsonl"))).toBe(true);
    for (const path of files) expect(readFileSync(path, "utf8")).not.toContain(key);
  });
});

describe("the fixed part of a request", () => {
  it.each(loopbackApis)(
    "is at most as large over %s as that of the newest comparable host",
    async (api) => {
      await using server = await startLoopbackServer({ scenario: ["Hello."] });
      const { session } = await createTestSession([], {
        model: server.model(api),
        providers: [keyless("loopback")],
        stream: createStream(),
      });
      await session.prompt("hi");
      const body = server.requests[0]?.body as Record<string, unknown>;
      const text = (value: unknown) =>
        typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      const own = ["system", "instructions", "systemInstruction", "tools", "toolConfig"];
      const list = (body.messages ?? body.input ?? []) as { role?: string }[];
      const said = list.filter(({ role }) => role === "system" || role === "developer");
      const characters = [...own.map((name) => text(body[name])), ...said.map(text)].join(
        "",
      ).length;
      // The size for pi 1.5.2 with Anthropic's format and a folder name of 30 characters.
      expect(characters / 4).toBeLessThan(1_402);
    },
  );
});
