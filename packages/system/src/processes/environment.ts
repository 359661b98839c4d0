import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { FileDiagnosis } from "../base/file-diagnosis.ts";
import type { FileQueue } from "../base/files/file-queue.ts";
import type { ProtectedFiles } from "../base/files/protected-files.ts";
import type { WebAccess } from "../base/foreign-request.ts";
import type { OutputFile } from "./output-file.ts";
import type { OutputMask } from "./output-mask.ts";
import type { ProcessOutcome } from "./process.ts";
import type { ProcessRegistry } from "./process-registry.ts";
import type { Sandbox } from "./sandbox.ts";
import type { SandboxReason } from "./sandbox-refusal.ts";

/** How a command ended, wherever it ran. */
export type CommandOutcome = ProcessOutcome | { readonly kind: "unknown" };

/** A call that would leave the sandbox. */
export interface LeaveQuestion {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly reason: SandboxReason;
}

/** The commands of calls that outlive their host (decision 63). */
interface KeptCommandsOfCalls {
  /** The id under which the next command of the current call is kept. */
  commandId(): string | undefined;
  /** Does work that continues with a command of an earlier host. */
  resume<Result>(commandId: string, work: () => Result): Result;
  /**
   * Merges an isolated tree into the folder. The changes can be undone, and a host that lost its
   * session merges nothing.
   */
  merge<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Deletes the files of a command whose end is recorded elsewhere. */
  forget(commandId: string): Promise<void>;
}

/** A sandbox like that of the session, for another folder. */
export interface EnclosedFolder {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** Closes the sandbox, once its commands have ended. */
  readonly close: () => Promise<void>;
}

/** What a tool needs to read on a machine. */
export type OwnTexts = Pick<
  ToolEnvironment,
  "workspace" | "cwd" | "homeDirectory" | "isWindows" | "protectedFiles"
>;

/** Files that the client serves under its own URI schemes. */
export interface ClientUris {
  /** The URI that a path represents, also for a scheme that the client does not serve; undefined for a file. */
  uriOf(path: string): string | undefined;
  /** @throws {ToolError} */
  read(
    uri: string,
    context: UriContext,
  ): Promise<{
    readonly content: string;
    readonly contentType: string;
    readonly notes: readonly string[];
    readonly immutable: boolean;
  }>;
  /** @throws {ToolError} */
  write(uri: string, content: string, context: UriContext): Promise<void>;
}

interface UriContext {
  readonly toolCallId: string;
  readonly signal: AbortSignal;
}

/** The environment that the host gives its tools; tools never read that of the process themselves. */
export interface ToolEnvironment {
  /** Directory of the current session; relative paths are resolved against it. */
  readonly cwd: string;
  /** Where the tools act: all their effects go through it. */
  readonly workspace: Workspace;
  /** The workspace for one call of `bash`; by default the same as for the other tools. */
  readonly workspaceOf?: ((toolCallId: string) => Workspace) | undefined;
  /** Commands that outlive this host; undefined if commands end with it. */
  readonly kept?: KeptCommandsOfCalls | undefined;
  /** The workspace for calls that a person lets leave the sandbox. */
  readonly outside?: (() => Workspace) | undefined;
  /** The host's own machine, for paths there that the prompt offers to the model; undefined for other paths. */
  readonly ownTexts?: ((path: string) => Promise<OwnTexts | undefined>) | undefined;
  /** What the client serves; undefined for tools without a session. */
  readonly clientUris?: ClientUris | undefined;
  /** Whether the workspace uses Windows paths; by default as on this machine. */
  readonly isWindows?: boolean | undefined;
  /** Additional folders for the work. */
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  /** The tree of an isolated subagent, and the user's folder that it copies; undefined for other sessions. */
  readonly copy?:
    | (() => { readonly tree: string; readonly folder: string } | undefined)
    | undefined;
  /** The only folder that file tools may change; no limit if undefined. */
  readonly writeRoot?: (() => string | undefined) | undefined;
  readonly temporaryDirectory: string;
  /** Opens a file for an output that is too long to show; default: in {@link ToolEnvironment.temporaryDirectory}. */
  readonly outputFile?: ((name: string) => OutputFile) | undefined;
  /** Confines commands and file tools; undefined if there is no sandbox. */
  readonly sandbox?: Sandbox | undefined;
  /**
   * Opens a sandbox for commands in another folder, with the settings that a session in that folder would
   * have; undefined where there is none.
   */
  readonly encloseFolder?: ((cwd: string) => Promise<EnclosedFolder>) | undefined;
  /** Asks a person whether a call that the sandbox refused may run outside; false if nobody can be asked. */
  readonly askToLeave?:
    | ((question: LeaveQuestion, signal: AbortSignal) => Promise<boolean>)
    | undefined;
  /** Serialises changes to one file; shared by all sessions of a host. */
  readonly fileQueue: FileQueue;
  /** Tracks every live child, so that the host can kill them all. */
  readonly processes: ProcessRegistry;
  /** Shell of the `bash` tool; default bash, else sh. */
  readonly shellPath?: string | undefined;
  /** A line to run before every shell command. */
  readonly shellCommandPrefix?: string | undefined;
  /** Variables that describe the session to a command; read at each start. */
  readonly sessionVariables?: (() => Readonly<Record<string, string>>) | undefined;
  /** The `traceparent` of a running call, for what it starts; only with telemetry on. */
  readonly traceparentOf?: ((toolCallId: string) => string | undefined) | undefined;
  /** Names of variables that hold provider keys; commands do not inherit them. */
  readonly keyVariables?: readonly string[] | undefined;
  /** Names of variables that `mcp.json` names. Its servers may inherit them, commands may not. */
  readonly namedVariables?: readonly string[] | undefined;
  /** The paths below the searched folder that rules close to a tool; undefined if there are none. */
  readonly closedBelow?:
    | ((tool: string, root: string) => Promise<((path: string) => boolean) | undefined>)
    | undefined;
  /** Files with keys that no file tool opens. */
  readonly protectedFiles?: ProtectedFiles | undefined;
  /** Creates a mask that removes known keys from a command's output; undefined to leave them in. */
  readonly createOutputMask?: (() => OutputMask | undefined) | undefined;
  /** Lets commands inherit `keyVariables` and `namedVariables`. */
  readonly inheritKeys?: boolean | undefined;
  /** Limits a `bash` call without its own timeout, in ms; none or 0 for no limit. */
  readonly bashTimeoutMs?: number | undefined;
  /** Checks files that tools change; undefined for tools without a session. */
  readonly fileDiagnosis?: FileDiagnosis | undefined;
  /** Access to web pages; undefined for tools without a session. */
  readonly web?: WebAccess | undefined;
  /** Whether the current model reads images; default yes. */
  readonly modelSupportsImages?: (() => boolean) | undefined;
  /** Whether the current model accepts PDFs unchanged; default no. */
  readonly modelReadsDocuments?: (() => boolean) | undefined;
}

/** Real paths of files and folders whose content must not be in any copy of a folder. */
export function closedPaths({
  sandbox,
  protectedFiles,
}: Pick<ToolEnvironment, "sandbox" | "protectedFiles">): readonly string[] {
  return [...(sandbox?.closed ?? []), ...(protectedFiles?.paths ?? [])];
}
