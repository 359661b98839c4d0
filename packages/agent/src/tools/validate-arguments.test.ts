import { describe, expect, it } from "vitest";
import { tool } from "../__fixtures__/test-agent.ts";
import { ToolError } from "./errors.ts";
import { validateArguments } from "./validate-arguments.ts";

const parameters = {
  type: "object",
  properties: {
    path: { type: "string" },
    limit: { type: "number" },
    edits: {
      type: "array",
      items: { type: "object", properties: { from: { type: "string" } }, required: ["from"] },
    },
  },
  required: ["path"],
  additionalProperties: false,
};
const read = tool("read", undefined, { parameters });
const callOf = (args: Record<string, unknown>, argumentsError?: string) => ({
  type: "toolCall" as const,
  id: "a",
  name: "read",
  arguments: args,
  ...(argumentsError === undefined ? {} : { argumentsError }),
});
const problem = async (args: Record<string, unknown>): Promise<string> =>
  validateArguments(read, callOf(args)).then(
    () => "",
    (error: unknown) => (error instanceof ToolError ? error.message : "no ToolError"),
  );

describe("validateArguments", () => {
  it("returns valid arguments unchanged", async () => {
    const args = { path: "x", limit: 3 };
    expect(await validateArguments(read, callOf(args))).toBe(args);
  });

  it("coerces arguments that nearly fit", async () => {
    const args = { path: 7, limit: "3", edits: '[{"from":1}]', invented: true };
    expect(await validateArguments(read, callOf(args))).toEqual({
      path: "7",
      limit: 3,
      edits: [{ from: "1" }],
    });
  });

  it("names every invalid field and shows the received arguments", async () => {
    const text = await problem({ limit: "many", edits: [{}] });
    expect(text).toMatch(/^Validation failed for tool "read":\n {2}- /);
    expect(text).toContain("  - path: must have required property 'path'\n");
    expect(text).toContain("  - limit: must be number\n");
    expect(text).toContain("  - edits.0.from: must have required property 'from'\n");
    expect(text).toContain('"limit": "many"');
  });

  it("shortens the received arguments in an error", async () => {
    const text = await problem({ limit: "x".repeat(10_000) });
    expect(text.length).toBeLessThan(2500);
    expect(text).toContain("characters)");
  });

  it("lets a tool convert an older form first", async () => {
    const prepareArguments = ({ file }: Record<string, unknown>) => ({ path: file });
    const older = { ...read, prepareArguments };
    expect(await validateArguments(older, callOf({ file: "x" }))).toEqual({ path: "x" });
  });

  it("rejects text that is not JSON", async () => {
    const refused = validateArguments(read, callOf({}, '{"path": '));
    await expect(refused).rejects.toThrow(/not valid JSON[\s\S]*\{"path": /);
  });
});

describe("a hostile schema", () => {
  const long = `${"a".repeat(60)}!`;
  const twice = (depth: number, leaf: object): Record<string, unknown> =>
    Object.fromEntries(
      Array.from({ length: depth }, (_, at) => [
        `d${at}`,
        at === depth - 1
          ? leaf
          : { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    );

  it.each([
    ["a pattern", { properties: { a: { type: "string", pattern: "^(a+)+$" } } }, { a: long }],
    ["names", { patternProperties: { "^(a+)+$": {} } }, { [long]: 1 }],
    [
      "a list compared with itself",
      { properties: { a: { uniqueItems: true } } },
      { a: Array.from({ length: 30_000 }, (_, at) => ({ at })) },
    ],
    ["doubling references", { $defs: twice(40, {}), allOf: [{ $ref: "#/$defs/d0" }] }, { a: 1 }],
    [
      "a long list of alternatives for a long list",
      {
        properties: {
          a: {
            items: {
              anyOf: Array.from({ length: 5000 }, (_, at) => ({ type: "object", const: at })),
            },
          },
        },
      },
      { a: Array.from({ length: 20_000 }, () => ({})) },
    ],
  ])("does not block on %s, and costs less each time", async (_, schema, args) => {
    const hostile = tool("read", undefined, { parameters: { type: "object", ...schema } });
    const limits: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const refused = String(await validateArguments(hostile, callOf(args)).catch(String));
      expect(refused).toMatch(/could not be checked against parameters/);
      limits.push(Number(/did not end within (\d+) ms/.exec(refused)?.[1]));
    }
    expect(limits).toEqual([500, 125, 31, 20, 20]);
  });

  it.each([
    ["that leads to itself", { allOf: [{ $ref: "#" }] }],
    ["that doubles its problems", { $defs: twice(40, { type: "number" }), $ref: "#/$defs/d0" }],
    ["that is nested without end", nested(20_000)],
  ])("with %s causes an error of the tool", async (_, schema) => {
    const hostile = tool("read", undefined, { parameters: { type: "object", ...schema } });
    await expect(validateArguments(hostile, callOf({ a: {} }))).rejects.toThrow(ToolError);
  });

  it("has its slow pattern named, and still accepts values that match quickly", async () => {
    const hostile = tool("read", undefined, {
      parameters: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
    });
    await expect(validateArguments(hostile, callOf({ a: long }))).rejects.toThrow(
      'arguments: could not be checked against parameters.properties.a.pattern "^(a+)+$"',
    );
    expect(await validateArguments(hostile, callOf({ a: "aaa" }))).toEqual({ a: "aaa" });
  });
});

function nested(depth: number): Record<string, unknown> {
  let schema: Record<string, unknown> = { type: "object" };
  for (let at = 0; at < depth; at += 1) schema = { properties: { a: schema } };
  return schema;
}
