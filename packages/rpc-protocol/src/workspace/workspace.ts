/**
 * Where the tools of a session act: its files, its commands, its platform (decision 61). Keys, models, sessions and
 * approvals stay with the host.
 *
 * Paths are absolute, in the notation of the workspace's platform. Every method rejects with a {@link WorkspaceError}.
 */
export interface Workspace {
  /** Identifies the workspace across sessions; `local` is the host's own machine. */
  readonly id: string;
  /** The initial working directory. */
  readonly cwd: string;
  describe(options?: WorkspaceCall): Promise<WorkspaceDescription>;
  /**
   * Describes what is at a path; `undefined` if nothing exists there, for dangling links, and for links that
   * lead to themselves.
   */
  stat(path: string, options?: WorkspaceStatOptions): Promise<WorkspaceStat | undefined>;
  /** Unsorted, without `.` and `..`. Invalid UTF-8 in a name becomes U+FFFD; such a file cannot be opened. */
  list(path: string, options?: WorkspaceAccess): Promise<readonly WorkspaceEntry[]>;
  /** Reads bytes of a regular file; returns none past its end. */
  read(path: string, options?: WorkspaceReadOptions): Promise<Uint8Array>;
  /**
   * Replaces a file atomically: readers see either the old bytes or the new ones. Keeps the mode of the
   * replaced file, follows a link at the end of the path, and creates missing folders. If the folder is not
   * writable, or the file is a mount point, it writes in place.
   */
  write(path: string, bytes: Uint8Array, options?: WorkspaceWriteOptions): Promise<void>;
  /** Removes a file, a link (not its target), or a folder. */
  remove(path: string, options?: WorkspaceRemoveOptions): Promise<void>;
  /** Moves a file or folder; may replace a file, but never a folder. */
  rename(from: string, to: string, options?: WorkspaceChange): Promise<void>;
  /** Creates a folder and its parents; succeeds if it already exists. */
  createDirectory(path: string, options?: WorkspaceChange): Promise<void>;
  /** Starts a program; its output and its end follow. */
  spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess>;
  /** Searches in one round trip; absent if the workspace has no search of its own. */
  search?(request: WorkspaceSearchRequest): Promise<WorkspaceSearchResult>;
  /**
   * Support for commands that outlive a dead host; absent if the workspace cannot keep them. Such a workspace
   * also refuses changes with an epoch below the highest it has seen for the session (`stale_epoch`).
   */
  readonly durable?: WorkspaceDurable | undefined;
  /** Support for sandboxes around commands and file calls; absent if the workspace has none. */
  readonly sandboxes?: WorkspaceSandboxes | undefined;
  /** Disconnects from the workspace and ends what runs there. */
  dispose?(): Promise<void>;
}

/** Options of every call of a {@link Workspace}. */
export interface WorkspaceCall {
  /** Cancels the call: it rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The part of the file system that a call may open: inside one of `allow` and inside none of `deny`, which
 * are absolute paths of files or folders. What counts is the file that was really opened, after following
 * links; for a new file, it is the containing folder.
 */
export interface WorkspaceReach {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Options of a call that opens something. */
export interface WorkspaceAccess extends WorkspaceCall {
  /** Without it, everything that the workspace's user may open. With it, the call may reject with `not_allowed`. */
  readonly within?: WorkspaceReach | undefined;
  /** The sandbox that also limits the call; if it is not open, the error is `sandbox_unavailable`. */
  readonly sandbox?: WorkspaceSandboxUse | undefined;
}

/**
 * On behalf of which session something is changed (decision 63). After a call with a higher epoch of the same
 * session, calls with a lower one reject with `stale_epoch`.
 */
export interface WorkspaceOwner {
  /** Identifies the session: letters, digits, `-` and `_`. */
  readonly session: string;
  /** Increases each time a host takes over the session. */
  readonly epoch: number;
}

/** Options of a call that changes something; without an owner, it is never stale. */
export interface WorkspaceChange extends WorkspaceAccess, Partial<WorkspaceOwner> {}

/** The possible platforms of a workspace. */
export type WorkspacePlatform = "linux" | "darwin" | "win32";

export interface WorkspaceDescription {
  readonly platform: WorkspacePlatform;
  readonly homeDirectory: string;
  readonly temporaryDirectory: string;
  /** The shell that runs the command lines of `spawn`. */
  readonly shell: string;
  /** The name of the user account that the tools use. */
  readonly user?: string | undefined;
  /** The guarantees of the interface that this workspace cannot give, as keys of {@link workspaceLimits}. */
  readonly limited: readonly string[];
}

/** A description of what is at a path. */
export type WorkspaceFileKind = "file" | "directory" | "symlink" | "other";

export interface WorkspaceStat {
  readonly kind: WorkspaceFileKind;
  /** The size in bytes. */
  readonly size: number;
  /** The permission bits. */
  readonly mode?: number | undefined;
  /** The time of the last change in ms since 1970, by the clock of the workspace. */
  readonly modifiedAt?: number | undefined;
  /** The real path, with all links resolved. */
  readonly realPath?: string | undefined;
}

/** One name in a folder; a link is a `symlink`, whatever its target. */
export interface WorkspaceEntry {
  readonly name: string;
  readonly kind: WorkspaceFileKind;
}

export interface WorkspaceStatOptions extends WorkspaceAccess {
  /** Default true. */
  readonly followLinks?: boolean | undefined;
}

export interface WorkspaceReadOptions extends WorkspaceAccess {
  /** The first byte; default 0. */
  readonly offset?: number | undefined;
  /** The maximum number of bytes; default all. */
  readonly length?: number | undefined;
}

export interface WorkspaceWriteOptions extends WorkspaceChange {
  /** Permission bits of a new file, before the umask; default 0666. */
  readonly mode?: number | undefined;
}

export interface WorkspaceRemoveOptions extends WorkspaceChange {
  /** Whether to remove the contents of a folder as well. */
  readonly recursive?: boolean | undefined;
}

/** The stream of a piece of output. */
export type WorkspaceStream = "stdout" | "stderr";

export interface WorkspaceSpawnOptions extends WorkspaceCall, Partial<WorkspaceOwner> {
  /**
   * Keeps the command: its output and its end are stored, so that the next host of the session can {@link
   * WorkspaceDurable.adopt} it. Requires an owner; the command has no input.
   */
  readonly commandId?: string | undefined;
  /** How long a kept command continues to run after its host has died, before it is ended. */
  readonly keepMs?: number | undefined;
  /**
   * A folder for the output of a kept command, which is then not passed to `onOutput`. The output is stored
   * in files of at most 1 MiB, named by the position of their first byte (`output-0`), of which the last 16
   * MiB are kept. If a command cannot be kept, its output is passed on as usual.
   */
  readonly outputFolder?: string | undefined;
  /** A command line for the shell, or a program with its arguments, which no shell parses. */
  readonly command: string | readonly string[];
  /** By default, the workspace's `cwd`. */
  readonly cwd?: string | undefined;
  /** Added to the workspace's variables; `null` removes one. */
  readonly environment?: Readonly<Record<string, string | null>> | undefined;
  /** The sandbox in which it runs; if it is not open, the error is `sandbox_unavailable`. */
  readonly sandbox?: WorkspaceSandboxUse | undefined;
  /** With `none`, the default, the input is at its end from the start. */
  readonly stdin?: "none" | "open" | undefined;
  /** Receives output as it arrives; a returned promise holds the rest back until it resolves. Must not fail. */
  readonly onOutput: (bytes: Uint8Array, stream: WorkspaceStream) => void | Promise<void>;
  /** Ends the command and all its children after this time. */
  readonly timeoutMs?: number | undefined;
  /** Ends the command and all its children: TERM, and KILL after 2 s. */
  readonly signal?: AbortSignal | undefined;
}

/** Refers to an open sandbox. */
export interface WorkspaceSandboxUse {
  /** The id from {@link WorkspaceSandboxRequest.sandboxId}. */
  readonly id: string;
  /** The session's working folder at the time of the call, which mode `workspace` makes writable. */
  readonly cwd: string;
}

/** Sandboxes around commands and file calls (decisions 47 and 61). */
export interface WorkspaceSandboxes {
  /** Opens a sandbox. If its mechanism is missing, `available` is false and commands are refused. */
  open(request: WorkspaceSandboxRequest): Promise<WorkspaceSandbox>;
}

/** The permissions of a sandbox; paths are as in settings, relative to the home folder of the workspace's user. */
export interface WorkspaceSandboxRequest {
  /** The id for calls: letters, digits, `-` and `_`. */
  readonly sandboxId: string;
  /** The initial working folder. */
  readonly cwd: string;
  readonly mode: "workspace" | "readOnly";
  readonly write: readonly string[];
  readonly denyRead: readonly string[];
  /** `host` sends every connection to {@link WorkspaceSandboxRequest.onConnection}. */
  readonly network: "off" | "all" | "host";
  readonly whenUnavailable: "refuse" | "ask" | "run";
  /** Variables for its commands, such as the placeholders for secrets. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Variables of the workspace that its commands do not inherit. */
  readonly hidden?: readonly string[] | undefined;
  /** An additional certificate that its commands trust, as PEM. */
  readonly certificate?: string | undefined;
  /** Handles a command's connection to the proxy: receives the command's end and returns the other one. */
  readonly onConnection: (client: WorkspaceConnection) => WorkspaceConnection;
}

/** One end of a connection. */
export interface WorkspaceConnection {
  /** Writes data; a returned promise asks the sender to wait. */
  write(bytes: Uint8Array): void | Promise<void>;
  /** Ends the writing side. */
  end(): void;
  /** Closes the connection in both directions. */
  close(): void;
}

/** An open sandbox of a workspace. */
export interface WorkspaceSandbox {
  readonly available: boolean;
  readonly mechanism: "bubblewrap" | "seatbelt" | null;
  /** Why it is not available, and what to do. */
  readonly reason?: string | undefined;
  readonly remedy?: string | undefined;
  /** Real paths of files and folders that no call in the sandbox can read. */
  readonly denied: readonly string[];
  /** Closes it, once its commands have ended. */
  close(): Promise<void>;
}

/** Support for commands that outlive their host (decision 63). */
export interface WorkspaceDurable {
  /**
   * Takes over a command of an earlier host, running or ended, as if this host had started it.
   *
   * @throws {WorkspaceError} `not_found`: there is none, or it was ended because no host took it over
   */
  adopt(options: WorkspaceAdoptOptions): Promise<WorkspaceProcess>;
  /** Ends and forgets the session's commands with lower epochs; they can no longer be adopted. */
  endCommands(options: {
    readonly session: string;
    readonly beforeEpoch: number;
  }): Promise<{ readonly ended: number }>;
}

export interface WorkspaceAdoptOptions
  extends WorkspaceOwner,
    Pick<WorkspaceSpawnOptions, "onOutput" | "signal" | "keepMs"> {
  readonly commandId: string;
  /** How many bytes of output to skip, counting both streams. */
  readonly fromOffset: number;
}

/** A started command. */
export interface WorkspaceProcess {
  /** The process id on that machine. */
  readonly pid?: number | undefined;
  /** Writes to its input. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): Promise<void>;
  /** Sends a signal, by default `SIGTERM`, to the command and all its children. */
  kill(signal?: string): Promise<void>;
  /**
   * Resolves when the command has ended and its output is read, at the latest 1 s after the end if another
   * process still holds its output open. Rejects with `lost` if the connection to the workspace is lost.
   */
  readonly done: Promise<WorkspaceExit>;
}

/** How a command ended. */
export interface WorkspaceExit {
  /** The exit code; `null` if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal?: string | undefined;
  /** Whether it exceeded its time limit. */
  readonly timedOut?: boolean | undefined;
}

export interface WorkspaceSearchRequest extends WorkspaceAccess {
  /** `grep` searches contents, `find` searches names. */
  readonly kind: "grep" | "find";
  /** A regular expression of ripgrep; for `find`, a glob. */
  readonly pattern: string;
  /** The folder or file to search. */
  readonly path: string;
  /** Only files whose names match. */
  readonly glob?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** Whether the pattern is literal text. */
  readonly literal?: boolean | undefined;
  /** The number of context lines around each match. */
  readonly context?: number | undefined;
  /** The maximum number of matches. */
  readonly limit: number;
}

export interface WorkspaceMatch {
  readonly path: string;
  /** The line number, from 1; absent for `find`. */
  readonly line?: number | undefined;
  readonly text?: string | undefined;
  /** Lines before the match, the nearest last. */
  readonly before?: readonly string[] | undefined;
  readonly after?: readonly string[] | undefined;
}

export interface WorkspaceSearchResult {
  readonly matches: readonly WorkspaceMatch[];
  /** Whether there may be more matches than the limit. */
  readonly truncated: boolean;
}

/** The keys of `limited`, with a description of each guarantee that a workspace cannot give. */
export const workspaceLimits = {
  "atomic-write": "a reader may see a part of a file that is being written",
  "binary-output": "output of commands is text",
  "environment-removal": "variables that the shell sets itself cannot be removed",
  "exit-signals": "a command that a signal ended may show an exit code",
  "file-mode": "files have no permission bits",
  "kill-tree": "what a command started may outlive it",
  "link-kinds": "links are followed and not shown as links",
  "link-removal": "a link to a folder cannot be removed",
  "modified-at-seconds": "times of files are whole seconds",
  "odd-names": "names with line breaks are not listed",
  "parallel-streams": "stdout and stderr come as one stream",
  "side-by-side": "commands run one after the other",
  signals: "commands are ended, but not by a signal of choice",
  stdin: "commands have no input",
  "streamed-output": "output comes when the command has ended",
  within: "the limits of a call are judged on the path, before it is opened",
} as const satisfies Record<string, string>;

/** A guarantee that a workspace can declare as not given. */
export type WorkspaceLimit = keyof typeof workspaceLimits;
