import { describe, expect, it } from "vitest";
import { jsonSchemaFaults, outputConfigFaults, responseSchemaFaults } from "./output-form.ts";

const open = { type: "object", properties: { a: { type: "string" } }, required: [] };
const closed = { ...open, required: ["a"], additionalProperties: false };
const openai = (format: Record<string, unknown>) => [...jsonSchemaFaults(format, "text.format")];

describe("the schema of a reply", () => {
  it("is accepted by OpenAI or refused with OpenAI's error", () => {
    expect(openai({ name: "output", schema: open })).toEqual([]);
    expect(openai({ name: "output", schema: closed, strict: true })).toEqual([]);
    const refused = [
      [{ schema: open }, "'text.format.name'"],
      [{ name: "a b", schema: open }, "does not match pattern"],
      [{ name: "output" }, "'text.format.schema'"],
      [{ name: "output", schema: { type: "array" } }, "got 'type: \"array\"'"],
      [{ name: "output", schema: { ...open, anyOf: [{}] } }, "at the top level"],
      [{ name: "output", schema: { ...open, properties: { a: { type: "text" } } } }, "not valid"],
      [{ name: "output", schema: open, strict: true }, "'additionalProperties' is required"],
      [
        { name: "output", schema: { ...open, additionalProperties: false }, strict: true },
        "Missing 'a'",
      ],
    ] as const;
    for (const [format, words] of refused) expect(openai(format).join("\n")).toContain(words);
  });

  it("must be closed for Anthropic", () => {
    const faults = (format: unknown) => [...outputConfigFaults({ format })].join("\n");
    expect(faults({ type: "json_schema", schema: closed })).toBe("");
    expect(faults({ type: "json_schema", schema: open })).toContain("additionalProperties");
    expect(faults({ type: "json", schema: closed })).toContain("format.type");
    expect(faults({ type: "json_schema" })).toContain("Field required");
  });

  it("requires the JSON type for Google, and no tools for older models", () => {
    const json = { responseMimeType: "application/json", responseJsonSchema: open };
    const faults = (config: Record<string, unknown>, model: string, hasFunctions = true) =>
      [...responseSchemaFaults(config, { model, hasFunctions })].join("\n");
    expect(faults(json, "gemini-3-pro")).toBe("");
    expect(faults(json, "gemini-2.5-pro", false)).toBe("");
    expect(faults(json, "gemini-2.5-pro")).toContain("is unsupported");
    expect(faults({ responseJsonSchema: open }, "gemini-3-pro")).toContain("response_mime_type");
    const bad = { ...json, responseJsonSchema: { type: "text" } };
    expect(faults(bad, "gemini-3-pro")).toContain("response_json_schema");
  });
});
