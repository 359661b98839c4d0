import type { ObjectSchema } from "./schema.ts";

/** What the model reads about a tool, and how its arguments are read. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
  readonly isReadOnly?: boolean;
  /** Its line in the system prompt. */
  readonly promptSnippet: string;
  readonly promptGuidelines?: readonly string[];
  readonly prepareArguments?: (received: Record<string, unknown>) => Record<string, unknown>;
}
