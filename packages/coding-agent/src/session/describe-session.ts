import type { SessionState, SessionStats } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { lastReplyParts, lastReplyText } from "@tau-agent/rpc-protocol/plain";
import { countedContextTokens } from "../compaction/estimate.ts";
import { queuedCount } from "../run/agent-queues.ts";
import { cacheUsage } from "./cache-usage.ts";
import type { SessionParts } from "./session-parts.ts";

/** The parts of a session that determine its state. */
type Described = Pick<
  SessionParts,
  "agent" | "driver" | "conversation" | "compaction" | "models" | "answering" | "inputs" | "limits"
>;

export function describeState(parts: Described): SessionState {
  const { agent, driver, conversation, compaction, models, inputs } = parts;
  const { log } = conversation;
  const pending = queuedCount(agent);
  // Without spreads, which would take longer than everything else here (row `get-state-idle`).
  const state: SessionState = {
    model: models.model ?? null,
    thinkingLevel: models.thinkingLevel,
    isStreaming: driver.isRunning,
    isCompacting: compaction.isRunning,
    steeringMode: agent.steering.mode,
    followUpMode: agent.followUp.mode,
    interruptMode: agent.interruptMode,
    queueMode: agent.nextTurn.mode,
    toolExecution: agent.toolExecution,
    sessionId: log.header.id,
    autoCompactionEnabled: inputs.settings.get("compaction.enabled"),
    messageCount: conversation.messageCount,
    pendingMessageCount: pending,
    queuedMessageCount: pending,
    tokens: { ...log.totals.tokens },
    cost: log.totals.cost,
    permissionMode: inputs.permissions.state.mode,
    workspace: inputs.standing.describe(inputs.toolEnvironment.cwd),
    pendingRequests: inputs.requests.ids,
  };
  if (log.path !== undefined) state.sessionFile = log.path;
  if (log.name !== undefined) state.sessionName = log.name;
  const { pausedPromptId } = parts.limits;
  if (pausedPromptId !== undefined) state.pausedPromptId = pausedPromptId;
  return state;
}

/** Counts, tokens and cost of a whole session, including its subagents. */
export function describeStats(parts: Pick<Described, "conversation" | "answering">): SessionStats {
  const { path, header, totals } = parts.conversation.log;
  const { subagents, cacheWarming } = totals;
  return {
    ...(path === undefined ? {} : { sessionFile: path }),
    sessionId: header.id,
    userMessages: totals.userMessages,
    assistantMessages: totals.assistantMessages,
    toolCalls: totals.toolCalls,
    toolResults: totals.toolResults,
    totalMessages: totals.totalMessages,
    tokens: { ...totals.tokens },
    cost: totals.cost,
    ...(subagents.count > 0 && {
      subagents: { ...subagents, tokens: { ...subagents.tokens } },
    }),
    ...(cacheWarming.requests > 0 && { cacheWarming: { ...cacheWarming } }),
    ...cacheUsage(parts.conversation.messages, totals.tokens),
    ...contextUsage(parts),
  };
}

/** How full the model's context window is; reads back only to the last counted reply. */
function contextUsage({
  conversation,
  answering,
}: Pick<Described, "conversation" | "answering">): Pick<SessionStats, "contextUsage"> {
  const contextWindow = answering.model?.contextWindow;
  if (!contextWindow) return {};
  const tokens = countedContextTokens(conversation.messages, conversation.results);
  const percent = tokens === null ? null : (tokens / contextWindow) * 100;
  return { contextUsage: { tokens, contextWindow, percent } };
}

/** The text of the last reply; null before the first. An aborted reply without content is skipped. */
export function lastAssistantText(messages: readonly AgentMessage[]): string | null {
  const said = messages.filter(
    (message) =>
      message.role !== "assistant" ||
      message.stopReason !== "aborted" ||
      message.content.length > 0,
  );
  return lastReplyParts(said).length === 0 ? null : lastReplyText(said).trim();
}
