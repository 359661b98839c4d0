import { open } from "node:fs/promises";
import type { AgentSession } from "@tau-agent/coding-agent";
import type { Result, SubagentInfo } from "@tau-agent/rpc-protocol";
import type { ohMyPiCommands } from "@tau-agent/rpc-protocol/commands";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { ProtocolError, parseObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { HostHandlers } from "./contexts.ts";

/** The default number of messages in a page. */
const PAGE_MESSAGES = 256;

const sources = { extension: "extension", prompt: "file", skill: "skill" } as const;
const statuses = {
  running: "running",
  completed: "completed",
  failed: "failed",
  aborted: "aborted",
  timed_out: "failed",
  budget_exceeded: "failed",
  interrupted: "aborted",
} as const;

export const ohMyPiHandlers = {
  get_subagents: async ({ session }) => ({
    subagents: (await session.subagents.list()).map(snapshotOf),
  }),
  set_host_uri_schemes: ({ session, attachment }, { schemes }, { afterAnswer }) => {
    const served = [...session.hostTools.uris.set(schemes)];
    attachment.takeWork("host_uri");
    afterAnswer(() => attachment.orderWork("host_uri"));
    return { schemes: served };
  },
  handoff: async ({ session }, { customInstructions }) => {
    try {
      await session.compact(customInstructions);
      return {};
    } catch (error) {
      const isEmpty = error instanceof SessionError && error.code === "nothing_to_compact";
      if (isEmpty) return null;
      throw error;
    }
  },
  get_messages_page: ({ session: { messages } }, { cursor, limit = PAGE_MESSAGES }) => {
    const [offset, total] = readCursor(cursor, messages.length);
    const end = Math.min(offset + Math.max(1, Math.floor(limit)), total);
    return {
      messages: messages.slice(offset, end),
      totalMessages: total,
      ...(end < total && { nextCursor: `${end}-${total}` }),
    };
  },
  get_available_commands: async ({ session }) => {
    await session.hooks?.begin();
    const commands = await session.listCommands();
    return {
      commands: commands.map(({ name, description, source }) => ({
        name,
        ...(description !== undefined && { description }),
        source: sources[source],
      })),
    };
  },
  set_fast_mode: (_, { enabled }) => ({ enabled, active: false }),
  negotiate_protocol: (_, { protocolVersion }) => {
    if (protocolVersion === 1) return { protocolVersion };
    const field = "protocolVersion";
    const reason = "this host speaks version 1, as its ready frame says";
    throw new ProtocolError("invalid_params", { command: "negotiate_protocol", field, reason });
  },
} satisfies Pick<HostHandlers, keyof typeof ohMyPiCommands>;

/** The position of a page, and the number of messages at the first page. */
function readCursor(cursor: string | undefined, count: number): readonly [number, number] {
  if (cursor === undefined) return [0, count];
  const [, offset = "", total = ""] = /^(\d+)-(\d+)$/.exec(cursor) ?? [];
  // A compaction or a move in the tree changes the messages.
  if (offset !== "" && Number(total) <= count) return [Number(offset), Number(total)];
  const reason = "the conversation is another one by now; begin without a cursor";
  throw new ProtocolError("invalid_params", {
    ...{ command: "get_messages_page", field: "cursor", reason },
  });
}

function snapshotOf(
  info: SubagentInfo,
  index: number,
): Result<"get_subagents">["subagents"][number] {
  const { id, agent, description, status, startedAt, endedAt, sessionFile, toolCallId } = info;
  return {
    ...{ id, index, agent, agentSource: "bundled" },
    ...(description !== "" && { description }),
    status: statuses[status],
    ...(sessionFile !== undefined && { sessionFile }),
    lastUpdate: endedAt ?? startedAt,
    ...(toolCallId !== undefined && { parentToolCallId: toolCallId }),
  };
}

/** The messages among lines of a session file. */
export function messagesIn(lines: readonly Record<string, unknown>[]): AgentMessage[] {
  return lines.flatMap(({ type, message }) =>
    type === "message" ? [message as AgentMessage] : [],
  );
}

/** The complete lines of a subagent's session file from a byte offset, as clients of oh-my-pi 18 read them. */
export async function subagentLines(
  session: AgentSession,
  selector: {
    readonly subagentId?: string | undefined;
    readonly sessionFile?: string | undefined;
    readonly fromByte?: number | undefined;
  },
) {
  const { subagentId, sessionFile, fromByte = 0 } = selector;
  const known = await session.subagents.list();
  // Reads only files of this session's subagents.
  const found = known.find((info) =>
    subagentId === undefined ? info.sessionFile === sessionFile : info.id === subagentId,
  );
  if (found?.sessionFile === undefined) return undefined;
  const file = await open(found.sessionFile, "r");
  try {
    const { size } = await file.stat();
    const reset = fromByte > size;
    const start = reset ? 0 : fromByte;
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(size - start),
      0,
      size - start,
      start,
    );
    const end = buffer.subarray(0, bytesRead).lastIndexOf("\n") + 1;
    const lines = buffer.toString("utf8", 0, end).split("\n").map(parseObject);
    const entries = lines.filter((line) => line !== undefined);
    return {
      sessionFile: found.sessionFile,
      fromByte: start,
      nextByte: start + end,
      reset,
      entries,
    };
  } finally {
    await file.close();
  }
}
