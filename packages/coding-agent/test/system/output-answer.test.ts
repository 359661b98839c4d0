import { type ScenarioRequest, toolCall, turn } from "@tau-agent/ai/testing";
import type { PromptResult } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import {
  createTestSession,
  isType,
  userTexts,
} from "../../src/create/__fixtures__/test-session.ts";

const schema = {
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer" } },
  required: ["city", "people"],
};
const city = { city: "Ulm", people: 128_928 };
const answer = (value: Record<string, unknown>) => JSON.stringify(value);

describe("an answer with a schema", () => {
  it("is given as text, with tools and instructions unchanged", async () => {
    const requests: ScenarioRequest[] = [];
    const { session, events } = await createTestSession((request) => {
      requests.push(request);
      return request.index === 0 ? answer(city) : "Hello";
    });
    const result = await session.prompt("Which city?", { outputSchema: schema });
    expect(result).toMatchObject({
      status: "completed",
      output: city,
      outputStatus: "valid",
      outputAttempts: 1,
      text: JSON.stringify(city),
    });
    expect(events.filter(isType("prompt_result"))).toEqual([
      {
        type: "prompt_result",
        status: "completed",
        output: city,
        outputStatus: "valid",
        outputAttempts: 1,
        text: JSON.stringify(city),
      },
    ]);
    await session.prompt("And now?");
    expect(requests[1]?.tools).toEqual(requests[0]?.tools);
    // The user's words stay as they are, and the added format stays in later requests.
    expect(userTexts(session.messages)).toEqual(["Which city?", "And now?"]);
    const first = requests.map(({ messages }) => JSON.stringify(messages[0]));
    expect(first[0]).toContain("<output-format>");
    expect(first[1]).toBe(first[0]);
  });

  it.each([
    ["alone", JSON.stringify(city)],
    ["in a fence", `Here it is:\n\n\`\`\`json\n${JSON.stringify(city, null, 2)}\n\`\`\`\n`],
    ["as JSON in a string", JSON.stringify(JSON.stringify(city))],
  ])("counts as an answer when it is a text, %s", async (_, text) => {
    const { session } = await createTestSession([text]);
    const result = await session.prompt("Which city?", { outputSchema: schema });
    expect(result).toMatchObject({ output: city, outputStatus: "valid", outputAttempts: 1, text });
  });

  it("does not count in the middle of prose", async () => {
    const { session } = await createTestSession([
      `I think ${JSON.stringify(city)} fits.`,
      answer(city),
    ]);
    const result = await session.prompt("Which city?", { outputSchema: schema });
    expect(result).toMatchObject({ output: city, outputStatus: "valid", outputAttempts: 2 });
  });

  it("is requested again with the problems", async () => {
    const requests: ScenarioRequest[] = [];
    const replies = ["No idea.", answer({ city: "Ulm" }), answer(city)];
    const { session, events } = await createTestSession((request) => {
      requests.push(request);
      return replies[request.index];
    });
    const result = await session.prompt("Which city?", { outputSchema: schema });
    expect(result).toMatchObject({ output: city, outputStatus: "valid", outputAttempts: 3 });
    expect(requests[1]?.lastUserText).toContain("It is not JSON.");
    expect(requests[2]?.lastUserText).toContain('"people"');
    expect(events.filter(isType("agent_start"))).toHaveLength(1);
  });

  it.each([
    ["texts", ["one", "two", "three"]],
    ["values", [answer({}), answer({ city: 1 }), answer({ people: "many" })]],
    ["malformed values", ["{", "{", "{"]],
  ])("is invalid after three attempts with %s, and the run has not failed", async (_, replies) => {
    const { session } = await createTestSession(replies);
    const result = await session.prompt("Which city?", { outputSchema: schema });
    expect(result).toMatchObject({
      status: "completed",
      outputStatus: "invalid",
      outputAttempts: 3,
    });
    expect(result).not.toHaveProperty("output");
    expect(result.text).not.toBe("");
  });

  it("is invalid with a number that JSON cannot represent", async () => {
    const { session } = await createTestSession(() => '{"x": 1e400}');
    const result = await session.prompt("How many?", {
      outputSchema: { type: "object", properties: { x: { type: "number" } } },
    });
    expect(result).toMatchObject({ outputStatus: "invalid", outputAttempts: 3 });
    expect(result).not.toHaveProperty("output");
    expect(userTexts(session.messages).join()).not.toContain("null");
  });

  it("counts its attempts separately for each prompt", async () => {
    const { session } = await createTestSession(["no", answer(city), "no", answer(city)]);
    for (const prompt of ["one", "two"]) {
      const result = await session.prompt(prompt, { outputSchema: schema });
      expect(result).toMatchObject({ outputStatus: "valid", outputAttempts: 2 });
    }
  });

  it("is absent when the run fails or is aborted", async () => {
    const { session } = await createTestSession([
      turn("", { fault: { kind: "status", status: 400 } }),
      turn(toolCall("bash", { command: "sleep 5" })),
    ]);
    const failed = await session.prompt("one", { outputSchema: schema });
    expect(failed).toMatchObject({ status: "error", outputStatus: "absent", outputAttempts: 0 });
    const aborted = session.prompt("two", { outputSchema: schema });
    await expect.poll(() => session.messages.length).toBe(4);
    await session.abort();
    expect(await aborted).toMatchObject({ status: "aborted", outputStatus: "absent" });
  });

  it("comes after the work and before follow-ups", async () => {
    const { session } = await createTestSession([
      turn(toolCall("bash", { command: "sleep 0.1" })),
      "not JSON",
      answer(city),
      "and that too",
    ]);
    const first = session.prompt("work", { outputSchema: schema });
    const followUp = await session.followUp("and that");
    expect(await first).toMatchObject({ output: city, outputAttempts: 2 });
    expect(await followUp.result).not.toHaveProperty("outputStatus");
    expect(session.lastAssistantText).toBe("and that too");
  });

  it.each([
    ["a list", { type: "array", items: { type: "number" } }, [1, 2]],
    ["a number", { type: "number" }, 7],
    [
      "alternatives",
      { anyOf: [{ type: "null" }, { $ref: "#/$defs/a" }], $defs: { a: { const: 1 } } },
      1,
    ],
  ])("may be %s: the request wraps it in an object", async (_, outputSchema, value) => {
    const requests: ScenarioRequest[] = [];
    const { session } = await createTestSession((request) => {
      requests.push(request);
      return request.index === 0 ? answer({ value }) : JSON.stringify(value);
    });
    expect(await session.prompt("go", { outputSchema })).toMatchObject({ output: value });
    expect(JSON.stringify(requests[0]?.messages[0])).toContain('\\"type\\":\\"object\\"');
    expect(await session.prompt("again", { outputSchema })).toMatchObject({ output: value });
  });

  it("has the type of a zod schema, and its transformed value", async () => {
    const { session } = await createTestSession([
      answer({ day: "today" }),
      answer({ day: "2026-11-22" }),
      answer({ day: "2026-11-22" }),
    ]);
    const outputSchema = z.object({
      day: z.string().check(z.refine((day) => /^\d{4}/.test(day), "needs a year")),
      count: z.number().default(3),
    });
    const result = await session.prompt("When?", { outputSchema });
    expectTypeOf(result).toEqualTypeOf<PromptResult<{ day: string; count: number }>>();
    expect(result).toMatchObject({ output: { day: "2026-11-22", count: 3 }, outputAttempts: 2 });
    const small = await session.prompt("And?", {
      outputSchema: mini.object({ day: mini.string() }),
    });
    expectTypeOf(small.output).toEqualTypeOf<{ day: string } | undefined>();
    expect(small.output).toEqual({ day: "2026-11-22" });
  });

  it.each([
    ["a text", "object"],
    ["true", true],
    ["a list", []],
    ["an unknown type", { type: "thing" }],
    ["a reference to nothing", { type: "object", properties: { a: { $ref: "#/$defs/none" } } }],
    ["a broken pattern", { type: "object", properties: { a: { pattern: "(" } } }],
    ["a zod type without JSON", z.object({ a: z.date() })],
  ])("is refused for a schema that is %s, and nothing is sent", async (_, outputSchema) => {
    const { session } = await createTestSession([]);
    const refused = session.prompt("go", { outputSchema: outputSchema as never });
    await expect(refused).rejects.toMatchObject({ code: "invalid_schema" });
    expect(session.messages).toEqual([]);
  });

  it("keeps the added format in a reopened session", async () => {
    const test = await createTestSession([answer(city)]);
    await test.session.prompt("Which city?", { outputSchema: schema });
    const path = test.session.log.path ?? "";
    await test.session.dispose();
    const requests: ScenarioRequest[] = [];
    const again = await createTestSession(
      (request) => {
        requests.push(request);
        return "ok";
      },
      { session: { kind: "file", path }, cwd: test.folder },
    );
    await again.session.prompt("go on");
    expect(JSON.stringify(requests[0]?.messages[0])).toContain("<output-format>");
  });
});
