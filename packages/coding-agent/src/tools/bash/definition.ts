import type { ToolEnvironment } from "@tau-agent/system";
import type { JobEnvironment } from "../common/jobs-of.ts";
import { toolRow } from "../common/tool-row.ts";

export const bashTool = toolRow({
  name: "bash",
  description: (environment) => {
    const text = `${purpose} ${backgroundText(environment)}`;
    return () => text;
  },
  properties: {
    command: { type: "string" },
    timeout: { type: "number", description: "Seconds" },
    background: { type: "boolean" },
    notify: { type: "boolean", description: "When it ends" },
  },
  required: ["command"],
  isReadOnlyCall: async ({ command, background }, environment) =>
    background !== true && onlyReads(command, environment),
  prepareArguments: (received) =>
    Array.isArray(received.command)
      ? { ...received, command: commandLine(received.command) }
      : received,
  load: async () => (await import("./bash.ts")).runBashTool,
});

const purpose =
  "Run a command in a new shell, without input. Returns stdout and stderr, " +
  "the last 2000 lines or 50KB. Start servers and long commands as a job, with background.";

/** What happens to processes that a command leaves behind. */
function backgroundText({ sandbox, jobs }: ToolEnvironment & JobEnvironment): string {
  if (jobs?.allowsDetached) return "With background, detached: true lets it outlive the agent.";
  return sandbox?.failureNotice === undefined
    ? "Processes left by & end with the agent."
    : "It is sandboxed: processes left by & end with the call.";
}

/** Whether a command only reads; the analysis covers everything that the shell would run. */
async function onlyReads(
  command: unknown,
  { shellPath, shellCommandPrefix }: ToolEnvironment,
): Promise<boolean> {
  if (typeof command !== "string") return false;
  const { isReadOnlyLine } = await import("@tau-agent/system/is-read-only-line");
  const line = shellCommandPrefix ? `${shellCommandPrefix}\n${command}` : command;
  return isReadOnlyLine(line, shellPath);
}

/** Accepts a command as a list of words, as sent by models trained with such a tool. */
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
