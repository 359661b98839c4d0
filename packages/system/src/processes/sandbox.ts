import type { WorkspaceReach } from "@tau-agent/rpc-protocol/workspace";

export interface PlainCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Default: the host's own. */
  readonly cwd?: string | undefined;
  /** The child's whole environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Additional folders that a command of the host itself may write to. */
  readonly alsoWritable?: readonly string[] | undefined;
}

/** The descriptor on which the program around a command may report how it ran. */
export const statusDescriptor = 3;

/** The signs that a sandbox could not be set up, so that its command never ran. */
export interface StartSigns {
  /** Part of the text on {@link statusDescriptor} if the command ran. */
  readonly ranMark: string;
  /** The beginning of the error of the program around the command. */
  readonly errorPrefix: string;
  /** The exit code of the program around the command in that case. */
  readonly exitCode: number;
}

export interface EnclosedCommand extends PlainCommand {
  /** Only all signs together mean a failed start; absent if nothing is reported. */
  readonly startSigns?: StartSigns | undefined;
  /** Removes what was made for this run; called once, after its end. */
  readonly release: () => Promise<void>;
}

/** What commands and file tools of a session may reach (decision 47). */
export interface Sandbox {
  /** The workspace whose commands this sandbox confines. */
  readonly workspaceId: string;
  /** The folder for files with long output, which commands can read; undefined if there is no separate one. */
  readonly outputDirectory?: string | undefined;
  /**
   * Prepares a command to run inside.
   *
   * @throws {ProcessError} `sandbox_unavailable`; the text names the remedy
   */
  enclose(command: PlainCommand): Promise<EnclosedCommand>;
  /** Whether commands inside reach the network through this process, and so cannot outlive it. */
  readonly usesHost: boolean;
  /** Whether commands can run inside; otherwise they do not run, or a person allows them. */
  readonly isAvailable: boolean;
  /** The last line of the result of a command that failed inside; undefined if commands do not run inside. */
  readonly failureNotice: string | undefined;
  /** The policy for a session that works for this one in another folder, in the form of settings. */
  readonly inherited: Readonly<Record<string, unknown>>;
  /** The host's path for a path in the sandbox, where `/tmp` and `/dev/shm` are private folders. */
  hostPath(path: string): string;
  /** Whether a path of the host is in one of those folders, which nobody outside of the session can see. */
  isPrivate(path: string): boolean;
  /**
   * Checks a read. Synchronous, so that nothing can change between the check and the opening.
   *
   * @param path the host's path of the file
   * @param shown the path as the model wrote it
   * @throws {ToolError} the file, or what its links lead to, may not be read
   */
  refuseRead(path: string, shown: string): void;
  /**
   * What a call may open, for a check at the opening itself: a link on the path may be swapped after
   * {@link Sandbox.refuseRead} and {@link Sandbox.refuseWrite}.
   */
  reach(action: "read" | "write"): WorkspaceReach;
  /** @throws {ToolError} the file, or what its links lead to, may not be changed or made */
  refuseWrite(path: string, shown: string): void;
  /** Whether a file may be read; searches skip the others. */
  mayRead(path: string): boolean;
  /** Real paths of files and folders that may not be read, for code that copies whole folders. */
  readonly closed: readonly string[];
  /** Whether only the host may write to a path, because the path decides what runs outside. */
  isForHost(path: string): boolean;
  /** Real paths of files and folders in the working folder that the host reads or runs. */
  readonly hostPlaces: readonly string[];
  /** Reserves more files and folders for the host, which runs their code outside. */
  keepForHost(paths: readonly string[]): void;
  /** Ends the sandbox of the session, once its commands have ended. */
  close(): Promise<void>;
}
