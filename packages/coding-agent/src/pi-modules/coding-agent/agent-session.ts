import type { ScopedModel } from "@tau-agent/models";
import type {
  ImageContent,
  Model,
  ThinkingLevel,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import type { Conversation } from "@tau-agent/sessions/log";
import { customMessageOf } from "../../extensions/extension-hooks.ts";
import type { CommandInfo } from "../../resources/list-commands.ts";
import { type AgentQueues, queuedTexts } from "../../run/agent-queues.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import { exportSession } from "../../session/export-session.ts";
import type { SessionParts } from "../../session/session-parts.ts";

export interface PiSessionParts {
  readonly sessionManager: unknown;
  readonly settingsManager: unknown;
  readonly modelRegistry: unknown;
  readonly resourceLoader: unknown;
  /** Commands that a prompt may begin with; pi shows the templates among them. */
  readonly commands: readonly CommandInfo[];
  /** The initial prompt; the session rebuilds it when its tools change. */
  readonly systemPrompt: string;
}

interface PiPromptOptions {
  readonly images?: ImageContent[];
  readonly streamingBehavior?: "steer" | "followUp";
  readonly expandPromptTemplates?: boolean;
  readonly preflightResult?: (isAccepted: boolean) => void;
}

type QueueMode = "all" | "one-at-a-time";

/** A session with pi's members in addition to its own. */
export function inPiWords(
  session: AgentSession,
  made: SessionParts,
  { commands, ...parts }: PiSessionParts,
): AgentSession {
  const state = stateOf(session, made.conversation);
  const live = {
    ...getters(session, made.agent),
    agent: () => withMembers(made.agent, { state: () => state, ...queues(made.agent) }),
    state: () => state,
  };
  const hasHandlers = (event: string): boolean => session.hooks?.hears(event) ?? false;
  const fixed = {
    ...parts,
    promptTemplates: commands.filter(({ source }) => source === "prompt").map(templateOf),
    ...prompting(session),
    ...controls(session),
    ...readings(session, made.agent),
    ...models(session),
    // Extensions here have no user interface, so binding only waits for them to begin.
    bindExtensions: async () => session.hooks?.begin(),
    reload: async () => {
      await (session.hooks === undefined ? session.settings.reload() : session.hooks.refresh());
    },
    hasExtensionHandlers: hasHandlers,
    // A session notifies its extensions of its end itself.
    extensionRunner: { hasHandlers, emit: async () => undefined },
  };
  const constant = Object.entries(fixed).map(([name, value]) => [name, () => value] as const);
  return withMembers(session, { ...live, ...Object.fromEntries(constant) });
}

function templateOf({ name, description = "", path: filePath }: CommandInfo) {
  return { name, description, filePath };
}

function queues({ steering, followUp }: AgentQueues) {
  return { hasQueuedMessages: () => () => steering.size + followUp.size > 0 };
}

function stateOf(session: AgentSession, conversation: Conversation) {
  return {
    get messages() {
      return conversation.messages;
    },
    set messages(messages) {
      conversation.override(messages);
    },
    get model() {
      return session.models.model;
    },
    get thinkingLevel() {
      return session.models.thinkingLevel;
    },
    get isStreaming() {
      return session.isStreaming;
    },
    get tools() {
      return session.tools.active;
    },
  };
}

/** Members that look like values, but are read again on each access. */
function getters(session: AgentSession, agent: AgentQueues) {
  const { models, settings } = session;
  return {
    model: () => models.model,
    thinkingLevel: () => models.thinkingLevel,
    isIdle: () => !session.isBusy,
    isBashRunning: () => session.bash.isRunning,
    sessionFile: () => session.log.path,
    sessionId: () => session.log.header.id,
    sessionName: () => session.log.name,
    cwd: () => session.log.header.cwd,
    steeringMode: (): QueueMode => agent.steering.mode,
    followUpMode: (): QueueMode => agent.followUp.mode,
    pendingMessageCount: () => session.state.pendingMessageCount,
    autoCompactionEnabled: () => settings.get("compaction.enabled"),
    autoRetryEnabled: () => settings.get("retry.enabled"),
    scopedModels: () => models.scope,
    retryAttempt: () => session.retry.attempt,
  };
}

function prompting(session: AgentSession) {
  const content = (given: string | readonly UserContent[]) =>
    typeof given === "string" ? [{ type: "text" as const, text: given }] : given;
  return {
    prompt: async (text: string, options: PiPromptOptions = {}): Promise<void> => {
      const { images, streamingBehavior, preflightResult } = options;
      const verbatim = options.expandPromptTemplates === false;
      const accepted = await session
        .submit(text, { images, streamingBehavior, verbatim, source: "extension" })
        .catch((error: unknown) => {
          preflightResult?.(false);
          throw error;
        });
      preflightResult?.(true);
      await accepted.result;
    },
    steer: async (text: string, images?: ImageContent[]): Promise<void> => {
      await session.steer(text, { images });
    },
    followUp: async (text: string, images?: ImageContent[]): Promise<void> => {
      await session.followUp(text, { images });
    },
    sendUserMessage: async (
      given: string | readonly UserContent[],
      options: { readonly deliverAs?: "steer" | "followUp" } = {},
    ): Promise<void> => {
      const blocks = content(given);
      const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
      const images = blocks.filter((block): block is ImageContent => block.type === "image");
      const { deliverAs: streamingBehavior } = options;
      await session.prompt(text.trim(), { images, streamingBehavior, verbatim: true });
    },
    sendCustomMessage: async (
      message: Parameters<typeof customMessageOf>[0],
      options: { readonly triggerTurn?: boolean; readonly deliverAs?: string } = {},
    ): Promise<void> => {
      const isRun = session.isStreaming || options.triggerTurn === true;
      const behavior = options.deliverAs === "followUp" ? "followUp" : "steer";
      await session.deliver(customMessageOf(message), isRun ? behavior : "none");
    },
  };
}

function controls(session: AgentSession) {
  const { settings, navigation } = session;
  return {
    setSessionName: (name: string) => session.setName(name),
    setSteeringMode: (steering: QueueMode) => session.setQueueModes({ steering }),
    setFollowUpMode: (followUp: QueueMode) => session.setQueueModes({ followUp }),
    setActiveToolsByName: (names: readonly string[]) => session.tools.activate(names),
    setAutoCompactionEnabled: (isOn: boolean) => settings.override("compaction.enabled", isOn),
    setAutoRetryEnabled: (isOn: boolean) => settings.override("retry.enabled", isOn),
    abortCompaction: () => session.compaction.abort(),
    abortRetry: () => session.retry.cancel(),
    abortBash: () => session.bash.abort(),
    executeBash: (
      command: string,
      onDelta?: (delta: string) => void,
      options: { readonly excludeFromContext?: boolean } = {},
    ) => session.bash.run(command, { ...options, onDelta }),
    fork: (entryId: string) => navigation.fork(entryId),
    navigateTree: (id: string, options: object = {}) => navigation.navigate(id, options),
    switchSession: (path: string) => navigation.switchSession(path),
    exportToHtml: (path?: string) => exportSession(session, path),
  };
}

function readings(session: AgentSession, agent: AgentQueues) {
  const described = () =>
    session.tools.all.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
  return {
    getActiveToolNames: () => session.tools.active.map(({ name }) => name),
    getAllTools: described,
    getToolDefinition: (name: string) => session.tools.all.find((tool) => tool.name === name),
    getSteeringMessages: () => queuedTexts(agent).steering,
    getFollowUpMessages: () => queuedTexts(agent).followUp,
    getLastAssistantText: () => session.lastAssistantText ?? undefined,
    getSessionStats: () => session.stats,
    getContextUsage: () => session.stats.contextUsage,
    getUserMessagesForForking: () => session.navigation.forkMessages(),
  };
}

function models({ models }: AgentSession) {
  return {
    setModel: async (model: Model) => models.use(model),
    cycleModel: async () => (await models.cycle()) ?? undefined,
    setThinkingLevel: (level: ThinkingLevel) => models.setThinkingLevel(level),
    cycleThinkingLevel: () => models.cycleThinkingLevel()?.level,
    getAvailableThinkingLevels: () => models.thinkingLevels(),
    supportsThinking: () => models.thinkingLevels().length > 1,
    setScopedModels: (scope: readonly ScopedModel[]) => {
      models.scope = scope;
    },
  };
}

function withMembers<Target extends object>(
  target: Target,
  more: Readonly<Record<string, () => unknown>>,
): Target {
  return new Proxy(target, {
    has: (_, name) => Object.hasOwn(more, name) || Reflect.has(target, name),
    get: (_, name) => {
      if (typeof name === "string" && Object.hasOwn(more, name)) return more[name]?.();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
