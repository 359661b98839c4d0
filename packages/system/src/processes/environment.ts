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

/** Commands of calls that outlive their host (decision 63). */
interface KeptCommandsOfCalls {
  /** The id under which the next command of the current call is kept. */
  commandId(): string | undefined;
  /** Does work whose command is one of an earlier host, with which it goes on. */
  resume<Result>(commandId: string, work: () => Result): Result;
  /** Merges work into the folder: what that changes can be taken back, and a host that lost its session merges nothing. */
  merge<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Removes what is kept of a command whose end is noted elsewhere. */
  forget(commandId: string): Promise<void>;
}

/** A sandbox like that of the session, around another folder. */
export interface EnclosedFolder {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** Ends it, once its commands have ended. */
  readonly close: () => Promise<void>;
}

/** What a tool needs of a machine to read there. */
export type OwnTexts = Pick<
  ToolEnvironment,
  "workspace" | "cwd" | "homeDirectory" | "isWindows" | "protectedFiles"
>;

/** What the client serves under URI schemes of its own. */
export interface ClientUris {
  /** The URI that a path is, also of a scheme that the client does not serve; undefined for a file. */
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

/** The environment that the host gives its tools; tools never read the process themselves. */
export interface ToolEnvironment {
  /** Directory of the current session; relative paths start here. */
  readonly cwd: string;
  /** Where the tools act: every effect of theirs goes through it. */
  readonly workspace: Workspace;
  /** The workspace of one call of `bash`; by default as for the others. */
  readonly workspaceOf?: ((toolCallId: string) => Workspace) | undefined;
  /** Commands that outlive this host; undefined where they end with it. */
  readonly kept?: KeptCommandsOfCalls | undefined;
  /** The workspace of calls that a person lets leave the sandbox. */
  readonly outside?: (() => Workspace) | undefined;
  /** The host's own machine for a path there whose text the prompt offers; undefined for others. */
  readonly ownTexts?: ((path: string) => Promise<OwnTexts | undefined>) | undefined;
  /** What the client serves; undefined for tools without a session. */
  readonly clientUris?: ClientUris | undefined;
  /** Whether the workspace has paths of Windows; default as this machine. */
  readonly isWindows?: boolean | undefined;
  /** More folders that the work is about. */
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  /** The tree of an isolated subagent and the user's folder that it is a copy of; none for others. */
  readonly copy?:
    | (() => { readonly tree: string; readonly folder: string } | undefined)
    | undefined;
  /** The folder that file tools may change; undefined, or not there, for no limit. */
  readonly writeRoot?: (() => string | undefined) | undefined;
  readonly temporaryDirectory: string;
  /** Opens a file for an output that is too long to show; default: in {@link ToolEnvironment.temporaryDirectory}. */
  readonly outputFile?: ((name: string) => OutputFile) | undefined;
  /** Keeps commands and file tools inside; undefined where there is none. */
  readonly sandbox?: Sandbox | undefined;
  /**
   * Opens a sandbox for commands in another folder, as a session in that folder would have it; undefined where
   * there is none.
   */
  readonly encloseFolder?: ((cwd: string) => Promise<EnclosedFolder>) | undefined;
  /** Asks a person whether a call that the sandbox refused may run outside; false where nobody is asked. */
  readonly askToLeave?:
    | ((question: LeaveQuestion, signal: AbortSignal) => Promise<boolean>)
    | undefined;
  /** Serialises changes to one file; shared by all sessions of a host. */
  readonly fileQueue: FileQueue;
  /** Knows every live child, so that the host can kill them all. */
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
  /** Names of variables that `mcp.json` names; commands do not inherit them either, its servers may. */
  readonly namedVariables?: readonly string[] | undefined;
  /** What rules close to a tool below the folder that it searches; undefined where they close nothing. */
  readonly closedBelow?:
    | ((tool: string, root: string) => Promise<((path: string) => boolean) | undefined>)
    | undefined;
  /** Files with keys that no file tool opens. */
  readonly protectedFiles?: ProtectedFiles | undefined;
  /** Makes what takes known keys out of the output of a command; undefined to leave them in. */
  readonly createOutputMask?: (() => OutputMask | undefined) | undefined;
  /** Lets commands inherit `keyVariables` and `namedVariables`. */
  readonly inheritKeys?: boolean | undefined;
  /** Limits a `bash` call that brings no timeout of its own, in ms; none or 0 for no limit. */
  readonly bashTimeoutMs?: number | undefined;
  /** Looks at files that tools change; undefined for tools without a session. */
  readonly fileDiagnosis?: FileDiagnosis | undefined;
  /** The way to web pages; undefined for tools without a session. */
  readonly web?: WebAccess | undefined;
  /** Whether the current model reads images; default yes. */
  readonly modelSupportsImages?: (() => boolean) | undefined;
  /** Whether PDFs reach the current model as they are; default no. */
  readonly modelReadsDocuments?: (() => boolean) | undefined;
}

/** Real paths of files and folders whose content no copy of a folder may hold. */
export function closedPaths({
  sandbox,
  protectedFiles,
}: Pick<ToolEnvironment, "sandbox" | "protectedFiles">): readonly string[] {
  return [...(sandbox?.closed ?? []), ...(protectedFiles?.paths ?? [])];
}
