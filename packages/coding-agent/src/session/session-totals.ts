import type { KnownSessionEntry, SessionEntry, SessionStats } from "@tau-agent/rpc-protocol";
import type { AgentMessage, Usage } from "@tau-agent/rpc-protocol/messages";
import { normalizeMessage } from "./normalize-message.ts";

/** Running counts over all entries of a session, so that statistics never walk the file. */
export class SessionTotals {
  userMessages = 0;
  assistantMessages = 0;
  toolCalls = 0;
  toolResults = 0;
  totalMessages = 0;
  cost = 0;
  readonly tokens: SessionStats["tokens"] = {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    total: 0,
  };

  /** Counts one entry. */
  add(entry: SessionEntry): void {
    const known = entry as KnownSessionEntry;
    if (known.type === "message") this.#addMessage(normalizeMessage(known.message));
    else if (known.type === "custom_message") this.totalMessages += 1;
    else if (known.type === "compaction" || known.type === "branch_summary")
      this.#addUsageOf(entry);
  }

  #addMessage(message: AgentMessage): void {
    this.totalMessages += 1;
    if (message.role === "user") this.userMessages += 1;
    if (message.role === "toolResult") this.toolResults += 1;
    if (message.role === "assistant") {
      this.assistantMessages += 1;
      for (const block of message.content) if (block.type === "toolCall") this.toolCalls += 1;
    }
    if ("usage" in message) this.#addUsage(message.usage);
  }

  #addUsageOf(entry: SessionEntry): void {
    if ("usage" in entry) this.#addUsage(entry.usage as Usage);
  }

  #addUsage(usage: Usage | undefined): void {
    if (usage === undefined) return;
    const { tokens } = this;
    tokens.input += usage.input;
    tokens.output += usage.output;
    tokens.cacheRead += usage.cacheRead;
    tokens.cacheWrite += usage.cacheWrite;
    tokens.total = tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite;
    this.cost += usage.cost?.total ?? 0;
  }
}
