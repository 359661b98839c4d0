import { isTimed, type ToolEnvironment } from "@tau-agent/system";
import { toolRow } from "../common/tool-row.ts";

/** The `bash` tool. */
export const bashTool = toolRow({
  name: "bash",
  description: (environment) => {
    const text = `${purpose} ${backgroundText(environment)} ${limitText(environment)}`;
    return () => text;
  },
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", description: "Shell command" },
      timeout: { type: "number", description: "In seconds" },
      background: { type: "boolean", description: "Return at once with a jobId" },
      notify: { type: "boolean", description: "With background: tell you when it ends" },
      detached: { type: "boolean", description: "With background: outlive the agent" },
    },
    required: ["command"],
  },
  promptSnippet: "Run shell commands",
  isReadOnlyCall: async ({ command, background }, environment) =>
    background !== true && onlyReads(command, environment),
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
  "Commands get no input. Start servers and long commands with background; job_output, job_kill and " +
  "list_jobs follow them.";

/** What becomes of processes that a command leaves behind. */
function backgroundText({ sandbox }: ToolEnvironment): string {
  return sandbox?.failureNotice === undefined
    ? "Background processes (&, nohup, setsid) outlive their call unless it is aborted or times out, and " +
        "end with the agent; their later output is lost unless sent to a file."
    : "It runs in a sandbox: background processes (&, nohup, setsid) end with their call.";
}

function limitText({ bashTimeoutMs }: ToolEnvironment): string {
  return isTimed(bashTimeoutMs)
    ? `By default killed after ${bashTimeoutMs / 1000} seconds.`
    : "By default it may take any time.";
}

/** What is known of lines holds for all that the shell is given to run. */
async function onlyReads(
  command: unknown,
  { shellPath, shellCommandPrefix }: ToolEnvironment,
): Promise<boolean> {
  if (typeof command !== "string") return false;
  const { isReadOnlyLine } = await import("@tau-agent/system/is-read-only-line");
  const line = shellCommandPrefix ? `${shellCommandPrefix}\n${command}` : command;
  return isReadOnlyLine(line, shellPath);
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
