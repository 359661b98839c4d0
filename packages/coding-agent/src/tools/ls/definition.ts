import type { ArgumentsOf, ObjectSchema } from "../common/schema.ts";

export const lsParameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Directory to list (default: the working directory)" },
    limit: { type: "number", description: "How many entries to show (default 500)" },
  },
  required: [],
} as const satisfies ObjectSchema;

export type LsArguments = ArgumentsOf<typeof lsParameters>;

export const lsDescription =
  "List a directory in alphabetical order, hidden files included; directories end in /. " +
  "At most 500 entries or 50KB.";
