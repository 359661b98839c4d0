import { type AgentSession, createAgentSession } from "@tau-agent/coding-agent";
import type { Checkpoint, Result } from "@tau-agent/rpc-protocol";
import { readHostLine } from "../command-line/read-host-line.ts";
import type { CommandContext } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import type { ProcessEnvironment } from "../process/environment.ts";
import { sessionOptions } from "./session-options.ts";

/** The arguments of `tau rewind`. */
export interface RewindRequest {
  /** An entry or a checkpoint; undefined to list them. */
  readonly target: string | undefined;
  readonly isList: boolean;
  readonly conversation: boolean;
  readonly dryRun: boolean;
  /** The session; undefined for the latest of the project. */
  readonly session: string | undefined;
}

export async function rewindCommand(
  { target, isList, conversation, dryRun, session: id }: RewindRequest,
  { environment, print }: CommandContext,
): Promise<number> {
  if (isList && target !== undefined) refuse("--list", "it takes no message");
  if (!isList && target === undefined) {
    refuse("rewind", "name a message, or give --list for those there are");
  }
  await using session = await openSession(id, environment);
  if (target === undefined) {
    print(listed(await session.listCheckpoints()));
    return 0;
  }
  const isId = /^(?:cp|rw)-/.test(target);
  const chosen = isId ? { checkpointId: target } : { entryId: target };
  const done = await session.rewind({ ...chosen, conversation, dryRun });
  print(described(done, dryRun));
  return done.files.conflicts.length > 0 ? 1 : 0;
}

/** Opens the session without the user's extensions, because no model is called. */
async function openSession(
  id: string | undefined,
  environment: ProcessEnvironment,
): Promise<AgentSession> {
  const host = readHostLine(id === undefined ? ["--continue"] : ["--session", id]);
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
