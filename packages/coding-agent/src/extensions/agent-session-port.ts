import type { ImageContent, UserContent } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { SessionLog } from "@tau-agent/sessions/log";
import type { PromptResources } from "../resources/resources.ts";
import type { SystemPromptInput } from "../resources/system-prompt.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { SessionParts } from "../session/session-parts.ts";
import { fitContent } from "../user-input/fit-content.ts";
import type { SlashCommandInfo } from "./api/api.ts";
import { ExtensionError } from "./api/errors.ts";
import type { SourceInfo } from "./api/tool.ts";
import { sessionWriter } from "./context/session-view.ts";
import { contextUsageOf, customMessageOf, type ExtensionHooks } from "./extension-hooks.ts";
import type { ExtensionSystem } from "./extension-system.ts";
import { sourceInfoOf } from "./load/source-info.ts";
import type { ExecEnvironment } from "./port/exec.ts";
import type { SessionPort } from "./port/session-port.ts";
import { addEntries, messagesWith, pendingMessages } from "./session-entries.ts";

export interface PortOptions {
  readonly session: AgentSession;
  readonly parts: SessionParts;
  readonly system: ExtensionSystem;
  readonly hooks: ExtensionHooks;
  readonly resources: PromptResources;
  readonly execEnvironment: ExecEnvironment;
  readonly textCommands: () => readonly SlashCommandInfo[];
  /** Ends the host; without it the request is ignored. */
  readonly onShutdown: (() => void) | undefined;
  readonly toolsChanged: () => void;
}

/** The part of a session that extensions can access. */
export function createAgentSessionPort(options: PortOptions): SessionPort {
  const { session, parts, system, hooks, execEnvironment } = options;
  const { conversation, agent } = parts;
  let systemPrompt = "";
  let promptInput: SystemPromptInput = { tools: [], cwd: execEnvironment.cwd };
  return {
    ...{ settings: session.settings, stream: system.stream, execEnvironment },
    toolEnvironment: parts.inputs.toolEnvironment,
    registry: session.models.registry,
    scopedModels: parts.inputs.scope,
    toolsChanged: options.toolsChanged,
    ...movesOf(options),
    ...messagesOf(options),
    get log() {
      return conversation.log;
    },
    get model() {
      return session.models.model;
    },
    get thinkingLevel() {
      return session.models.thinkingLevel;
    },
    get signal() {
      return session.signal;
    },
    get isIdle() {
      return !session.isBusy;
    },
    get isProjectTrusted() {
      return session.isProjectTrusted;
    },
    get hasPendingMessages() {
      return agent.steering.size + agent.followUp.size > 0;
    },
    get pendingMessages() {
      return pendingMessages(agent);
    },
    get contextUsage() {
      return contextUsageOf(session.messages, session.models.model);
    },
    get systemPrompt() {
      return hooks.systemPrompt(systemPrompt);
    },
    get promptInput() {
      return promptInput;
    },
    get textCommands() {
      return options.textCommands();
    },
    async buildSystemPrompt() {
      systemPrompt = await session.buildSystemPrompt();
      promptInput = await options.resources.promptInput(session.tools.named);
      return systemPrompt;
    },
  };
}

type Move = "newSession" | "fork" | "navigateTree" | "switchSession" | "reload" | "shutdown";
type Change = "setModel" | "setThinkingLevel" | "setName" | "abort" | "compact" | "waitForIdle";
type ToolChoice = "allTools" | "activeTools" | "setActiveTools";

function movesOf(options: PortOptions): Pick<SessionPort, Move | Change | ToolChoice> {
  const { session, parts, hooks, resources, onShutdown } = options;
  const { navigation, models, tools } = session;
  return {
    async setModel(model) {
      if (!(await models.registry.isAvailable(model))) return false;
      await session.setModel(model);
      return true;
    },
    setThinkingLevel: (level) => session.setThinkingLevel(level),
    setName: (name) => session.setName(name),
    abort: () => void session.abort(),
    compact: ({ customInstructions }) => session.compact(customInstructions),
    waitForIdle: () => session.waitForIdle(),
    allTools: () =>
      tools.all.map(({ name, description, parameters, promptGuidelines }) => ({
        ...{ name, description, parameters },
        ...(promptGuidelines === undefined ? {} : { promptGuidelines }),
        sourceInfo: sourceOf(name, options.system),
      })),
    activeTools: () => tools.active.map(({ name }) => name),
    setActiveTools: (names) => tools.activate(names),
    newSession({ parentSession, setup }) {
      const write = setup && ((log: SessionLog) => setup(sessionWriter(() => log)));
      return navigation.newSession(parentSession, write);
    },
    fork: (entryId, { position }) =>
      navigation.fork(entryId, position === undefined ? {} : { position }),
    navigateTree: (targetId, move) => navigation.navigate(targetId, move),
    switchSession: (sessionPath) => navigation.switchSession(sessionPath),
    async reload() {
      if (session.isBusy) throw new SessionError("busy");
      await session.settings.reload();
      resources.reload();
      parts.requests.forgetSystemPrompt();
      await hooks.reload();
      return { cancelled: false };
    },
    shutdown() {
      if (onShutdown !== undefined) {
        void session.waitForIdle().then(() => setImmediate(onShutdown));
      }
    },
  };
}

type Message = "sendMessage" | "sendUserMessage" | "append" | "messagesWith" | "addEntries";

function messagesOf({ session, parts, hooks }: PortOptions): Pick<SessionPort, Message> {
  const { conversation } = parts;
  const runs = watchRuns(session);
  return {
    async sendMessage(message, { deliverAs, triggerTurn }) {
      const { content } = message;
      const fitted = typeof content === "string" ? content : fitContent(content, session.settings);
      // Text is delivered in the same turn of the event loop.
      const custom = customMessageOf({
        ...message,
        content: fitted instanceof Promise ? await fitted : fitted,
      });
      if (deliverAs === "nextTurn") return hooks.keepForNextTurn(custom);
      if (!session.isStreaming && triggerTurn !== true) return session.deliver(custom, "none");
      return session.deliver(custom, deliverAs ?? "steer");
    },
    async sendUserMessage(content, { deliverAs, expandPromptTemplates }) {
      if (session.isStreaming && deliverAs === undefined && !runs.isEnding) {
        const text = "A run is active: set deliverAs to steer it or to follow up";
        throw new ExtensionError("not_ready", text);
      }
      const isQueued = deliverAs !== undefined || session.isStreaming;
      const behavior = deliverAs === "steer" ? "steer" : isQueued ? "followUp" : undefined;
      const { text, images } = partsOf(content);
      await session.submit(text, {
        ...{ images, source: "extension", verbatim: expandPromptTemplates !== true },
        streamingBehavior: behavior,
      });
    },
    append: (entry) => conversation.append(entry),
    messagesWith: (drafts) => messagesWith(conversation, drafts),
    addEntries: (drafts) => addEntries(session, conversation, drafts),
  };
}

/** Extensions of older hosts start new work at the end of a run, when the run was already over there. */
function watchRuns(session: AgentSession): { readonly isEnding: boolean } {
  const runs = { isEnding: false };
  session.subscribe(({ type }) => {
    if (type === "agent_end") runs.isEnding = true;
    else if (type === "agent_start") runs.isEnding = false;
  });
  return runs;
}

function sourceOf(name: string, { runner }: ExtensionSystem): SourceInfo {
  const owner = runner.tools.find(({ tool }) => tool.name === name)?.extension;
  if (owner === undefined) {
    return { path: "", source: "builtin", scope: "temporary", origin: "top-level" };
  }
  return sourceInfoOf(owner);
}

function partsOf(content: string | UserContent[]): { text: string; images: ImageContent[] } {
  if (typeof content === "string") return { text: content, images: [] };
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const images = content.filter((block): block is ImageContent => block.type === "image");
  return { text: texts.join("\n"), images };
}
