import { expect, it } from "vitest";
import type { ExtensionContext } from "../api/context.ts";
import { Extension } from "../load/registration.ts";
import { agentToolOf } from "./agent-tool.ts";

const extension = new Extension({ path: "/x.ts", realPath: "/x.ts", scope: "user" });

function schemaOf(parameters: object) {
  const execute = async () => ({ content: [] });
  const tool = { name: "x", description: "", parameters, execute };
  const nested = { active: () => [], hooks: {} };
  return agentToolOf({ tool, extension }, {} as ExtensionContext, nested).parameters;
}

it("offers a tool with its schema, without the schema library's internal markers", () => {
  const mark = Symbol("kind");
  const properties = { a: { type: "string" } };
  expect(schemaOf({ type: "object", properties, [mark]: 1 })).toStrictEqual({
    type: "object",
    properties,
  });
  expect(schemaOf({ properties })).toEqual({ type: "object", properties });
});

it("asks a Standard Schema for its JSON Schema", () => {
  const asked: unknown[] = [];
  const input = (options: { target: string }) => {
    asked.push(options.target);
    return { type: "object", properties: { n: { type: "number" } } };
  };
  const library = { _zod: { def: {} }, "~standard": { vendor: "any", jsonSchema: { input } } };
  expect(schemaOf(library)).toEqual({ type: "object", properties: { n: { type: "number" } } });
  expect(asked).toEqual(["draft-07"]);
});
