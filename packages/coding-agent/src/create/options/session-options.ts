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

/** The texts of the system prompt, and the folders to load them from. */
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
  /** The project's directory, in which tools work. Required unless `workspace` has one. */
  readonly cwd?: string | undefined;
  /**
   * Where tools act: a workspace, a way to reach one, or its name in the user's settings. Default: the machine of this
   * process.
   */
  readonly workspace?: Workspace | WorkspaceChoice | undefined;
  /**
   * For hosts: whether a client chose the workspace. While a sandbox limits the session, the client can only use names.
   */
  readonly isWorkspaceOfClient?: boolean | undefined;
  /** For hosts: the connected clients, one of which may serve its own workspace. */
  readonly clientPlace?: ServingClients | undefined;
  /**
   * Additional folders for the work. The model and MCP servers receive them, and the permission mode `acceptEdits` lets
   * files in them be edited. The sandbox stays the same.
   */
  readonly additionalDirectories?: readonly string[] | undefined;
  /**
   * The base for relative paths in the other options. Default: `cwd`, or your home directory for a remote workspace.
   */
  readonly baseDirectory?: string | undefined;
  /** The environment variables for keys and commands; the process's own environment is not read. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default: `~/.pi/agent`. */
  readonly agentDirectory?: string | undefined;
  readonly homeDirectory?: string | undefined;
  readonly temporaryDirectory?: string | undefined;
  /** With `scripted`, the model plays the scenario file that `model` names, or a short built-in one. */
  readonly provider?: string | undefined;
  /** A pattern such as `sonnet` or `anthropic/claude-*`, or a model of your own. */
  readonly model?: string | Model | undefined;
  /**
   * Models, as `provider/id`, that answer in this order when the chosen model still fails after its retries. Default:
   * those of the settings.
   */
  readonly fallbackModels?: readonly string[] | undefined;
  /** Patterns of the models to cycle through. */
  readonly models?: readonly string[] | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /**
   * Whether to ask model servers on this machine: never (default), if no model with a key is named
   * (`true`), or always.
   */
  readonly findLocalServers?: boolean | "always" | undefined;
  /** A key for the chosen provider, for this session only. */
  readonly apiKey?: string | undefined;
  /**
   * Provides the keys of providers, before the environment and `auth.json`. Without it, the client
   * of `session.requests` is asked, if it supports that.
   */
  readonly credentials?: GetCredentials | undefined;
  /**
   * The conversation: `memory` writes no file, `continue` resumes the folder's latest session, and a path names a
   * session file, as in `RpcClient`; an object with `kind` is more specific. Default: a new session.
   */
  readonly session?: SessionChoice | undefined;
  /**
   * The store for sessions, instead of files: a store, its URL, or a module that creates one. A store passed as an
   * object stays open when the session ends.
   */
  readonly store?: SessionStore | string | undefined;
  /** Called before a session is opened, once it is known whether sessions are in a store. May throw. */
  readonly beforeOpen?: ((place: { readonly isStored: boolean }) => void) | undefined;
  /** The project's key in the store. Default: the name that the folder of its session files would have. */
  readonly projectKey?: string | undefined;
  /** The duration of a lease in the store. Default: the setting `session.leaseMs`. */
  readonly leaseMs?: number | undefined;
  /** Folder for session files, used exactly as given. */
  readonly sessionDirectory?: string | undefined;
  readonly name?: string | undefined;
  /**
   * Wraps this machine for tools, for instance to use an editor's files; may differ for a single call of `bash`. Not
   * used for subagents.
   */
  readonly overlay?: ((local: Workspace, toolCallId?: string) => Workspace) | undefined;
  /** Which built-in tools are active; all by default. */
  readonly tools?: ToolSelection | undefined;
  /**
   * How the calls of a reply run: one after the other, except for adjacent read-only calls, or all
   * in parallel, except for calls that write the same file. Default: the setting `toolExecution`.
   */
  readonly toolExecution?: ToolExecutionMode | undefined;
  /** Custom tools; one with the name of a built-in tool replaces it. */
  readonly customTools?: readonly (AgentTool & { readonly readOnly?: boolean })[] | undefined;
  readonly prompt?: PromptOptionsOfSession | undefined;
  /** Providers in addition to the built-in ones and those of models.json. */
  readonly providers?: readonly CustomProvider[] | undefined;
  /** Sends the requests to models; by default with the built-in wire formats. */
  readonly stream?: StreamFunction | undefined;
  /** Settings to use instead of the files. */
  readonly settings?: SettingsStore | undefined;
  /** The user's extensions; without this option, no extensions are loaded. */
  readonly extensions?: ExtensionOptions | undefined;
  /** The checks for changed files, instead of those in the settings; also used by subagents. */
  readonly diagnostics?: { readonly entries: readonly DiagnosticsEntry[] } | undefined;
  /** The sandbox for commands and file tools, instead of that in the user's settings. */
  readonly sandbox?: SandboxChange | undefined;
  /**
   * What survives the death of this process: the conversation (`log`), or also the effects of tools, each exactly once
   * (`effects`). Default: the setting.
   */
  readonly durability?: "log" | "effects" | undefined;
  /** How long a command waits for the next host after this one has died, in ms. Default: the setting. */
  readonly durabilityAdoptMs?: number | undefined;
  /** The maximum number of replies before a prompt pauses. Default: the setting. */
  readonly maxTurns?: number | undefined;
  /** Whether an earlier host's unfinished prompt continues when the session is opened. */
  readonly resume?: "auto" | undefined;
  /**
   * Credentials that sandboxed commands can use without seeing them, in addition to those of settings and `sandbox`.
   */
  readonly secrets?: readonly SandboxSecret[] | undefined;
  /** Files that no tool opens and nothing in the sandbox can read, such as the token of an embedding server. */
  readonly secretFiles?: readonly string[] | undefined;
  /**
   * Processes that belong to this host, such as the one that started it: nothing in the sandbox can reach their
   * listening ports and sockets.
   */
  readonly hostProcesses?: readonly number[] | undefined;
  /** MCP servers in addition to those of mcp.json, by name, with the same members as there. */
  readonly mcpServers?: Readonly<Record<string, unknown>> | undefined;
  /** Which configured MCP servers are used. */
  readonly mcp?:
    | {
        /** Whether to use none. */
        readonly isOff?: boolean | undefined;
        /** The names of the servers to use. */
        readonly only?: readonly string[] | undefined;
      }
    | undefined;
  /**
   * Shares resources with other sessions that have the same object. Default: sharing with the session's subagents only.
   */
  readonly sharing?: SessionSharing | undefined;
  /**
   * The limits of this session and its subagents, whatever settings, projects, extensions, commands and answers say.
   * Several policies restrict each other.
   */
  readonly policy?: ManagedPolicy | readonly ManagedPolicy[] | undefined;
  /** The initial permission mode and rules, in addition to those of settings files. */
  readonly permissions?: PermissionChange | undefined;
  /** Decides about calls that need an approval. Without it, and without a client, such calls are denied at once. */
  readonly approve?: Approve | undefined;
  /**
   * Decides about exhausted limits whose `onExceeded` is `ask`. Without it, and without a client, the work is stopped.
   */
  readonly raiseBudget?: RaiseBudget | undefined;
  /**
   * Answers the questions of the model and its subagents (`ask_user`). Without it, and without a client that answers,
   * the model has no such tool.
   */
  readonly answerQuestions?: AnswerQuestions | undefined;
  /**
   * For hosts: resolves once a client is attached to `session.requests` and can answer. Open questions of an earlier
   * host are asked again then.
   */
  readonly clientReady?: Promise<void> | undefined;
  /** Whether and how files are recorded before a prompt changes them. Default: the settings. */
  readonly rewind?: RewindOptions | undefined;
  /**
   * Whether mistakes fail the start that are diagnostics by default: a broken settings.json,
   * auth.json or models.json, and an unknown tool in `tools.only`.
   */
  readonly refusesMistakes?: boolean | undefined;
  /** Whether the session creates OpenTelemetry spans. Default: the settings. */
  readonly telemetry?: TelemetryOptions | undefined;
  /** The agent's name in spans. Default: `tau`. */
  readonly agentName?: string | undefined;
  /** Whether to trust the project, regardless of saved decisions. */
  readonly trustProject?: boolean | undefined;
}

/** The options in the form that sessions are created from. */
export type SessionSetup = Omit<CreateAgentSessionOptions, "session" | "credentials"> & {
  readonly session?: SessionStart | undefined;
  /** The owner of durable effects: subagents act for the session that started them. */
  readonly durableOwner?: (() => WorkspaceOwner) | undefined;
  /** The source of credentials; subagents in this process share their caller's. */
  readonly credentials?: GetCredentials | KeptCredentials | undefined;
};
