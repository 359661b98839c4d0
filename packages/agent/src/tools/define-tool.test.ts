import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { defineTool } from "./define-tool.ts";
import { ToolError } from "./errors.ts";
import type { AgentTool } from "./tool.ts";

const call = { toolCallId: "1", signal: new AbortController().signal, onUpdate: () => {} };
const text = (value: unknown) => ({
  content: [{ type: "text" as const, text: JSON.stringify(value) }],
});

describe("defineTool", () => {
  const ticket = defineTool({
    name: "ticket",
    description: "Looks a ticket up.",
    isReadOnly: true,
    parameters: z.object({
      number: z.number().int().describe("The ticket's number"),
      project: z.string().default("core"),
      due: z
        .string()
        .transform((day) => new Date(day))
        .optional(),
    }),
    execute: async (args) => {
      expectTypeOf(args).toEqualTypeOf<{
        number: number;
        project: string;
        due?: Date | undefined;
      }>();
      return text({ ...args, isDate: args.due instanceof Date });
    },
  });

  it("describes a zod schema to a model as JSON Schema, without naming the dialect", () => {
    expectTypeOf(ticket).toEqualTypeOf<AgentTool>();
    expect(ticket).toMatchObject({ name: "ticket", isReadOnly: true });
    expect(ticket.parameters).toMatchObject({
      type: "object",
      properties: { number: { type: "integer", description: "The ticket's number" } },
      required: ["number"],
    });
    expect(ticket.parameters).not.toHaveProperty("$schema");
  });

  it("passes the parsed arguments to execute", async () => {
    const { content } = await ticket.execute({ number: 7, due: "2026-01-02" }, call);
    expect(content).toEqual(
      text({ number: 7, project: "core", due: "2026-01-02T00:00:00.000Z", isDate: true }).content,
    );
  });

  it("names each argument that the schema rejects", async () => {
    const error = await ticket.execute({ number: 1.5, project: 3 }, call).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ToolError);
    expect(String(error)).toMatch(/tool "ticket":\n {2}- number: .+\n {2}- project: .+/);
  });

  it("accepts JSON Schema unchanged, with the type that the author declares", async () => {
    const echo = defineTool<{ word: string }>({
      name: "echo",
      description: "Says it again.",
      parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
      execute: async ({ word }) => text(word.toUpperCase()),
    });
    expect(echo.parameters).toEqual({
      type: "object",
      properties: { word: { type: "string" } },
      required: ["word"],
    });
    expect((await echo.execute({ word: "a" }, call)).content).toEqual(text("A").content);
  });
});
