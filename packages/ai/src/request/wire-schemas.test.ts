import { expect, it } from "vitest";
import { ToolFitter } from "./fit-tools.ts";
import { WireSchemas } from "./wire-schemas.ts";

const text = { type: "string" };

function parametersOf(
  fitter: ToolFitter,
  parameters: Record<string, unknown>,
  api = "openai-responses",
) {
  return fitter.fit(api, [{ name: "t", description: "T", parameters }]).tools[0]?.parameters;
}

it("keeps one schema per tool for all stream functions that share it", () => {
  const schemas = new WireSchemas();
  const [one, other] = [new ToolFitter(schemas), new ToolFitter(schemas)];
  const make = () => ({ type: "object", anyOf: [{ required: ["a"] }] });
  expect(parametersOf(one, make())).toBe(parametersOf(other, make()));
  // Another wire format accepts what this one refuses.
  expect(parametersOf(one, make())).not.toHaveProperty("anyOf");
  expect(parametersOf(one, make(), "of-nobody")).toHaveProperty("anyOf");
});

it("reads a schema again after the tool has changed it", () => {
  const schemas = new WireSchemas();
  const live: Record<string, unknown> = { type: "object", properties: { a: text } };
  expect(parametersOf(new ToolFitter(schemas), live)).toHaveProperty("properties.a");
  live.properties = { b: text };
  expect(parametersOf(new ToolFitter(schemas), live)).toHaveProperty("properties.b");
});

it("forgets the oldest schemas when there are very many", () => {
  const schemas = new WireSchemas();
  const at = (index: number) =>
    parametersOf(new ToolFitter(schemas), { type: "object", title: `${index}` });
  const [first, second] = [at(0), at(1)];
  for (let index = 2; index <= 1_000; index += 1) at(index);
  expect(at(1)).toBe(second);
  expect(at(0)).not.toBe(first);
});
