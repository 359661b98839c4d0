import { ToolError } from "@tau-agent/agent";
import { isJsonObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import type * as z from "zod";
import { type AnswerSchema, readAnswerSchema } from "./answer-schema.ts";
import { wrapSchema } from "./wrap-schema.ts";

/** The schema for an answer: a JSON Schema, or a zod type of version 4. */
export type OutputSchema = z.core.$ZodType | Readonly<Record<string, unknown>>;

/** The type of an answer. */
export type OutputOf<Schema> = Schema extends z.core.$ZodType<infer Output> ? Output : unknown;

export interface OutputCheck {
  /** The schema as sent to models; its root is an object. */
  readonly wireSchema: Readonly<Record<string, unknown>>;
  /** The answer in a text, or why there is none. */
  checkText(text: string): Checked;
  /** The answer in the arguments of a call, or why there is none. */
  checkValue(sent: unknown): Checked;
}

export type Checked = { readonly value: unknown } | { readonly problem: string };

/**
 * Reads the schema for the answers of a prompt.
 *
 * @throws {SessionError} `invalid_schema`
 */
export async function readOutputSchema(given: unknown): Promise<OutputCheck> {
  const schema = await jsonSchemaOf(given);
  const answers = await readAnswers(schema);
  const wire = wrapSchema(schema);
  const parse = isZod(given) ? await parserOf(given) : (value: unknown) => ({ value });
  const checkValue = (sent: unknown): Checked => {
    const value = wire.unwrap(sent);
    const problem = answers.problemOf(value);
    return problem === undefined ? parse(value) : { problem };
  };
  return {
    wireSchema: wire.schema,
    checkValue,
    checkText: (text) => {
      const problems: string[] = [];
      for (const sent of answers.read(text)) {
        const checked = checkValue(sent);
        if ("value" in checked) return checked;
        problems.push(checked.problem);
      }
      return { problem: problems[0] ?? "It is not JSON." };
    },
  };
}

async function jsonSchemaOf(given: unknown): Promise<Record<string, unknown>> {
  if (!isZod(given)) {
    if (isJsonObject(given)) return given;
    throw invalid("it must be a JSON Schema that is an object");
  }
  const { toJSONSchema } = await import("zod");
  try {
    // The model writes the input of the type; the caller gets its output.
    return toJSONSchema(given, { io: "input" }) as Record<string, unknown>;
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
}

async function readAnswers(schema: Record<string, unknown>): Promise<AnswerSchema> {
  try {
    return await readAnswerSchema(schema);
  } catch (error) {
    if (error instanceof ToolError) throw invalid(error.message);
    throw error;
  }
}

/** Applies what a zod type requires beyond its JSON Schema, and the type's transformations. */
async function parserOf(type: z.core.$ZodType): Promise<(value: unknown) => Checked> {
  const { safeParse, prettifyError } = await import("zod");
  return (value) => {
    const { success, data, error } = safeParse(type, value);
    return success ? { value: data } : { problem: prettifyError(error) };
  };
}

function isZod(given: unknown): given is z.core.$ZodType {
  return typeof given === "object" && given !== null && "_zod" in given;
}

function invalid(reason: string): SessionError {
  return new SessionError("invalid_schema", { field: "outputSchema", reason });
}
