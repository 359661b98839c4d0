import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { isForeign } from "./fence.ts";

/** The type of the message about a job's end, which is not a message from a person. */
export const JOB_NOTICE_TYPE = "job_end";

/**
 * Whether foreign text came after the last message from a person. This is derived from the log, so compaction, forks
 * and later hosts see the same.
 *
 * @param newestFirst - the entries of the branch
 */
export function isAfterUntrusted(newestFirst: Iterable<SessionEntry>): boolean {
  for (const entry of newestFirst) {
    const said = entry.type === "message" ? saysOf(entry.message as AgentMessage) : undefined;
    const added = entry.type === "custom_message" ? isNotice(entry.customType) : undefined;
    if (said === true || added === true) return true;
    if (said === false) return false;
  }
  return false;
}

/** How a message changes the state; undefined for most messages. */
function saysOf(message: AgentMessage): boolean | undefined {
  switch (message.role) {
    case "user":
      return message.verbatim === true;
    case "toolResult":
      return isForeign(message.details) || undefined;
    case "custom":
      return isNotice(message.customType);
    default:
      return undefined;
  }
}

function isNotice(customType: unknown): true | undefined {
  return customType === JOB_NOTICE_TYPE || undefined;
}
