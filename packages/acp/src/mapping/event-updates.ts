import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk";
import type { FileChange, SessionEvent } from "@tau-agent/coding-agent";
import type { AgentMessage, AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { contentBlocks, ofMessage } from "./content.ts";
import { notice } from "./notice.ts";
import { ToolCalls } from "./tool-calls.ts";

export interface EventUpdatesOptions {
  readonly cwd: () => string;
  readonly client: ClientCapabilities | undefined;
  readonly newId: () => string;
}

type EventOf<Type extends SessionEvent["type"]> = Extract<SessionEvent, { type: Type }>;

export class EventUpdates {
  readonly calls: ToolCalls;
  readonly client: ClientCapabilities | undefined;
  readonly #newId: () => string;
  #messageId: string;
  #compactions = 0;

  constructor({ cwd, client, newId }: EventUpdatesOptions) {
    this.calls = new ToolCalls(cwd);
    this.client = client;
    this.#newId = newId;
    this.#messageId = newId();
  }

  /**
   * The updates for an event.
   *
   * @param change - the change that a call would make, for its start event
   */
  map(event: SessionEvent, change?: FileChange | undefined): SessionUpdate[] {
    switch (event.type) {
      case "message_start":
        this.#messageId = this.#newId();
        return [];
      case "message_update":
        return [...ofMessage(this.#messageId, this.#streamed(event))];
      case "message_end":
        return this.#ended(event.message);
      case "tool_execution_start": {
        const { toolCallId: id, toolName: name, args } = event;
        return this.calls.begin({ id, name, args }, change);
      }
      case "tool_execution_update":
        return this.calls.progress(event.toolCallId, event.toolName, event.partialResult);
      case "tool_execution_end": {
        const { toolCallId, toolName, result, isError } = event;
        return this.calls.end(toolCallId, toolName, { ...result, isError });
      }
      case "agent_end":
        return this.calls.fail();
      case "session_info_changed":
        return [{ sessionUpdate: "session_info_update", title: event.name ?? null }];
      default:
        return this.#told(event);
    }
  }

  /** A message for the user that is not part of the conversation. */
  notice(severity: "info" | "warning" | "error", title: string): SessionUpdate[] {
    return notice(this.client, severity, title);
  }

  #streamed({ assistantMessageEvent: step }: EventOf<"message_update">): SessionUpdate[] {
    switch (step.type) {
      case "text_delta":
        return said("agent_message_chunk", step.delta);
      case "thinking_delta":
        return said("agent_thought_chunk", step.delta);
      case "toolcall_end": {
        const { id, name, arguments: args } = step.toolCall;
        return this.calls.announce({ id, name, args });
      }
      default:
        return [];
    }
  }

  #ended(message: AgentMessage): SessionUpdate[] {
    // The calls of a failed reply never run.
    if (isBroken(message)) return this.calls.fail({ begun: false });
    if (message.role !== "custom" || !message.display) return [];
    const chunks = contentBlocks(message.content).map((content) => ({
      sessionUpdate: "agent_message_chunk" as const,
      content,
    }));
    return [...ofMessage(this.#newId(), chunks)];
  }

  #told(event: SessionEvent): SessionUpdate[] {
    switch (event.type) {
      case "auto_retry_start": {
        const { attempt, maxAttempts, delayMs, errorMessage } = event;
        const wait = `Attempt ${attempt} of ${maxAttempts} in ${delayMs / 1000} s`;
        return this.notice("warning", `${wait}: ${errorMessage}`);
      }
      case "model_fallback":
        return this.notice(
          "warning",
          `${event.to} answers: ${event.from} failed (${event.reason})`,
        );
      case "mcp_server_status": {
        if (event.status !== "failed" && event.status !== "needs_auth") return [];
        return this.notice("warning", `MCP server ${event.server}: ${event.error ?? event.status}`);
      }
      case "diagnostic":
        return this.notice(event.severity, event.message);
      case "error":
        return this.notice("error", event.error);
      case "extension_error":
        return this.notice("error", `${event.extensionPath}: ${event.error}`);
      case "auto_compaction_start":
      case "compaction_start":
        return this.#compaction("in_progress");
      case "auto_compaction_end":
      case "compaction_end":
        return this.#compactionEnd(event);
      default:
        return [];
    }
  }

  #compactionEnd({
    result,
    aborted,
    errorMessage,
  }: EventOf<"auto_compaction_end" | "compaction_end">): SessionUpdate[] {
    if (aborted) return this.#compaction("cancelled");
    if (result === null) {
      return this.#compaction("failed", { error: errorMessage ?? "No summary was made" });
    }
    return this.#compaction("completed", { summary: contentBlocks(result.summary) });
  }

  #compaction(
    status: "in_progress" | "completed" | "failed" | "cancelled",
    more: { summary?: ReturnType<typeof contentBlocks>; error?: string } = {},
  ): SessionUpdate[] {
    if (status === "in_progress") this.#compactions += 1;
    if (!this.client?.session?.compaction) return [];
    const compactionId = `compaction-${this.#compactions}`;
    return [{ sessionUpdate: "compaction_update", compactionId, status, ...more }];
  }
}

export function said(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  text: string,
): SessionUpdate[] {
  return text === "" ? [] : [{ sessionUpdate, content: { type: "text", text } }];
}

function isBroken(message: AgentMessage): message is AssistantMessage {
  if (message.role !== "assistant") return false;
  return message.stopReason === "error" || message.stopReason === "aborted";
}
