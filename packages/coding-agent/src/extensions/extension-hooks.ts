import type { ToolHooks } from "@tau-agent/agent";
import type { BashResult, ExtensionUiResponse, SessionEntry } from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  CustomMessage,
  ImageContent,
  Model,
} from "@tau-agent/rpc-protocol/messages";
import { toPlainValue } from "@tau-agent/rpc-protocol/plain";
import { normalizeMessage, userText } from "@tau-agent/sessions/log";
import { type OutputFile, within } from "@tau-agent/system";
import { contextTokens } from "../compaction/estimate.ts";
import type {
  ChangeDetail,
  InputSource,
  InputText,
  RequestContext,
  SessionChange,
  SessionHooks,
  ShellRequest,
  TreeDecision,
  TreeMove,
} from "../run/session-hooks.ts";
import type { SlashCommandInfo } from "./api/api.ts";
import type { CustomMessageInput, ExtensionEventName } from "./api/events.ts";
import type { ExtensionSystem } from "./extension-system.ts";
import { askBoundary } from "./hooks/boundary.ts";
import { EventObserver } from "./hooks/event-observer.ts";
import {
  askBeforeStart,
  askContext,
  askInput,
  askProviderHeaders,
  askUserBash,
} from "./hooks/prompt-events.ts";
import type { ExtensionRunner } from "./hooks/runner.ts";
import { askBeforeSession, askResources } from "./hooks/session-events.ts";
import { renderSystemPromptOptions, systemPromptOptionsOf } from "./hooks/system-prompt-options.ts";
import { toolHooks } from "./hooks/tool-events.ts";
import { runDecidedShell } from "./hooks/user-bash.ts";
import type { SessionPort } from "./port/session-port.ts";
import type { UiPort } from "./ui/ui-port.ts";

/** How long extensions may delay the end of the host. */
const FAREWELL_MS = 2000;

export interface ExtensionHooksOptions {
  readonly system: ExtensionSystem;
  readonly place: { readonly cwd: string };
  readonly openOutput: () => OutputFile;
  readonly ui: UiPort;
  /** Adds the folders of skills and templates that extensions name. */
  readonly addResources: (paths: { skillPaths: string[]; promptPaths: string[] }) => void;
}

export class ExtensionHooks implements SessionHooks {
  readonly tools: ToolHooks;
  readonly decideCompaction: SessionHooks["decideCompaction"];
  readonly #options: ExtensionHooksOptions;
  #port: SessionPort | undefined;
  #prepare: () => Promise<void> = async () => {};
  #observer: EventObserver | undefined;
  #beginning: Promise<void> | undefined;
  #runPrompt: string | undefined;
  #nextTurn: CustomMessage[] = [];
  #hasEnded = false;

  constructor(options: ExtensionHooksOptions) {
    this.#options = options;
    this.tools = toolHooks(() => this.#runner, options.ui);
    this.decideCompaction = async (preparation, request, signal) => {
      const result = await askBeforeSession(this.#runner, {
        type: "session_before_compact",
        preparation: {
          ...preparation,
          tokensBefore: preparation.tokensBefore,
          fileOps: {
            read: new Set(preparation.files.readFiles),
            written: new Set(),
            edited: new Set(preparation.files.modifiedFiles),
          },
          settings: {},
        },
        branchEntries: this.#port?.log.tree.branch() ?? [],
        customInstructions: request.customInstructions,
        reason: request.reason,
        willRetry: request.willRetry ?? false,
        signal,
      });
      if (result.cancel) return { cancel: true };
      return result.compaction && { compaction: result.compaction };
    };
  }

  connect(port: SessionPort, prepare: () => Promise<void>): void {
    this.#port = port;
    this.#prepare = prepare;
    this.#observer = new EventObserver(() => this.#runner, port);
  }

  get observer(): EventObserver | undefined {
    return this.#observer;
  }

  get #runner(): ExtensionRunner {
    return this.#options.system.runner;
  }

  begin(): Promise<void> {
    this.#beginning ??= this.#begin();
    return this.#beginning;
  }

  async #begin(): Promise<void> {
    if (this.#port === undefined) return;
    await this.#options.system.bind(this.#port);
    await this.#discoverResources("startup");
    await this.#prepare();
    await this.#knowPrompt();
    // A host that ends during its start emits only the shutdown.
    if (!this.#hasEnded) await this.#runner.emit({ type: "session_start", reason: "startup" });
  }

  /** Extensions read the system prompt synchronously, so it must be built in advance. */
  async #knowPrompt(): Promise<void> {
    if (this.#options.system.mentions("getSystemPrompt")) await this.#port?.buildSystemPrompt();
  }

  findCommand(text: string) {
    const runner = this.#runner;
    const found = runner.findCommand(text);
    if (found === undefined) return undefined;
    const { command, args } = found;
    return { name: command.name, run: () => runner.runCommand(command, args) };
  }

  async changeInput(input: InputText, source: InputSource): Promise<InputText | undefined> {
    if (!this.#runner.has("input")) return input;
    const images = input.images as readonly ImageContent[] | undefined;
    return askInput(this.#runner, { text: input.text, ...(images && { images }) }, source);
  }

  async beforeRun(message: AgentMessage): Promise<AgentMessage[]> {
    const waiting = this.#nextTurn.splice(0);
    this.#runPrompt = undefined;
    if (!this.#runner.has("before_agent_start")) {
      await this.#knowPrompt();
      return waiting;
    }
    const port = this.#port;
    if (port === undefined) return waiting;
    const base = await port.buildSystemPrompt();
    const isUser = message.role === "user";
    const images = isUser ? imagesOf(message.content) : [];
    const { systemPrompt, messages } = await askBeforeStart(
      this.#runner,
      {
        text: isUser ? userText(message) : "",
        ...(images.length > 0 && { images }),
        messageType: isUser ? "user" : "custom",
      },
      {
        systemPrompt: base,
        options: systemPromptOptionsOf(port.promptInput),
        render: (options) => renderSystemPromptOptions(options, port.promptInput),
      },
    );
    if (systemPrompt !== base) this.#runPrompt = systemPrompt;
    return [...waiting, ...messages.map(customMessageOf)];
  }

  keepForNextTurn(message: CustomMessage): void {
    this.#nextTurn.push(message);
  }

  systemPrompt(base: string): string {
    return this.#runPrompt ?? base;
  }

  async headers(
    headers: Readonly<Record<string, string | null>>,
  ): Promise<Record<string, string | null>> {
    if (!this.#runner.has("before_provider_headers")) return { ...headers };
    return askProviderHeaders(this.#runner, headers);
  }

  changeContext(context: RequestContext): Promise<RequestContext> {
    return askContext(this.#runner, context);
  }

  wantsNextTurn(): boolean {
    return this.#observer?.takeTurnWish() ?? false;
  }

  async beforeSettle(outcome: "completed" | "error"): Promise<boolean> {
    if (this.#port === undefined || !this.#runner.has("agent_before_settle")) return false;
    return askBoundary(this.#runner, this.#port, { type: "agent_before_settle", outcome });
  }

  async finishMessage<Message extends AgentMessage>(message: Message): Promise<Message> {
    return this.#observer === undefined ? message : this.#observer.finish(message);
  }

  async isCancelled(change: SessionChange, detail: ChangeDetail): Promise<boolean> {
    await this.begin();
    const { targetPath, entryId = "", position = "before" } = detail;
    const result =
      change === "fork"
        ? await askBeforeSession(this.#runner, { type: "session_before_fork", entryId, position })
        : await askBeforeSession(this.#runner, {
            type: "session_before_switch",
            reason: change,
            targetSessionFile: targetPath,
          });
    return result.cancel ?? false;
  }

  leave(change: SessionChange, targetPath?: string): Promise<void> {
    const targetSessionFile = targetPath;
    return this.#options.system.shutdown({ reason: change, targetSessionFile });
  }

  async enter(change: SessionChange, previousPath: string | undefined): Promise<void> {
    if (this.#port === undefined) return;
    this.#nextTurn = [];
    this.#runPrompt = undefined;
    const words = { new: "a new session", resume: "a switch of session", fork: "a fork" };
    await this.#options.system.renew(words[change], this.#port);
    this.#port.toolsChanged();
    await this.#runner.emit({
      type: "session_start",
      reason: change,
      previousSessionFile: previousPath,
    });
    // Events for older extensions.
    const previousSessionFile = previousPath;
    await (change === "fork"
      ? this.#runner.emit({ type: "session_fork", previousSessionFile })
      : this.#runner.emit({ type: "session_switch", reason: change, previousSessionFile }));
  }

  hears(event: string): boolean {
    return this.#runner.has(event as ExtensionEventName);
  }

  async refresh(): Promise<void> {
    await this.#port?.reload();
  }

  async reload(): Promise<void> {
    if (this.#port === undefined) return;
    const { system } = this.#options;
    await system.shutdown({ reason: "reload" });
    await system.reload(this.#port);
    this.#port.toolsChanged();
    await this.#discoverResources("reload");
    await this.#prepare();
    await this.#runner.emit({ type: "session_start", reason: "reload" });
  }

  async decideMove(preparation: TreeMove, signal: AbortSignal): Promise<TreeDecision> {
    return askBeforeSession(this.#runner, { type: "session_before_tree", preparation, signal });
  }

  noteMove(
    oldLeafId: string | null,
    summaryEntry: SessionEntry | undefined,
    fromExtension: boolean,
  ): Promise<void> {
    const newLeafId = this.#port?.log.tree.leafId ?? null;
    return this.#runner.emit({
      type: "session_tree",
      newLeafId,
      oldLeafId,
      summaryEntry,
      fromExtension,
    });
  }

  async runShell(request: ShellRequest): Promise<BashResult | undefined> {
    if (!this.#runner.has("user_bash")) return undefined;
    const { command, excludeFromContext } = request;
    const { place, openOutput } = this.#options;
    const { cwd } = place;
    const decision = await askUserBash(this.#runner, { command, excludeFromContext, cwd });
    return decision && runDecidedShell(decision, request, { cwd, openOutput });
  }

  noteModel(model: Model, previousModel: Model | undefined, source: "set" | "cycle"): void {
    if (!this.#runner.has("model_select")) return;
    void this.#runner.emit({ type: "model_select", model, previousModel, source });
  }

  answer(response: ExtensionUiResponse): void {
    this.#options.ui.answer(response);
  }

  dismissDialogs(): void {
    this.#options.ui.settleAll("abort");
  }

  commandInfos(): SlashCommandInfo[] {
    return this.#runner.describedCommands;
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    const told = this.#options.system.shutdown({ reason: "quit" });
    // A handler that never returns must not keep the host from ending.
    await within(FAREWELL_MS, told);
  }

  async #discoverResources(reason: "startup" | "reload"): Promise<void> {
    if (!this.#runner.has("resources_discover")) return;
    const { place, addResources } = this.#options;
    const { cwd } = place;
    addResources(await askResources(this.#runner, { cwd, reason }));
  }
}

export function customMessageOf(message: CustomMessageInput): CustomMessage {
  const { customType, content, display, details } = message;
  const said = {
    role: "custom",
    customType,
    content,
    display: display ?? true,
    ...(details === undefined ? {} : { details }),
    timestamp: Date.now(),
  } as const;
  return normalizeMessage(toPlainValue(said)) as CustomMessage;
}

function imagesOf(content: unknown): ImageContent[] {
  const blocks = Array.isArray(content) ? (content as { type: string }[]) : [];
  return blocks.filter((block): block is ImageContent => block.type === "image");
}

export function contextUsageOf(messages: readonly AgentMessage[], model: Model | undefined) {
  if (model === undefined) return undefined;
  const tokens = contextTokens(messages);
  const { contextWindow } = model;
  return { tokens, contextWindow, percent: (tokens / contextWindow) * 100 };
}
