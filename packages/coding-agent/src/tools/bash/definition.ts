import { isTimed } from "../../base/timer-limit.ts";
import type { ToolEnvironment } from "../../processes/environment.ts";
import { toolRow } from "../common/tool-row.ts";

/** The `bash` tool. */
export const bashTool = toolRow({
  name: "bash",
  description: (environment) => {
    const text = `${purpose} ${limitText(environment)}`;
    return () => text;
  },
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", description: "Shell command" },
      timeout: { type: "number", description: "In seconds" },
    },
    required: ["command"],
  },
  promptSnippet: "Run shell commands",
  prepareArguments: (received) =>
    Array.isArray(received.command)
      ? { ...received, command: commandLine(received.command) }
      : received,
  load: async () => (await import("./bash.ts")).runBashTool,
});

const purpose =
  "Run a shell command; returns stdout and stderr together. " +
  "Each call is a new shell in the working directory: cd and variables do not carry over. " +
  "Shows the last 2000 lines or 50KB; a file has longer output. " +
  "Commands get no input; start servers in the background with &.";

function limitText({ bashTimeoutMs }: ToolEnvironment): string {
  return isTimed(bashTimeoutMs)
    ? `By default killed after ${bashTimeoutMs / 1000} seconds.`
    : "By default it may take any time.";
}

/** Accepts a command as a list of words, as models send it that were trained with such a tool. */
function commandLine(command: readonly unknown[]): unknown {
  if (!command.every((word) => typeof word === "string")) return command;
  const [shell = "", flags = "", script] = command;
  const isScript = command.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(shell);
  if (isScript && /^-l?c$/.test(flags)) return script;
  return command.map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
