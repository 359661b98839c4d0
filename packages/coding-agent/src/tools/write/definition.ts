import type { ArgumentsOf, ObjectSchema } from "../common/schema.ts";

export const writeParameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "File to write, relative to the working directory" },
    content: { type: "string", description: "The whole content of the file" },
  },
  required: ["path", "content"],
} as const satisfies ObjectSchema;

export type WriteArguments = ArgumentsOf<typeof writeParameters>;

export const writeDescription =
  "Write a file: creates it with its parent directories, or replaces all of its content.";
