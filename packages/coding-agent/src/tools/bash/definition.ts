import type { ArgumentsOf, ObjectSchema } from "../common/schema.ts";

export const bashParameters = {
  type: "object",
  properties: {
    command: { type: "string", description: "Shell command to run" },
    timeout: {
      type: "number",
      description: "Seconds after which the command is killed (default: no limit)",
    },
  },
  required: ["command"],
} as const satisfies ObjectSchema;

export type BashArguments = ArgumentsOf<typeof bashParameters>;

export const bashDescription =
  "Run a shell command in the working directory; returns stdout and stderr together. " +
  "Of long output the last 2000 lines or 50KB are shown and all of it is kept in a file. " +
  "Commands get no input; start a server in the background with &.";
