import type { Model, ThinkingLevel, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { CommandInfo } from "../../resources/list-commands.ts";
import type { CommandContext, ExtensionContext } from "./context.ts";
import type {
  CustomMessageInput,
  ExtensionEvent,
  ExtensionEventMap,
  ExtensionEventName,
  ExtensionEventResult,
  RegisteredMcpServer,
} from "./events.ts";
import type { ProviderConfig } from "./models.ts";
import type { NativeProvider } from "./native-provider.ts";
import type { ExtensionTool, ToolInfo } from "./tool.ts";
import type { VirtualModel } from "./virtual-model.ts";

/** Handles one kind of event; its return value may change what happens. */
export type ExtensionHandler<Name extends keyof ExtensionEventMap> = (
  event: ExtensionEvent<Name>,
  context: ExtensionContext,
) =>
  | ExtensionEventResult<Name>
  | undefined
  | void
  // biome-ignore lint/suspicious/noConfusingVoidType: as above
  | Promise<ExtensionEventResult<Name> | undefined | void>;

/** When to deliver a message sent during a run. */
export interface DeliveryOptions {
  readonly deliverAs?: "steer" | "followUp" | "nextTurn" | undefined;
}

/** A completion of a command's argument. */
interface ArgumentCompletion {
  readonly value: string;
  readonly label: string;
  readonly description?: string | undefined;
}

/** A slash command; `args` is the text after its name. */
export interface ExtensionCommand {
  readonly description?: string | undefined;
  readonly getArgumentCompletions?:
    | ((
        prefix: string,
      ) => readonly ArgumentCompletion[] | null | Promise<readonly ArgumentCompletion[] | null>)
    | undefined;
  readonly handler: (args: string, context: CommandContext) => unknown;
}

/** A command-line flag of an extension. */
export interface ExtensionFlag {
  readonly type: "boolean" | "string";
  readonly description?: string | undefined;
  readonly default?: boolean | string | undefined;
}

/** A key binding; listed, but never triggered without a terminal. */
export interface ExtensionShortcut {
  readonly description?: string | undefined;
  readonly handler: (context: ExtensionContext) => unknown;
}

/** Options of `exec`. */
export interface ExecOptions {
  readonly cwd?: string | undefined;
  /** Milliseconds, after which the command and its children are killed. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The maximum bytes to keep of each stream; 10 MiB by default. */
  readonly maxBuffer?: number | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The result of a command run by `exec`. */
export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Exit code; 1 if the command was killed or could not be started. */
  readonly code: number;
  readonly killed: boolean;
  /** Whether output was dropped. */
  readonly truncated: boolean;
}

/** A command in the list of `getCommands`. */
export type SlashCommandInfo = CommandInfo;

/** Messages between extensions. */
export interface ExtensionEvents {
  on(channel: string, handler: (data: unknown) => unknown): () => void;
  emit(channel: string, data?: unknown): void;
}

/** The intersection of all members of a union. */
type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** One overload for each event, so that literals in a handler's return value keep their types. */
type AddHandler = Intersection<
  {
    [Name in ExtensionEventName]: (event: Name, handler: ExtensionHandler<Name>) => () => void;
  }[ExtensionEventName]
>;

/** The API that an extension's factory receives. */
export interface ExtensionApi {
  /** Adds a handler and returns a function that removes it. */
  readonly on: AddHandler;
  registerTool<Parameters>(tool: ExtensionTool<Parameters>): void;
  registerCommand(name: string, command: ExtensionCommand): void;
  registerShortcut(shortcut: string, options: ExtensionShortcut): void;
  registerFlag(name: string, flag: ExtensionFlag): void;
  getFlag(name: string): boolean | string | undefined;
  registerMessageRenderer(customType: string, renderer: unknown): void;
  registerEntryRenderer(customType: string, renderer: unknown): void;
  registerMarkdownTransformer(transformer: unknown): () => void;
  registerToolRenderer(resolver: unknown): () => void;
  registerProvider(name: string, config: ProviderConfig): void;
  /** Registers a provider that finds its keys and streams itself, replacing any provider with its id. */
  registerProvider(provider: NativeProvider): void;
  unregisterProvider(name: string): void;
  registerMcpServer(name: string, config: unknown): void;
  unregisterMcpServer(name: string): void;
  /**
   * The servers registered by all extensions. An extension that handles `mcp_servers_change` connects to them itself.
   */
  getMcpServers(): RegisteredMcpServer[];
  registerVirtualModel(definition: VirtualModel): void;
  unregisterVirtualModel(provider: string, id: string): void;
  sendMessage(
    message: CustomMessageInput,
    options?: DeliveryOptions & { readonly triggerTurn?: boolean | undefined },
  ): void;
  sendUserMessage(
    content: string | UserContent[],
    options?: DeliveryOptions & { readonly expandPromptTemplates?: boolean | undefined },
  ): void;
  appendEntry(customType: string, data?: unknown): void;
  setSessionName(name: string): void;
  getSessionName(): string | undefined;
  setLabel(entryId: string, label: string | undefined): void;
  exec(command: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  getActiveTools(): string[];
  getAllTools(): ToolInfo[];
  setActiveTools(names: readonly string[]): void;
  getCommands(): SlashCommandInfo[];
  /** False if the model's provider has no key. */
  setModel(model: Model): Promise<boolean>;
  getThinkingLevel(): ThinkingLevel;
  setThinkingLevel(level: ThinkingLevel): void;
  getSettings(): Readonly<Record<string, unknown>>;
  readonly events: ExtensionEvents;
}

/** The default export of an extension's module. */
export type ExtensionFactory = (pi: ExtensionApi) => unknown;
