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
  it("returns arguments that fit unchanged", async () => {
    const args = { path: "x", limit: 3 };
    expect(await validateArguments(read, callOf(args))).toBe(args);
  });

  it("coerces what nearly fits", async () => {
    const args = { path: 7, limit: "3", edits: '[{"from":1}]', invented: true };
    expect(await validateArguments(read, callOf(args))).toEqual({
      path: "7",
      limit: 3,
      edits: [{ from: "1" }],
    });
  });

  it("names every field that does not fit, and shows what was received", async () => {
    const text = await problem({ limit: "many", edits: [{}] });
    expect(text).toMatch(/^Validation failed for tool "read":\n {2}- /);
    expect(text).toContain("  - path: must have required property 'path'\n");
    expect(text).toContain("  - limit: must be number\n");
    expect(text).toContain("  - edits.0.from: must have required property 'from'\n");
    expect(text).toContain('"limit": "many"');
  });

  it("shortens what was received", async () => {
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
