import type { ArgumentsOf, ObjectSchema } from "../common/schema.ts";

export const readParameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "File to read, relative to the working directory" },
    offset: { type: "number", description: "First line to show, from 1" },
    limit: { type: "number", description: "How many lines to show" },
  },
  required: ["path"],
} as const satisfies ObjectSchema;

export type ReadArguments = ArgumentsOf<typeof readParameters>;

export const readDescription =
  "Read a file: text, or an image (jpg, png, gif, webp, bmp). At most 2000 lines or 50KB of text " +
  "are shown; use offset and limit for the rest.";
