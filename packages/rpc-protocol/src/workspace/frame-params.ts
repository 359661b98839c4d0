import * as z from "zod/mini";

// Like the other frame schemas, only for the published schema and for types: no running code imports them.

/** The id of a request; a safe integer or a string. */
export const FrameId = z.union([z.string(), z.number()]);

/** The part of the file system that a call may open. */
const Reach = z.object({
  /** The file that is really opened must be inside one of these files or folders. */
  allow: z.array(z.string()),
  /** It must not be inside any of these. */
  deny: z.array(z.string()),
});

const SandboxUse = z.object({
  /** The `sandboxId` of an open sandbox. */
  id: z.string(),
  /** The session's working folder at the time of the call. */
  cwd: z.string(),
});
const sandbox = {
  /** The sandbox in which the call acts; if it is not open, the error is `sandbox_unavailable`. */
  sandbox: z.optional(SandboxUse),
};
const access = {
  /** What the call may open; if absent, everything that the workspace's user may open. */
  within: z.optional(Reach),
  ...sandbox,
};
const path = {
  /** An absolute path in the notation of the workspace's platform. */
  path: z.string(),
  ...access,
};
/** On behalf of which session something is changed; both members or none. */
const owner = {
  /** Identifies the session: letters, digits, `-` and `_`. */
  session: z.optional(z.string()),
  /** Increases each time a host takes over the session; one below the highest seen is refused with `stale_epoch`. */
  epoch: z.optional(z.number()),
};
const change = { ...path, ...owner };
const command = {
  /** The id of the command, from the answer to `spawn`. */
  processId: FrameId,
};
const connection = {
  /** The id of the connection, from the `connect` event. */
  connectionId: FrameId,
};
/** The parameters of each method of an exec server. */
export const ExecServerParams = z.object({
  /** Describes the workspace. */
  describe: z.object({}),
  /** Describes what is at a path. */
  stat: z.object({
    ...path,
    /** Whether to follow a link; default true. */
    followLinks: z.optional(z.boolean()),
  }),
  /** Lists the names in a folder. */
  list: z.object(path),
  /** Reads bytes of a file, at most 4 MiB per answer. */
  read: z.object({
    ...path,
    /** The first byte; default 0. */
    offset: z.optional(z.number()),
    /** The maximum number of bytes; by default, as many as one answer can contain. */
    length: z.optional(z.number()),
  }),
  /** Replaces a file. */
  write: z.object({
    ...change,
    /** The bytes, in base64. */
    data: z.string(),
    /** The permission bits of a new file, before the umask; default 0666. */
    mode: z.optional(z.number()),
    /** Identifies the upload to which this part belongs. Parts are sent in order; the last one replaces the target. */
    upload: z.optional(FrameId),
    /** Whether this is the last part. */
    last: z.optional(z.boolean()),
  }),
  /** Removes a file, a link or a folder. */
  remove: z.object({
    ...change,
    /** Whether to remove the contents of a folder as well. */
    recursive: z.optional(z.boolean()),
  }),
  /** Moves a file or folder; replaces a file. */
  rename: z.object({
    /** The current path. */
    from: z.string(),
    /** The new path. */
    to: z.string(),
    ...access,
    ...owner,
  }),
  /** Creates a folder and its parents. */
  createDirectory: z.object(change),
  /** Starts a command. Answered at once; output and end follow as events. */
  spawn: z.object({
    /** A command line for the shell, or a program with its arguments. */
    command: z.union([z.string(), z.array(z.string())]),
    /** The working directory; by default, the server's. */
    cwd: z.optional(z.string()),
    /** Added to the workspace's variables; null removes one. */
    environment: z.optional(z.record(z.string(), z.nullable(z.string()))),
    /** Whether its input is open; default `none`. */
    stdin: z.optional(z.enum(["none", "open"])),
    /** The time limit in ms, after which the command is ended. */
    timeoutMs: z.optional(z.number()),
    /** Keeps the command under this name, so that `adopt` can take it over. */
    commandId: z.optional(z.string()),
    /** How long a kept command continues to run after its host has died, in ms. */
    keepMs: z.optional(z.number()),
    /** The folder for the output of a kept command, which then sends no output events. */
    outputFolder: z.optional(z.string()),
    ...sandbox,
    ...owner,
  }),
  /** Takes over a kept command. Answered like `spawn`, with output from an offset on. */
  adopt: z.object({
    /** The name given to `spawn`. */
    commandId: z.string(),
    /** How many bytes of output to skip, counting both streams. */
    fromOffset: z.number(),
    /** How long it continues to run after this host has died, in ms. */
    keepMs: z.optional(z.number()),
    ...owner,
  }),
  /** Ends the session's commands with lower epochs. */
  end_commands: z.object({
    /** The session. */
    session: z.string(),
    /** The lowest epoch whose commands are kept. */
    beforeEpoch: z.number(),
  }),
  /** Writes to the input of a command. */
  write_input: z.object({
    ...command,
    /** The bytes, in base64. */
    data: z.string(),
  }),
  /** Ends the input of a command. */
  end_input: z.object(command),
  /** Sends a signal to a command and all its children. */
  kill: z.object({
    ...command,
    /** The signal; default `SIGTERM`. */
    signal: z.optional(z.string()),
  }),
  /** Searches names or contents. */
  search: z.object({
    ...path,
    /** `grep` searches contents, `find` searches names. */
    kind: z.enum(["grep", "find"]),
    /** A regular expression of ripgrep; for `find`, a glob. */
    pattern: z.string(),
    /** Only files whose names match. */
    glob: z.optional(z.string()),
    /** Whether to ignore case. */
    ignoreCase: z.optional(z.boolean()),
    /** Whether the pattern is literal text. */
    literal: z.optional(z.boolean()),
    /** The number of context lines around each match. */
    context: z.optional(z.number()),
    /** The maximum number of matches. */
    limit: z.number(),
  }),
  /**
   * Opens a sandbox. Answered at once; connections of its commands follow as events. `cancel` closes it, once
   * its commands have ended.
   */
  open_sandbox: z.object({
    /** The id for later calls: letters, digits, `-` and `_`. */
    sandboxId: z.string(),
    /** The initial working folder. */
    cwd: z.string(),
    /** Whether the working folder is writable. */
    mode: z.enum(["workspace", "readOnly"]),
    /** Other writable paths: absolute, `~`, or relative to the working folder. */
    write: z.optional(z.array(z.string())),
    /** Unreadable paths, in the same notation. */
    denyRead: z.optional(z.array(z.string())),
    /** The network access of commands: none, all, or a proxy at the other end of this connection. */
    network: z.enum(["off", "all", "host"]),
    /** What happens to commands if there is no sandbox; `ask` refuses them, too. */
    whenUnavailable: z.optional(z.enum(["refuse", "ask", "run"])),
    /** Variables for its commands. */
    variables: z.optional(z.record(z.string(), z.string())),
    /** Variables of the workspace that its commands do not inherit. */
    hidden: z.optional(z.array(z.string())),
    /** An additional certificate that its commands trust, as PEM. */
    certificate: z.optional(z.string()),
  }),
  /** Writes to a command that has connected to the proxy. */
  write_connection: z.object({
    ...connection,
    /** The bytes, in base64. */
    data: z.string(),
  }),
  /** Ends the writing side of a connection. */
  end_connection: z.object(connection),
  /** Closes a connection. */
  close_connection: z.object(connection),
  /** Acknowledges received bytes of a connection; the server holds back more than 1 MiB of unacknowledged data. */
  ack_connection: z.object({
    ...connection,
    /** The number of bytes since the last acknowledgement. */
    bytes: z.number(),
  }),
  /** Checks that the server is alive. */
  ping: z.object({}),
});
export type ExecServerParams = z.infer<typeof ExecServerParams>;
