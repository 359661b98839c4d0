import type { AgentOptions, ToolHooks } from "@tau-agent/agent";
import type { BashResult, ExtensionUiResponse, SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage, ImageInput, Model } from "@tau-agent/rpc-protocol/messages";
import type { OutputMask } from "@tau-agent/system";
import type { CompactionDecision, CompactionRequest } from "../compaction/compaction.ts";
import type { CompactionPreparation } from "../compaction/prepare.ts";
import type { CommandInfo } from "../resources/list-commands.ts";

/** A user's input as it arrived. */
export interface InputText {
  readonly text: string;
  readonly images?: readonly ImageInput[] | undefined;
}

/** The source of an input, and how it will be delivered. */
export interface InputSource {
  readonly source: "interactive" | "rpc" | "extension";
  readonly streamingBehavior?: "steer" | "followUp" | undefined;
}

/** The parts of a model request that extensions may change. */
export interface RequestContext {
  readonly messages: readonly AgentMessage[];
  readonly systemPrompt: string;
}

/** Why a session replaces another. */
export type SessionChange = "new" | "resume" | "fork";

/** A move within the tree of a session. */
export interface TreeMove {
  readonly targetId: string;
  readonly oldLeafId: string | null;
  readonly commonAncestorId: string | null;
  readonly entriesToSummarize: readonly SessionEntry[];
  readonly userWantsSummary: boolean;
  readonly customInstructions?: string | undefined;
  readonly replaceInstructions?: boolean | undefined;
  readonly label?: string | undefined;
}

export interface TreeDecision {
  readonly cancel?: boolean | undefined;
  readonly summary?: { readonly summary: string; readonly details?: unknown } | undefined;
  readonly customInstructions?: string | undefined;
  readonly replaceInstructions?: boolean | undefined;
  readonly label?: string | undefined;
}

/** Runs a client's shell command in the usual way. */
export interface ShellRequest {
  readonly command: string;
  readonly excludeFromContext: boolean;
  readonly signal: AbortSignal;
  readonly onDelta?: ((delta: string) => void | Promise<void>) | undefined;
  /** Masks keys in the output that is kept; deltas have their own mask. */
  readonly mask?: OutputMask | undefined;
}

/** Where extensions can observe and change a session. Undefined for a session without extensions. */
export interface SessionHooks {
  readonly tools: ToolHooks;
  /** Announces the start of the session, once; resolves when all handlers are done. */
  begin(): Promise<void>;
  /** The command that a prompt invokes; it runs at once. */
  findCommand(text: string): { readonly name: string; run(): Promise<void> } | undefined;
  /** Undefined if an extension handled the input. */
  changeInput(input: InputText, source: InputSource): Promise<InputText | undefined>;
  /** Returns messages to send along with the one that begins a run; also determines the run's system prompt. */
  beforeRun(message: AgentMessage): Promise<AgentMessage[]>;
  /** The system prompt of the current run. */
  systemPrompt(base: string): string;
  headers(headers: Readonly<Record<string, string | null>>): Promise<Record<string, string | null>>;
  changeContext(context: RequestContext): Promise<RequestContext>;
  /** Whether another turn follows the last one, whatever its outcome. */
  wantsNextTurn(): boolean;
  /** Whether a run with nothing left to do continues anyway. */
  beforeSettle(outcome: "completed" | "error"): Promise<boolean>;
  /** Returns a message as it will be stored. */
  finishMessage<Message extends AgentMessage>(message: Message): Promise<Message>;
  /** Whether the change is cancelled. */
  isCancelled(change: SessionChange, detail: ChangeDetail): Promise<boolean>;
  /** Called before another session replaces this one. */
  leave(change: SessionChange, targetPath?: string): Promise<void>;
  /** Called after another session has replaced this one. */
  enter(change: SessionChange, previousPath: string | undefined): Promise<void>;
  decideMove(move: TreeMove, signal: AbortSignal): Promise<TreeDecision>;
  noteMove(
    oldLeafId: string | null,
    summaryEntry: SessionEntry | undefined,
    isOurs: boolean,
  ): Promise<void>;
  decideCompaction(
    preparation: CompactionPreparation & { readonly tokensBefore: number },
    request: CompactionRequest,
    signal: AbortSignal,
  ): Promise<CompactionDecision>;
  /** A result that replaces the command; undefined to run the command. */
  runShell(request: ShellRequest): Promise<BashResult | undefined>;
  noteModel(model: Model, previous: Model | undefined, source: "set" | "cycle"): void;
  /** A client's answer to a dialog; late and unknown ones are ignored. */
  answer(response: ExtensionUiResponse): void;
  /** Commands that run at once, for the list of commands. */
  commandInfos(): CommandInfo[];
  /** Dismisses open dialogs because their run was aborted. */
  dismissDialogs(): void;
  /** Whether any handler listens to an event of this name. */
  hears(event: string): boolean;
  /**
   * Reloads settings, texts and extensions.
   *
   * @throws {SessionError} `busy` during a run
   */
  refresh(): Promise<void>;
  /** Called when the session ends for good. */
  end(): Promise<void>;
}

/** A planned change, for handlers that may cancel it. */
export interface ChangeDetail {
  readonly targetPath?: string | undefined;
  readonly entryId?: string | undefined;
  readonly position?: "before" | "at" | undefined;
}

export function loopHooks(
  hooks: SessionHooks,
  {
    messages,
    toLlmMessages,
    replaced,
  }: Pick<AgentOptions, "toLlmMessages"> & {
    readonly replaced: (from: AgentMessage, to: AgentMessage) => void;
    readonly messages: () => readonly AgentMessage[];
  },
): Pick<AgentOptions, "transformContext" | "replaceMessage" | "wantsNextTurn"> {
  return {
    replaceMessage: async (message) => {
      const finished = await hooks.finishMessage(message);
      replaced(message, finished);
      return finished;
    },
    wantsNextTurn: () => hooks.wantsNextTurn(),
    transformContext: async (context) => {
      const given = { messages: messages(), systemPrompt: context.systemPrompt ?? "" };
      const chosen = await hooks.changeContext(given);
      if (chosen === given) return context;
      const { systemPrompt } = chosen;
      return { ...context, systemPrompt, messages: toLlmMessages(chosen.messages) };
    },
  };
}
