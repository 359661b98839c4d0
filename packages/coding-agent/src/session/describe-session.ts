import type { Agent } from "@tau-agent/agent";
import type { SessionState, SessionStats } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { countedContextTokens } from "../compaction/estimate.ts";
import type { ModelSelection } from "../models/model-selection.ts";
import { queuedCount } from "../run/queue-report.ts";
import type { SessionLog } from "../session-log/session-log.ts";
import type { SettingsStore } from "../settings/store.ts";

/** The parts of a session that its state is read from. */
interface Described {
  readonly agent: Agent;
  readonly isStreaming: boolean;
  readonly isCompacting: boolean;
  readonly log: SessionLog;
  readonly messages: readonly AgentMessage[];
  readonly models: ModelSelection;
  readonly settings: SettingsStore;
}

/** The state of a session as clients see it. */
export function describeState(session: Described): SessionState {
  const { agent, log, models, settings } = session;
  const pending = queuedCount(agent);
  return {
    model: models.model ?? null,
    thinkingLevel: models.thinkingLevel,
    isStreaming: session.isStreaming,
    isCompacting: session.isCompacting,
    steeringMode: agent.steering.mode,
    followUpMode: agent.followUp.mode,
    interruptMode: agent.interruptMode,
    queueMode: agent.nextTurn.mode,
    ...(log.path === undefined ? {} : { sessionFile: log.path }),
    sessionId: log.header.id,
    ...(log.name === undefined ? {} : { sessionName: log.name }),
    autoCompactionEnabled: settings.get("compaction.enabled"),
    messageCount: session.messages.length,
    pendingMessageCount: pending,
    queuedMessageCount: pending,
    tokens: { ...log.totals.tokens },
    cost: log.totals.cost,
  };
}

/** Counts, tokens and cost of a whole session, its subagents included. */
export function describeStats(
  session: Pick<Described, "log" | "messages" | "models">,
): SessionStats {
  const { path, header, totals } = session.log;
  const { subagents } = totals;
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
    ...contextUsage(session),
  };
}

/** How full the model's window is; walks back to the last counted reply only. */
function contextUsage({
  messages,
  models,
}: Pick<Described, "messages" | "models">): Pick<SessionStats, "contextUsage"> {
  const contextWindow = models.model?.contextWindow;
  if (!contextWindow) return {};
  const tokens = countedContextTokens(messages);
  const percent = tokens === null ? null : (tokens / contextWindow) * 100;
  return { contextUsage: { tokens, contextWindow, percent } };
}

/** The text of the last reply; null before the first. An empty reply that was aborted is none. */
export function lastAssistantText(messages: readonly AgentMessage[]): string | null {
  const last = messages.findLast(
    (message) =>
      message.role === "assistant" &&
      !(message.stopReason === "aborted" && message.content.length === 0),
  );
  if (last?.role !== "assistant") return null;
  return last.content
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("")
    .trim();
}
