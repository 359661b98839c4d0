import type { WorkspaceReach } from "@tau-agent/rpc-protocol/workspace";

export interface PlainCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Default: the host's own. */
  readonly cwd?: string | undefined;
  /** The child's whole environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Folders that a command of the host's own writes inside, too. */
  readonly alsoWritable?: readonly string[] | undefined;
}

/** The descriptor to which the program around a command may write how it ran. */
export const statusDescriptor = 3;

/** By what it is known that a sandbox could not be set up, and that its command never ran. */
export interface StartSigns {
  /** In what is written to {@link statusDescriptor} if the command ran. */
  readonly ranMark: string;
  /** What the error of the program around the command begins with. */
  readonly errorPrefix: string;
  /** Its exit code then. */
  readonly exitCode: number;
}

export interface EnclosedCommand extends PlainCommand {
  /** Only all of them together are a failed start; absent where nothing is said of it. */
  readonly startSigns?: StartSigns | undefined;
  /** Takes away what was made for this run; called once, after its end. */
  readonly release: () => Promise<void>;
}

/** What commands and file tools of a session may reach (decision 47). */
export interface Sandbox {
  /** The workspace whose commands it encloses. */
  readonly workspaceId: string;
  /** Where files for long output are, which commands can read; undefined for no such place of its own. */
  readonly outputDirectory?: string | undefined;
  /**
   * Makes a command run inside.
   *
   * @throws {ProcessError} `sandbox_unavailable`; the text names the remedy
   */
  enclose(command: PlainCommand): Promise<EnclosedCommand>;
  /** Whether commands inside reach the network through this process, and so cannot outlive it. */
  readonly usesHost: boolean;
  /** Whether commands run inside; where this is not possible, they do not run or a person lets them. */
  readonly isAvailable: boolean;
  /** The last line of the result of a command that failed inside; undefined where none runs inside. */
  readonly failureNotice: string | undefined;
  /** The policy for a session that works for this one, in another folder; as in settings. */
  readonly inherited: Readonly<Record<string, unknown>>;
  /** Where a path of the sandbox is for the host: `/tmp` and `/dev/shm` are private folders. */
  hostPath(path: string): string;
  /** Whether a path of the host is in one of those folders, which nobody outside of the session looks into. */
  isPrivate(path: string): boolean;
  /**
   * Synchronous, so that nothing comes between the check and the opening.
   *
   * @param path where the file is for the host
   * @param shown how the model wrote it
   * @throws {ToolError} the file, or what its links lead to, may not be read
   */
  refuseRead(path: string, shown: string): void;
  /**
   * What a call may open: a link on the way to it may be exchanged after {@link Sandbox.refuseRead} and
   * {@link Sandbox.refuseWrite}.
   */
  reach(action: "read" | "write"): WorkspaceReach;
  /** @throws {ToolError} the file, or what its links lead to, may not be changed or made */
  refuseWrite(path: string, shown: string): void;
  /** Whether a file may be read; for searches, which skip the others. */
  mayRead(path: string): boolean;
  /** Real paths of files and folders that may not be read, for those who copy whole folders. */
  readonly closed: readonly string[];
  /** Whether only the host writes a path, because it decides what runs outside. */
  isForHost(path: string): boolean;
  /** Real paths of files and folders in the working folder that the host reads or runs. */
  readonly hostPlaces: readonly string[];
  /** Keeps more files and folders for the host, which runs their code outside. */
  keepForHost(paths: readonly string[]): void;
  /** Ends what belongs to the session, once its commands have ended. */
  close(): Promise<void>;
}
