import * as z from "zod/mini";

// As the other schemas of frames: nothing that runs imports them.

/** The id of a request; a safe integer or a text. */
export const FrameId = z.union([z.string(), z.number()]);

/** The part of the place that a call may open. */
const Reach = z.object({
  /** What is really opened must be inside one of these files or folders. */
  allow: z.array(z.string()),
  /** It must be inside none of these. */
  deny: z.array(z.string()),
});

const SandboxUse = z.object({
  /** The `sandboxId` of an open sandbox. */
  id: z.string(),
  /** The working folder of the session at this moment. */
  cwd: z.string(),
});
const sandbox = {
  /** The sandbox that the call acts in; one that is not open is `sandbox_unavailable`. */
  sandbox: z.optional(SandboxUse),
};
const access = {
  /** What the call may open; absent for all that the user of the place may open. */
  within: z.optional(Reach),
  ...sandbox,
};
const path = {
  /** An absolute path in the notation of the place. */
  path: z.string(),
  ...access,
};
/** For whom something is changed; both or none. */
const owner = {
  /** Names the session: letters, digits, `-` and `_`. */
  session: z.optional(z.string()),
  /** Rises each time that a host takes the session; a lower one than the highest seen is `stale_epoch`. */
  epoch: z.optional(z.number()),
};
const change = { ...path, ...owner };
const command = {
  /** The command, as `spawn` answered it. */
  processId: FrameId,
};
const connection = {
  /** The connection, as the event `connect` has it. */
  connectionId: FrameId,
};
/** The parameters of each method of an exec server. */
export const ExecServerParams = z.object({
  /** What the place is. */
  describe: z.object({}),
  /** What a path leads to. */
  stat: z.object({
    ...path,
    /** Whether a link is followed; default true. */
    followLinks: z.optional(z.boolean()),
  }),
  /** The names in a folder. */
  list: z.object(path),
  /** Bytes of a file, at most 4 MiB in one answer. */
  read: z.object({
    ...path,
    /** The first byte; default 0. */
    offset: z.optional(z.number()),
    /** The most bytes; default all that one answer holds. */
    length: z.optional(z.number()),
  }),
  /** Replaces a file. */
  write: z.object({
    ...change,
    /** The bytes, in base64. */
    data: z.string(),
    /** The permission bits of a new file, less the umask; default 0666. */
    mode: z.optional(z.number()),
    /** Names the file that this is a part of. Parts come in order; the last one replaces the target. */
    upload: z.optional(FrameId),
    /** Whether this is the last part. */
    last: z.optional(z.boolean()),
  }),
  /** Removes a file, a link or a folder. */
  remove: z.object({
    ...change,
    /** Whether what is in a folder is removed, too. */
    recursive: z.optional(z.boolean()),
  }),
  /** Moves a file or folder; replaces a file. */
  rename: z.object({
    /** Where it is. */
    from: z.string(),
    /** Where it goes. */
    to: z.string(),
    ...access,
    ...owner,
  }),
  /** Makes a folder and its parents. */
  createDirectory: z.object(change),
  /** Starts a command, answered at once; its output and its end follow as events. */
  spawn: z.object({
    /** A line for the shell, or a program with its arguments. */
    command: z.union([z.string(), z.array(z.string())]),
    /** The folder it runs in; default the server's. */
    cwd: z.optional(z.string()),
    /** Added to the variables of the place; null removes one. */
    environment: z.optional(z.record(z.string(), z.nullable(z.string()))),
    /** Whether its input is open; default `none`. */
    stdin: z.optional(z.enum(["none", "open"])),
    /** Ends it after this time, in ms. */
    timeoutMs: z.optional(z.number()),
    /** Keeps the command under this name, so that `adopt` can go on with it. */
    commandId: z.optional(z.string()),
    /** How long a kept command runs on when its host has died, in ms. */
    keepMs: z.optional(z.number()),
    /** The folder for the output of a kept command, instead of events. */
    outputFolder: z.optional(z.string()),
    ...sandbox,
    ...owner,
  }),
  /** Goes on with a kept command; answered as `spawn`, with output from an offset on. */
  adopt: z.object({
    /** The name that `spawn` gave it. */
    commandId: z.string(),
    /** How many bytes of output, of both streams together, are left out. */
    fromOffset: z.number(),
    /** How long it runs on when this host dies, too, in ms. */
    keepMs: z.optional(z.number()),
    ...owner,
  }),
  /** Ends the session's commands of lower epochs. */
  end_commands: z.object({
    /** The session. */
    session: z.string(),
    /** The first epoch whose commands stay. */
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
  /** Sends a signal to a command and all that it started. */
  kill: z.object({
    ...command,
    /** The signal; default `SIGTERM`. */
    signal: z.optional(z.string()),
  }),
  /** Searches names or contents. */
  search: z.object({
    ...path,
    /** `grep` looks into files, `find` at their names. */
    kind: z.enum(["grep", "find"]),
    /** A regular expression of ripgrep; for `find`, a glob. */
    pattern: z.string(),
    /** Only files whose names fit this. */
    glob: z.optional(z.string()),
    /** Whether capital and small letters are the same. */
    ignoreCase: z.optional(z.boolean()),
    /** Takes the pattern as text. */
    literal: z.optional(z.boolean()),
    /** Lines to show around each match. */
    context: z.optional(z.number()),
    /** The most matches. */
    limit: z.number(),
  }),
  /**
   * Opens a sandbox, answered at once; connections of its commands follow as events. `cancel` ends it, once its
   * commands have ended.
   */
  open_sandbox: z.object({
    /** Names it in calls: letters, digits, `-` and `_`. */
    sandboxId: z.string(),
    /** The working folder at first. */
    cwd: z.string(),
    /** Whether the working folder may be written. */
    mode: z.enum(["workspace", "readOnly"]),
    /** More paths that may be written: absolute, `~`, or relative to the working folder. */
    write: z.optional(z.array(z.string())),
    /** Paths that may not be read, written in the same way. */
    denyRead: z.optional(z.array(z.string())),
    /** What commands reach: nothing, all, or a proxy at the other end of this connection. */
    network: z.enum(["off", "all", "host"]),
    /** What happens to commands where there is no sandbox; `ask` refuses them, too. */
    whenUnavailable: z.optional(z.enum(["refuse", "ask", "run"])),
    /** Variables for its commands. */
    variables: z.optional(z.record(z.string(), z.string())),
    /** Variables of the place that its commands do not inherit. */
    hidden: z.optional(z.array(z.string())),
    /** A certificate that its commands trust, too, as PEM. */
    certificate: z.optional(z.string()),
  }),
  /** Writes to a command that connected to the proxy. */
  write_connection: z.object({
    ...connection,
    /** The bytes, in base64. */
    data: z.string(),
  }),
  /** Nothing more is written to the connection. */
  end_connection: z.object(connection),
  /** Gives up a connection. */
  close_connection: z.object(connection),
  /** Tells how much that came over a connection is taken; the server holds back what is over 1 MiB. */
  ack_connection: z.object({
    ...connection,
    /** The number of bytes since the last time. */
    bytes: z.number(),
  }),
  /** Asks whether the server is there. */
  ping: z.object({}),
});
export type ExecServerParams = z.infer<typeof ExecServerParams>;
