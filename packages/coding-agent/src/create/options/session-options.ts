import type { AgentTool, ToolExecutionMode } from "@tau-agent/agent";
import type { StreamFunction } from "@tau-agent/ai";
import type { CustomProvider, KeptCredentials } from "@tau-agent/models";
import type {
  AnswerQuestions,
  Approve,
  GetCredentials,
  ManagedPolicy,
  RaiseBudget,
  WorkspaceChoice,
} from "@tau-agent/rpc-protocol";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { Workspace, WorkspaceOwner } from "@tau-agent/rpc-protocol/workspace";
import type { SessionStore } from "@tau-agent/sessions";
import type { SessionStart } from "@tau-agent/sessions/log";
import type {
  DiagnosticsEntry,
  SandboxChange,
  SandboxSecret,
  ServingClients,
  SettingsStore,
} from "@tau-agent/system";
import type { RewindOptions } from "@tau-agent/worktrees";
import type { PermissionChange } from "../../permissions/permission-settings.ts";
import type { PromptResourcesOptions } from "../../resources/read-resources.ts";
import type { TaskOptions } from "../../subagents/session-tasks.ts";
import type { TelemetryOptions } from "../../telemetry/session-telemetry.ts";
import type { ToolSelection } from "../../tools/tool-selection.ts";
import type { ExtensionOptions } from "./extension-options.ts";
import type { SessionSharing } from "./session-sharing.ts";
import type { SessionChoice } from "./session-start.ts";

/** Texts of the system prompt and the places they come from. */
export type PromptOptionsOfSession = Omit<
  PromptResourcesOptions,
  | "settings"
  | "agentDirectory"
  | "cwd"
  | "disk"
  | "additionalDirectories"
  | "homeDirectory"
  | "packagePaths"
  | "workingFolder"
  | "baseDirectory"
>;

/** Options of `createAgentSession`. Only `cwd` is required. */
export interface CreateAgentSessionOptions extends TaskOptions {
  /** The project's directory, in which tools work. Required, unless `workspace` names one. */
  readonly cwd?: string | undefined;
  /**
   * Where tools act: a workspace, how to reach one, or its name in the user's settings. By default the
   * machine of this process.
   */
  readonly workspace?: Workspace | WorkspaceChoice | undefined;
  /** For hosts: a client chose the workspace. While a sandbox limits the session, it may only name one. */
  readonly isWorkspaceOfClient?: boolean | undefined;
  /** For hosts: the connected clients, of which one serves a workspace of the client. */
  readonly clientPlace?: ServingClients | undefined;
  /**
   * More folders that the work is about. The model and MCP servers learn of them, and the permission mode
   * `acceptEdits` lets files in them be edited. The sandbox stays as it is.
   */
  readonly additionalDirectories?: readonly string[] | undefined;
  /** Base of relative paths in the other options; by default `cwd`, or your home in a workspace elsewhere. */
  readonly baseDirectory?: string | undefined;
  /** Environment variables for keys and commands; nothing is read from the process itself. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** `~/.pi/agent` by default. */
  readonly agentDirectory?: string | undefined;
  readonly homeDirectory?: string | undefined;
  readonly temporaryDirectory?: string | undefined;
  /** With `scripted`, the model plays the scenario file that `model` names, or a short one. */
  readonly provider?: string | undefined;
  /** A pattern such as `sonnet` or `anthropic/claude-*`, or a model of your own. */
  readonly model?: string | Model | undefined;
  /**
   * Models, as `provider/id`, that answer in this order when the chosen one fails and its retries are used
   * up; by default those of the settings.
   */
  readonly fallbackModels?: readonly string[] | undefined;
  /** Patterns of the models to cycle through. */
  readonly models?: readonly string[] | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /**
   * Whether model servers on this machine are asked when no model with a key is named, or always.
   * Default never.
   */
  readonly findLocalServers?: boolean | "always" | undefined;
  /** A key for the chosen provider, for this session only. */
  readonly apiKey?: string | undefined;
  /**
   * Gives the keys of providers, before the environment and `auth.json`. Without it, the client of
   * `session.requests` is asked, if it answers that.
   */
  readonly credentials?: GetCredentials | undefined;
  /**
   * The conversation: `memory` writes no file, `continue` goes on with the latest of the folder, and a
   * path names a session file, as in `RpcClient`; `kind` says more. A new one by default.
   */
  readonly session?: SessionChoice | undefined;
  /**
   * The store that sessions live in, instead of files; or its URL, or a module that makes one. A store
   * that is given stays open when the session ends.
   */
  readonly store?: SessionStore | string | undefined;
  /** Called once it is clear whether sessions live in a store, before one is opened. May throw. */
  readonly beforeOpen?: ((place: { readonly isStored: boolean }) => void) | undefined;
  /** The project in the store; the name of the folder that files of `cwd` would have by default. */
  readonly projectKey?: string | undefined;
  /** How long a lease of the store lasts; by default the setting `session.leaseMs`. */
  readonly leaseMs?: number | undefined;
  /** Folder for session files, used exactly as given. */
  readonly sessionDirectory?: string | undefined;
  readonly name?: string | undefined;
  /**
   * Lays something over this machine where tools act on it, such as the files of an editor; for one call of
   * `bash`, too. Not for subagents.
   */
  readonly overlay?: ((local: Workspace, toolCallId?: string) => Workspace) | undefined;
  /** Which built-in tools are active; all by default. */
  readonly tools?: ToolSelection | undefined;
  /**
   * Whether the calls of a reply run one after the other, except for neighbours that only read, or
   * all together, except for those that write one file; as the setting `toolExecution` says by
   * default.
   */
  readonly toolExecution?: ToolExecutionMode | undefined;
  /** Tools of your own; one with the name of a built-in tool replaces it. */
  readonly customTools?: readonly (AgentTool & { readonly readOnly?: boolean })[] | undefined;
  readonly prompt?: PromptOptionsOfSession | undefined;
  /** Providers in addition to the built-in ones and those of models.json. */
  readonly providers?: readonly CustomProvider[] | undefined;
  /** Sends the requests to models; by default with the built-in wire formats. */
  readonly stream?: StreamFunction | undefined;
  /** Settings to use instead of the files. */
  readonly settings?: SettingsStore | undefined;
  /** The user's code that extends the session; without this no extension is looked for. */
  readonly extensions?: ExtensionOptions | undefined;
  /** What looks for problems in changed files, instead of the settings; subagents have it, too. */
  readonly diagnostics?: { readonly entries: readonly DiagnosticsEntry[] } | undefined;
  /** The sandbox of commands and file tools, instead of that in the user's settings. */
  readonly sandbox?: SandboxChange | undefined;
  /**
   * What survives the death of this process: the conversation (`log`), or also what tools do, each of it
   * once (`effects`); as the setting says by default.
   */
  readonly durability?: "log" | "effects" | undefined;
  /** How long a command waits for the next host when this one died, in ms; as the setting says by default. */
  readonly durabilityAdoptMs?: number | undefined;
  /** The most replies of a prompt before it pauses; as the setting says by default. */
  readonly maxTurns?: number | undefined;
  /** Whether an unfinished prompt of an earlier host goes on when the session is opened. */
  readonly resume?: "auto" | undefined;
  /** Credentials that commands in the sandbox use and never see, besides those of settings and `sandbox`. */
  readonly secrets?: readonly SandboxSecret[] | undefined;
  /** Files that no tool opens and nothing in the sandbox reads, such as the token of a server that embeds the session. */
  readonly secretFiles?: readonly string[] | undefined;
  /**
   * Processes that are the same host as this one, such as the one that has started it: nothing in the sandbox
   * reaches the ports and sockets at which they listen.
   */
  readonly hostProcesses?: readonly number[] | undefined;
  /** MCP servers besides those of mcp.json, by name, with the members of an entry there. */
  readonly mcpServers?: Readonly<Record<string, unknown>> | undefined;
  /** Which configured MCP servers are used. */
  readonly mcp?:
    | {
        /** None at all. */
        readonly isOff?: boolean | undefined;
        /** Only those of these names. */
        readonly only?: readonly string[] | undefined;
      }
    | undefined;
  /** What sessions with the same one share. By default a session shares it with its subagents only. */
  readonly sharing?: SessionSharing | undefined;
  /**
   * What this session and its subagents may at most, whatever settings, projects, extensions, commands and
   * answers say; several narrow each other.
   */
  readonly policy?: ManagedPolicy | readonly ManagedPolicy[] | undefined;
  /** The mode and rules to begin with, besides those of settings files. */
  readonly permissions?: PermissionChange | undefined;
  /**
   * Decides about calls that need an approval. Without it, and without a client, such calls are denied at
   * once.
   */
  readonly approve?: Approve | undefined;
  /**
   * Decides about limits that are used up, where `onExceeded` is `ask`. Without it, and without a client,
   * the work is stopped.
   */
  readonly raiseBudget?: RaiseBudget | undefined;
  /**
   * Answers what the model asks with `ask_user`, its own questions and those of subagents. Without it, and
   * without a client that answers, the model has no such tool.
   */
  readonly answerQuestions?: AnswerQuestions | undefined;
  /**
   * For hosts: a client is attached to `session.requests`, and can be asked once this is fulfilled. Questions
   * that an earlier host left open are asked again then.
   */
  readonly clientReady?: Promise<void> | undefined;
  /** Whether and how files are recorded before a prompt changes them; as the settings say by default. */
  readonly rewind?: RewindOptions | undefined;
  /**
   * Whether mistakes end the start that are diagnostics by default: a settings.json, auth.json or
   * models.json that is broken, and an unknown tool in `tools.only`.
   */
  readonly refusesMistakes?: boolean | undefined;
  /** Whether the session makes OpenTelemetry spans; as the settings say by default. */
  readonly telemetry?: TelemetryOptions | undefined;
  /** The agent as spans name it; `tau` by default. */
  readonly agentName?: string | undefined;
  /** Trusts the project or not, regardless of saved decisions. */
  readonly trustProject?: boolean | undefined;
}

/** The options as a session is made from them. */
export type SessionSetup = Omit<CreateAgentSessionOptions, "session" | "credentials"> & {
  readonly session?: SessionStart | undefined;
  /** Subagents change things for the session that they work for. */
  readonly durableOwner?: (() => WorkspaceOwner) | undefined;
  /** Subagents in this process share those of their caller. */
  readonly credentials?: GetCredentials | KeptCredentials | undefined;
};
