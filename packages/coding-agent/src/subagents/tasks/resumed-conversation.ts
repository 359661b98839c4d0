import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { makeFolder, randomHex } from "@tau-agent/system";
import { fileOf, type SubagentRecord } from "./subagent-record.ts";
import type { ResumedConversation } from "./task-order.ts";
import type { TaskServices } from "./task-services.ts";

/**
 * The conversation with which an ended subagent continues: its file, or a file written from the store or from this
 * host's memory.
 *
 * @throws {SessionError} `session_unreadable` if nothing was kept
 */
export async function resumedConversation(
  record: SubagentRecord,
  services: TaskServices,
): Promise<ResumedConversation> {
  const written = await services.subagents.read(record);
  if (written === undefined) {
    const path = `of subagent ${record.id}`;
    throw new SessionError("session_unreadable", { path, reason: "it was not kept" });
  }
  const { header, entries, totals } = written;
  const sessionFile = await fileOf(record);
  if (sessionFile !== undefined) return { record, sessionFile, totals };
  const folder = join(services.environment.temporaryDirectory, `tau-tasks-${randomHex(6)}`);
  await makeFolder(folder, 0o700);
  const path = join(folder, "resumed.jsonl");
  const lines = [header, ...entries].map((line) => `${JSON.stringify(line)}\n`);
  await writeFile(path, lines.join(""), { mode: 0o600 });
  return { record, sessionFile: path, totals };
}
