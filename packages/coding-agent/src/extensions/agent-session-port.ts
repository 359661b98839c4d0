import type { ImageContent, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { AgentSession } from "../agent-session.ts";
import { SessionError } from "../errors.ts";
import { fitContent } from "../fit-content.ts";
import type { PromptResources } from "../prompt/resources.ts";
import type { SystemPromptInput } from "../prompt/system-prompt.ts";
import type { SourceInfo } from "./api/tool.ts";
import type { SlashCommandInfo } from "./api.ts";
import { ExtensionError } from "./errors.ts";
import type { ExecEnvironment } from "./exec.ts";
import { contextUsageOf, customMessageOf, type ExtensionHooks } from "./extension-hooks.ts";
import type { ExtensionSystem } from "./extension-system.ts";
import { addEntries, messagesWith, pendingMessages } from "./session-entries.ts";
import type { SessionPort } from "./session-port.ts";
import { sessionWriter } from "./session-view.ts";
import { sourceInfoOf } from "./source-info.ts";

/** What a {@link createSessionPort} works with. */
export interface PortOptions {
  readonly session: AgentSession;
  readonly system: ExtensionSystem;
  readonly hooks: ExtensionHooks;
  readonly resources: PromptResources;
  readonly execEnvironment: ExecEnvironment;
  readonly scopedModels: SessionPort["scopedModels"];
  readonly textCommands: () => readonly SlashCommandInfo[];
  /** Ends the host; without it the wish is ignored. */
  readonly onShutdown: (() => void) | undefined;
  readonly toolsChanged: () => void;
}

/** Lets extensions act on a session. */
export function createSessionPort(options: PortOptions): SessionPort {
  const { session, system } = options;
  let systemPrompt = "";
  let promptInput: SystemPromptInput = { tools: [], cwd: options.execEnvironment.cwd };
  const state = Object.defineProperties({} as SessionPortState, {
    ...getters({
      log: () => session.log,
      model: () => session.models.model,
      thinkingLevel: () => session.models.thinkingLevel,
      signal: () => session.driver.signal,
      isIdle: () => !session.driver.isBusy,
      isProjectTrusted: () => session.isProjectTrusted,
      hasPendingMessages: () => session.agent.steering.size + session.agent.followUp.size > 0,
      pendingMessages: () => pendingMessages(session),
      contextUsage: () => contextUsageOf(session.messages, session.models.model),
      systemPrompt: () => options.hooks.systemPrompt(systemPrompt),
      promptInput: () => promptInput,
      textCommands: () => options.textCommands(),
    }),
  });
  const fixed = {
    registry: session.models.registry,
    settings: session.settings,
    stream: system.stream,
    execEnvironment: options.execEnvironment,
    scopedModels: options.scopedModels,
    buildSystemPrompt: async () => {
      systemPrompt = await session.requests.systemPrompt();
      promptInput = await options.resources.promptInput(session.tools.active);
      return systemPrompt;
    },
  };
  return Object.defineProperties(
    { ...fixed, ...sessionActions(session), ...messageActions(options), ...hostActions(options) },
    Object.getOwnPropertyDescriptors(state),
  ) as unknown as SessionPort;
}

type SessionPortState = Pick<
  SessionPort,
  | "log"
  | "model"
  | "thinkingLevel"
  | "signal"
  | "isIdle"
  | "isProjectTrusted"
  | "hasPendingMessages"
  | "pendingMessages"
  | "contextUsage"
  | "systemPrompt"
  | "promptInput"
  | "textCommands"
>;

function getters(values: { [Name in keyof SessionPortState]: () => SessionPortState[Name] }) {
  return Object.fromEntries(
    Object.entries(values).map(([name, get]) => [name, { get, enumerable: true }]),
  );
}

function sessionActions(session: AgentSession) {
  const { navigation, models } = session;
  return {
    setModel: async (model: Parameters<SessionPort["setModel"]>[0]) => {
      if (!(await models.registry.isAvailable(model))) return false;
      models.use(model);
      return true;
    },
    setThinkingLevel: (level: Parameters<SessionPort["setThinkingLevel"]>[0]) =>
      models.setThinkingLevel(level),
    abort: () => void session.abort(),
    compact: ({ customInstructions }: { customInstructions?: string | undefined }) =>
      session.compact(customInstructions),
    append: (entry: Parameters<SessionPort["append"]>[0]) => session.log.append(entry),
    messagesWith: (drafts: Parameters<SessionPort["messagesWith"]>[0]) =>
      messagesWith(session, drafts),
    addEntries: (drafts: Parameters<SessionPort["addEntries"]>[0]) => addEntries(session, drafts),
    setName: (name: string) => session.setName(name),
    waitForIdle: () => session.waitForIdle(),
    newSession: ({ parentSession, setup }: Parameters<SessionPort["newSession"]>[0]) =>
      navigation.newSession(parentSession, setup && ((log) => setup(sessionWriter(() => log)))),
    fork: (entryId: string, { position }: Parameters<SessionPort["fork"]>[1]) =>
      navigation.fork(entryId, position === undefined ? {} : { position }),
    navigateTree: (targetId: string, options: Parameters<SessionPort["navigateTree"]>[1]) =>
      navigation.navigate(targetId, options),
    switchSession: (path: string) => navigation.switchSession(path),
  };
}

function messageActions({
  session,
  hooks,
}: PortOptions): Pick<SessionPort, "sendMessage" | "sendUserMessage"> {
  const runs = watchRuns(session);
  return {
    sendMessage: async (message, { deliverAs, triggerTurn }) => {
      const { content } = message;
      const fitted = typeof content === "string" ? content : fitContent(content, session.settings);
      // Text stays in its turn of the event loop.
      const custom = customMessageOf({
        ...message,
        content: fitted instanceof Promise ? await fitted : fitted,
      });
      if (deliverAs === "nextTurn") return hooks.keepForNextTurn(custom);
      if (!session.isStreaming && triggerTurn !== true) return session.deliver(custom, "none");
      return session.deliver(custom, deliverAs ?? "steer");
    },
    sendUserMessage: async (content, { deliverAs, expandPromptTemplates }) => {
      if (session.isStreaming && deliverAs === undefined && !runs.isEnding) {
        const text = "A run is active: set deliverAs to steer it or to follow up";
        throw new ExtensionError("not_ready", text);
      }
      const isQueued = deliverAs !== undefined || session.isStreaming;
      const behavior = deliverAs === "steer" ? "steer" : isQueued ? "followUp" : undefined;
      const { text, images } = partsOf(content);
      await session.submit(text, {
        images,
        source: "extension",
        isVerbatim: expandPromptTemplates !== true,
        streamingBehavior: behavior,
      });
    },
  };
}

/** Extensions of older hosts go on from the end of a run, which was over by then. */
function watchRuns(session: AgentSession): { readonly isEnding: boolean } {
  const runs = { isEnding: false };
  session.subscribe(({ type }) => {
    if (type === "agent_end") runs.isEnding = true;
    else if (type === "agent_start") runs.isEnding = false;
  });
  return runs;
}

function hostActions(
  options: PortOptions,
): Pick<
  SessionPort,
  "shutdown" | "allTools" | "activeTools" | "setActiveTools" | "toolsChanged" | "reload"
> {
  const { session, hooks, resources, onShutdown } = options;
  return {
    shutdown: () => {
      if (onShutdown === undefined) return;
      void session.waitForIdle().then(() => setImmediate(onShutdown));
    },
    allTools: () =>
      session.tools.all.map(({ name, description, parameters, promptGuidelines }) => ({
        name,
        description,
        parameters,
        ...(promptGuidelines === undefined ? {} : { promptGuidelines }),
        sourceInfo: sourceOf(name, options.system),
      })),
    activeTools: () => session.tools.active.map(({ name }) => name),
    setActiveTools: (names) => session.tools.activate(names),
    toolsChanged: options.toolsChanged,
    reload: async () => {
      if (session.driver.isBusy) throw new SessionError("busy");
      await session.settings.reload();
      resources.reload();
      session.requests.forgetSystemPrompt();
      await hooks.reload();
      return { cancelled: false };
    },
  };
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
