import { parseArgs } from "node:util";
import { type AgentSession, createAgentSession } from "@tau-agent/coding-agent";
import { type Checkpoint, ProtocolError, type Result } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { parseArgs as parseHostArgs } from "../command-line/args.ts";
import type { ProcessEnvironment } from "../process/environment.ts";
import { sessionOptions } from "./session-options.ts";

const help = `tau rewind: takes back what prompts did to the files of this project

  tau rewind --list                    the prompts that changed files, oldest first
  tau rewind <entryId>                 take back this prompt and all since; changes of others stay

Options:
  --conversation                       also continue the conversation from before the message
  --dry-run                            show what would change, and change nothing
  --session <id>                       the session; the project's latest by default
  --help                               this text

<entryId> is also a checkpoint, or the id that takes a rewind back. A conflict makes the exit code 1.
`;

const options = {
  list: { type: "boolean" },
  conversation: { type: "boolean" },
  "dry-run": { type: "boolean" },
  session: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** Runs the words behind `tau rewind`; returns what to print, and the exit code. */
export async function rewindCommand(
  words: readonly string[],
  environment: ProcessEnvironment,
): Promise<{ readonly text: string; readonly exitCode: number }> {
  const { values, positionals } = read(words);
  if (values.help) return { text: help, exitCode: 0 };
  const [target, more] = positionals;
  if (more !== undefined) throw invalid(more, "one message is enough");
  if (values.list && target !== undefined) throw invalid("--list", "it takes no message");
  if (!values.list && target === undefined) {
    throw invalid("rewind", "name a message, or give --list for those there are");
  }
  await using session = await openSession(values.session, environment);
  if (target === undefined) {
    return { text: listed(await session.listCheckpoints()), exitCode: 0 };
  }
  const { conversation = false, "dry-run": dryRun = false } = values;
  const isId = /^(?:cp|rw)-/.test(target);
  const id = isId ? { checkpointId: target } : { entryId: target };
  const done = await session.rewind({ ...id, conversation, dryRun });
  return { text: described(done, dryRun), exitCode: done.files.conflicts.length > 0 ? 1 : 0 };
}

function read(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    throw new ProtocolError(
      "invalid_option",
      {
        option: "rewind",
        reason: `${errorMessage(error).split(". ", 1)[0]} (see tau rewind --help)`,
      },
      { cause: error },
    );
  }
}

function invalid(option: string, reason: string): ProtocolError {
  return new ProtocolError("invalid_option", { option, reason });
}

/** The session without the user's extensions: nothing is asked of a model. */
async function openSession(
  id: string | undefined,
  environment: ProcessEnvironment,
): Promise<AgentSession> {
  const host = parseHostArgs(id === undefined ? ["--continue"] : ["--session", id]);
  return createAgentSession({
    ...(await sessionOptions(host, environment)),
    extensions: undefined,
  });
}

function listed(checkpoints: readonly Checkpoint[]): string {
  if (checkpoints.length === 0) return "No prompt has changed files.\n";
  const lines = checkpoints.map(({ entryId, timestamp, text }) => {
    const time = new Date(timestamp).toISOString().slice(0, 19).replace("T", " ");
    return `${entryId}  ${time}  ${text.split("\n", 1)[0]?.slice(0, 80) ?? ""}`;
  });
  return `${lines.join("\n")}\n`;
}

function described({ files, text, undoCheckpointId }: Result<"rewind">, isDry: boolean): string {
  const { changed, conflicts, notCovered } = files;
  const lines = [
    ...changed.map(({ path, change }) => `${change.padEnd(9)} ${path}`),
    ...conflicts.map(({ path, reason }) => `conflict  ${path}: ${reason}`),
    ...notCovered.map((path) => `left out  ${path}: it is not recorded`),
  ];
  if (lines.length === 0) lines.push("Nothing to take back.");
  if (text !== undefined)
    lines.push(`The conversation continues before: ${text.split("\n", 1)[0]}`);
  if (isDry) lines.push("Nothing was changed.");
  if (undoCheckpointId !== undefined) lines.push(`To undo: tau rewind ${undoCheckpointId}`);
  return `${lines.join("\n")}\n`;
}
