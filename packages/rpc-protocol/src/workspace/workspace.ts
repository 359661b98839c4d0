/**
 * Where the tools of a session act: its files, its commands, its platform (decision 61). Keys,
 * models, sessions and approvals stay with the host.
 *
 * Paths are absolute, in the notation of the workspace's platform. Every method rejects with a
 * {@link WorkspaceError}.
 */
export interface Workspace {
  /** Names the place across sessions; `local` is the host's own machine. */
  readonly id: string;
  /** The folder in which the work starts. */
  readonly cwd: string;
  describe(options?: WorkspaceCall): Promise<WorkspaceDescription>;
  /**
   * What a path leads to; `undefined` when nothing is there, for dangling links, and for links that
   * lead to themselves.
   */
  stat(path: string, options?: WorkspaceStatOptions): Promise<WorkspaceStat | undefined>;
  /** Unsorted, without `.` and `..`. What is not UTF-8 in a name is U+FFFD; such a file cannot be opened. */
  list(path: string, options?: WorkspaceAccess): Promise<readonly WorkspaceEntry[]>;
  /** Bytes of a regular file; none past its end. */
  read(path: string, options?: WorkspaceReadOptions): Promise<Uint8Array>;
  /**
   * Replaces a file in one step: readers see the old bytes or the new ones. Keeps the mode of what it
   * replaces, follows a link at the end of the path, and makes the folders on the way. Where the
   * folder is not writable, or the file is a mount, it writes in place.
   */
  write(path: string, bytes: Uint8Array, options?: WorkspaceWriteOptions): Promise<void>;
  /** Removes a file, a link (not what it leads to), or a folder. */
  remove(path: string, options?: WorkspaceRemoveOptions): Promise<void>;
  /** Replaces a file, never a folder. */
  rename(from: string, to: string, options?: WorkspaceChange): Promise<void>;
  /** Makes a folder and its parents; one that is there already is fine. */
  createDirectory(path: string, options?: WorkspaceChange): Promise<void>;
  /** Starts a program; its output and its end follow. */
  spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess>;
  /** Searches in one round trip; absent where the place has no search of its own. */
  search?(request: WorkspaceSearchRequest): Promise<WorkspaceSearchResult>;
  /**
   * Commands that outlive a host that died; absent where the place cannot keep them. Such a place also
   * refuses changes with an older epoch than the highest it has seen for the session (`stale_epoch`).
   */
  readonly durable?: WorkspaceDurable | undefined;
  /** Sandboxes that the place makes for commands and file calls; absent where it makes none. */
  readonly sandboxes?: WorkspaceSandboxes | undefined;
  /** Lets go of the place: ends its connection and what runs there. */
  dispose?(): Promise<void>;
}

/** What every call of a {@link Workspace} takes. */
export interface WorkspaceCall {
  /** Ends the call early: it rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The part of a place that a call may open: inside one of `allow` and inside none of `deny`, both
 * absolute paths of files or folders. What counts is the file that was really opened, links
 * followed; for one that is made, the folder that holds it.
 */
export interface WorkspaceReach {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** A call that opens something. */
export interface WorkspaceAccess extends WorkspaceCall {
  /** Without it, all that the place's user may open. Else the call may reject with `not_allowed`. */
  readonly within?: WorkspaceReach | undefined;
  /** The sandbox of the place that also limits the call; one that is not open is `sandbox_unavailable`. */
  readonly sandbox?: WorkspaceSandboxUse | undefined;
}

/**
 * For whom something is changed (decision 63). Once a call with a higher epoch of the same session has
 * come, those with a lower one reject with `stale_epoch`.
 */
export interface WorkspaceOwner {
  /** Names the session: letters, digits, `-` and `_`. */
  readonly session: string;
  /** Rises each time that a host takes the session. */
  readonly epoch: number;
}

/** A call that changes something; without an owner it is never stale. */
export interface WorkspaceChange extends WorkspaceAccess, Partial<WorkspaceOwner> {}

/** The kinds of platform that a workspace has. */
export type WorkspacePlatform = "linux" | "darwin" | "win32";

export interface WorkspaceDescription {
  readonly platform: WorkspacePlatform;
  readonly homeDirectory: string;
  readonly temporaryDirectory: string;
  /** The program that runs the lines of `spawn`. */
  readonly shell: string;
  /** The name of the user that the tools act as. */
  readonly user?: string | undefined;
  /** The promises of the interface that this place cannot keep, in words of {@link workspaceLimits}. */
  readonly limited: readonly string[];
}

/** What is at a path. */
export type WorkspaceFileKind = "file" | "directory" | "symlink" | "other";

export interface WorkspaceStat {
  readonly kind: WorkspaceFileKind;
  /** In bytes. */
  readonly size: number;
  /** Permission bits. */
  readonly mode?: number | undefined;
  /** In ms since 1970, by the clock of the place. */
  readonly modifiedAt?: number | undefined;
  /** The path without links. */
  readonly realPath?: string | undefined;
}

/** One name in a folder; a link is a `symlink`, whatever it leads to. */
export interface WorkspaceEntry {
  readonly name: string;
  readonly kind: WorkspaceFileKind;
}

export interface WorkspaceStatOptions extends WorkspaceAccess {
  /** Default true. */
  readonly followLinks?: boolean | undefined;
}

export interface WorkspaceReadOptions extends WorkspaceAccess {
  /** In bytes; default 0. */
  readonly offset?: number | undefined;
  /** The most bytes; default all. */
  readonly length?: number | undefined;
}

export interface WorkspaceWriteOptions extends WorkspaceChange {
  /** Permission bits of a file that is made, less the umask; default 0666. */
  readonly mode?: number | undefined;
}

export interface WorkspaceRemoveOptions extends WorkspaceChange {
  /** Removes what is in a folder, too. */
  readonly recursive?: boolean | undefined;
}

/** Where output came from. */
export type WorkspaceStream = "stdout" | "stderr";

export interface WorkspaceSpawnOptions extends WorkspaceCall, Partial<WorkspaceOwner> {
  /**
   * Keeps the command: its output and its end are stored, so that the next host of the session can
   * {@link WorkspaceDurable.adopt} it. Needs an owner; the command has no input.
   */
  readonly commandId?: string | undefined;
  /** How long a kept command runs on when its host has died; then it is ended. */
  readonly keepMs?: number | undefined;
  /**
   * A folder for the output of a kept command, which is then handed over to nobody: files of at most 1 MiB named
   * by the position of their first byte (`output-0`), of which the last 16 MiB stay. Where a command cannot be
   * kept, its output is handed over.
   */
  readonly outputFolder?: string | undefined;
  /** A line for the shell, or a program with its arguments, which no shell reads. */
  readonly command: string | readonly string[];
  /** Default: the workspace's `cwd`. */
  readonly cwd?: string | undefined;
  /** Added to the workspace's variables; `null` removes one. */
  readonly environment?: Readonly<Record<string, string | null>> | undefined;
  /** The sandbox that it runs in; one that is not open is `sandbox_unavailable`. */
  readonly sandbox?: WorkspaceSandboxUse | undefined;
  /** `none`, the default, is at its end from the start. */
  readonly stdin?: "none" | "open" | undefined;
  /** Takes output as it comes; a promise holds the rest back until it resolves. Must not fail. */
  readonly onOutput: (bytes: Uint8Array, stream: WorkspaceStream) => void | Promise<void>;
  /** Ends the command, and all that it started, after this time. */
  readonly timeoutMs?: number | undefined;
  /** Ends the command, and all that it started: TERM, and KILL after 2 s. */
  readonly signal?: AbortSignal | undefined;
}

/** An open sandbox, named by a call. */
export interface WorkspaceSandboxUse {
  /** As {@link WorkspaceSandboxRequest.sandboxId} has it. */
  readonly id: string;
  /** The working folder of the session at this moment, which mode `workspace` lets be written. */
  readonly cwd: string;
}

/** Sandboxes around commands and file calls (decisions 47 and 61). */
export interface WorkspaceSandboxes {
  /** Opens one, also where its mechanism is missing: then `available` is false, and commands are refused. */
  open(request: WorkspaceSandboxRequest): Promise<WorkspaceSandbox>;
}

/** What a sandbox lets through; paths are as in settings, read with the home folder of the place. */
export interface WorkspaceSandboxRequest {
  /** Names it in calls: letters, digits, `-` and `_`. */
  readonly sandboxId: string;
  /** The working folder at first. */
  readonly cwd: string;
  readonly mode: "workspace" | "readOnly";
  readonly write: readonly string[];
  readonly denyRead: readonly string[];
  /** `host` leads every connection to {@link WorkspaceSandboxRequest.onConnection}. */
  readonly network: "off" | "all" | "host";
  readonly whenUnavailable: "refuse" | "ask" | "run";
  /** Variables for its commands, such as the placeholders of secrets. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Variables of the place that its commands do not inherit. */
  readonly hidden?: readonly string[] | undefined;
  /** A certificate that its commands trust besides those of the place, as PEM. */
  readonly certificate?: string | undefined;
  /** Takes a connection of a command to the proxy: given the command's end, returns the other one. */
  readonly onConnection: (client: WorkspaceConnection) => WorkspaceConnection;
}

/** One end of a connection. */
export interface WorkspaceConnection {
  /** A promise asks to wait before more is written. */
  write(bytes: Uint8Array): void | Promise<void>;
  /** Nothing more is written. */
  end(): void;
  /** Gives up the connection, both ways. */
  close(): void;
}

/** A sandbox of a place. */
export interface WorkspaceSandbox {
  readonly available: boolean;
  readonly mechanism: "bubblewrap" | "seatbelt" | null;
  /** Why it is not available, and what to do. */
  readonly reason?: string | undefined;
  readonly remedy?: string | undefined;
  /** Real paths of files and folders that no call in it reads. */
  readonly denied: readonly string[];
  /** Ends it, once its commands have ended. */
  close(): Promise<void>;
}

/** What a place does for commands that outlive their host (decision 63). */
export interface WorkspaceDurable {
  /**
   * Goes on with a command of an earlier host, running or ended, as if this host had started it.
   *
   * @throws {WorkspaceError} `not_found`: there is none, or it was ended because nobody took it over
   */
  adopt(options: WorkspaceAdoptOptions): Promise<WorkspaceProcess>;
  /** Ends the session's commands of lower epochs, and forgets them; they are not adopted any more. */
  endCommands(options: {
    readonly session: string;
    readonly beforeEpoch: number;
  }): Promise<{ readonly ended: number }>;
}

export interface WorkspaceAdoptOptions
  extends WorkspaceOwner,
    Pick<WorkspaceSpawnOptions, "onOutput" | "signal" | "keepMs"> {
  readonly commandId: string;
  /** How many bytes of output, of both streams together, are not wanted again. */
  readonly fromOffset: number;
}

/** A command that was started. */
export interface WorkspaceProcess {
  /** In the process table of the place. */
  readonly pid?: number | undefined;
  /** Writes to its input. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): Promise<void>;
  /** Sends a signal, default `SIGTERM`, to the command and all that it started. */
  kill(signal?: string): Promise<void>;
  /**
   * Resolves when the command has ended and its output is read; at the latest 1 s after the end when
   * something else still holds its output. Rejects with `lost` when the way to the place is gone.
   */
  readonly done: Promise<WorkspaceExit>;
}

/** How a command ended. */
export interface WorkspaceExit {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal?: string | undefined;
  /** Its time limit was over. */
  readonly timedOut?: boolean | undefined;
}

export interface WorkspaceSearchRequest extends WorkspaceAccess {
  /** `grep` looks into files, `find` at their names. */
  readonly kind: "grep" | "find";
  /** A regular expression of ripgrep; for `find`, a glob. */
  readonly pattern: string;
  /** The folder or file to search. */
  readonly path: string;
  /** Only files whose names fit. */
  readonly glob?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** Takes the pattern as text. */
  readonly literal?: boolean | undefined;
  /** Lines to show before and after each match. */
  readonly context?: number | undefined;
  /** The most matches. */
  readonly limit: number;
}

export interface WorkspaceMatch {
  readonly path: string;
  /** From 1; absent for `find`. */
  readonly line?: number | undefined;
  readonly text?: string | undefined;
  /** Lines before the match, the nearest last. */
  readonly before?: readonly string[] | undefined;
  readonly after?: readonly string[] | undefined;
}

export interface WorkspaceSearchResult {
  readonly matches: readonly WorkspaceMatch[];
  /** There may be more matches than the limit. */
  readonly truncated: boolean;
}

/** The words of `limited`, and what each says that a place cannot keep. */
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

/** A promise that a place may name as not kept. */
export type WorkspaceLimit = keyof typeof workspaceLimits;
