import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import {
  type LoopbackApi,
  loopbackApis,
  startLoopbackServer,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { takeRewrites } from "../../../ai/test/stable-prefix.ts";
import {
  createTestSession,
  keyless,
  placesIn,
  temporaryFolder,
} from "../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";

const marks = /"cache_control":\{[^}]*\},?|,?"cachePoint":\{[^}]*\}/g;

/** The parts of a request that a vendor's cache matches, in order. */
function partsOf(body: unknown): { head: string; messages: string[] } {
  const { messages, input, contents, ...head } = body as Record<string, unknown>;
  const text = (value: unknown) => JSON.stringify(value).replace(marks, "").replace(/,}/g, "}");
  return { head: text(head), messages: ((messages ?? input ?? contents) as unknown[]).map(text) };
}

/** A conversation across two processes, with a change between them. */
async function resumed(
  api: LoopbackApi,
  between: (project: string) => Partial<CreateAgentSessionOptions> | undefined,
  first: Partial<CreateAgentSessionOptions> = {},
) {
  await using server = await startLoopbackServer({ scenario: ["One.", "Two.", "Three."] });
  const places = placesIn(temporaryFolder());
  const project = String(places.cwd);
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "AGENTS.md"), "Use tabs.");
  const options = {
    ...places,
    model: server.model(api),
    providers: [keyless("loopback")],
    stream: createStream(),
  };
  const before = await createTestSession([], { ...options, ...first });
  await before.session.prompt("one");
  const path = before.session.log.path ?? "";
  await before.session.dispose();
  const changes = between(project) ?? {};
  const after = await createTestSession([], {
    ...options,
    ...first,
    session: { kind: "file", path },
    stream: createStream(),
    ...changes,
  });
  await after.session.prompt("two");
  await after.session.prompt("three");
  expect(server.refusals).toEqual([]);
  const [one, two, three] = server.requests.map(({ body }) => partsOf(body));
  if (one === undefined || two === undefined || three === undefined) throw new Error("no request");
  return { one, two, three, session: after.session };
}

describe.each(loopbackApis)("a reopened session over %s", (api) => {
  it("sends the same bytes and only appends to them", async () => {
    const { one, two, three } = await resumed(api, () => undefined);
    expect(two.head).toBe(one.head);
    expect(two.messages.slice(0, one.messages.length)).toEqual(one.messages);
    expect(three.messages.slice(0, two.messages.length)).toEqual(two.messages);
  });

  it("reports changed context files once, in a message", async () => {
    const { one, two, three } = await resumed(api, (project) => {
      writeFileSync(join(project, "AGENTS.md"), "Use spaces.");
      return undefined;
    });
    expect(two.head).toBe(one.head);
    expect(two.messages.slice(0, one.messages.length)).toEqual(one.messages);
    expect(two.messages.at(-1)).toContain("Use spaces.");
    expect(three.head).toBe(one.head);
    expect(three.messages.join("").split("Use spaces.")).toHaveLength(2);
  });
});

describe("a reopened session", () => {
  const tool = (name: string, description = "Does it.") => ({
    name,
    description,
    parameters: { type: "object" },
    execute: async () => ({ content: [] }),
  });

  it("uses other instructions and tools if they are given", async () => {
    const api = "anthropic-messages";
    const asked = await resumed(api, () => ({ prompt: { appendSystemPrompts: ["Speak Latin."] } }));
    expect(asked.two.head).toContain("Speak Latin.");
    const fewer = await resumed(api, () => ({ tools: { only: ["read"] } }));
    expect(fewer.two.head).not.toContain('"name":"bash"');
    const other = await resumed(api, () => ({ customTools: [tool("own", "Does it well.")] }), {
      customTools: [tool("own")],
    });
    expect(other.two.head).toContain("Does it well.");
    const more = await resumed(api, () => ({ customTools: [tool("own")] }));
    expect(more.two.head).toContain('"name":"own"');
    expect(new Set(takeRewrites())).toEqual(new Set(["the instructions", "the tools"]));
  });

  it("reports when a context file has its original content again", async () => {
    await using server = await startLoopbackServer({ scenario: ["One.", "Two.", "Three."] });
    const places = placesIn(temporaryFolder());
    const file = join(String(places.cwd), "AGENTS.md");
    const options = {
      ...places,
      model: server.model("anthropic-messages"),
      providers: [keyless("loopback")],
      stream: createStream(),
    };
    let path = "";
    for (const text of ["Use tabs.", "Use spaces.", "Use tabs."]) {
      writeFileSync(file, text);
      const session = path === "" ? undefined : ({ kind: "file", path } as const);
      const test = await createTestSession([], { ...options, session });
      await test.session.prompt("go on");
      path = test.session.log.path ?? "";
      await test.session.dispose();
    }
    const told = server.requests.map(({ body }) =>
      JSON.stringify(body).split(/Use (?:tabs|spaces)/),
    );
    expect(told.map(({ length }) => length - 1)).toEqual([1, 2, 3]);
  });
});

describe("tools that were found, for a model that accepts additional ones", () => {
  it.each([
    ["anthropic-messages", { supportsMidConvoToolChanges: true }],
    ["openai-responses", { supportsAdditionalTools: true }],
    ["openai-completions", { supportsMidConvoToolAdditions: true }],
  ] as const)(
    "stay at the position where they were added in the next process, over %s",
    async (api, compat) => {
      const scenario = [
        "Hello.",
        turn([toolCall("bash", { command: "true", background: true })]),
        "Started.",
        "Again.",
      ];
      await using server = await startLoopbackServer({ scenario });
      const options = {
        ...placesIn(temporaryFolder()),
        model: server.model(api, { compat }),
        providers: [keyless("loopback")],
      };
      const before = await createTestSession([], { ...options, stream: createStream() });
      await before.session.prompt("one");
      await before.session.prompt("two");
      const path = before.session.log.path ?? "";
      await before.session.dispose();
      const after = await createTestSession([], {
        ...options,
        stream: createStream(),
        session: { kind: "file", path },
      });
      await after.session.prompt("three");
      expect(server.refusals).toEqual([]);
      // Compares bytes instead: the scenario's list of tools also includes appended ones.
      takeRewrites();
      const parts = server.requests.map(({ body }) => partsOf(body));
      for (const [index, next] of parts.slice(1).entries()) {
        expect(next.head).toBe(parts[index]?.head);
        const { messages = [] } = parts[index] ?? {};
        expect(next.messages.slice(0, messages.length)).toEqual(messages);
      }
    },
  );
});
