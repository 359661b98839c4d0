import * as z from "zod/mini";
import { workspaceErrorTexts } from "./workspace-error.ts";

// The frames of an exec server, for the published schema and for types. Nothing that runs imports them: an
// exec server is one small file.

/** The id of a request; a safe integer or a text. */
const FrameId = z.union([z.string(), z.number()]);

/** The part of the place that a call may open. */
const Reach = z.object({
  /** What is really opened must be inside one of these files or folders. */
  allow: z.array(z.string()),
  /** It must be inside none of these. */
  deny: z.array(z.string()),
});

const access = {
  /** What the call may open; absent for all that the user of the place may open. */
  within: z.optional(Reach),
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
const Started = z.object({
  /** Names it in later requests. */
  processId: FrameId,
  /** Its number in the place's process table. */
  pid: z.optional(z.number()),
});
const Kind = z.enum(["file", "directory", "symlink", "other"]);
const Stream = z.enum(["stdout", "stderr"]);

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
  /** Asks whether the server is there. */
  ping: z.object({}),
});
export type ExecServerParams = z.infer<typeof ExecServerParams>;

/** What each method of an exec server answers as `result`; the others answer `{}`. */
export const ExecServerResults = z.object({
  /** What the place is. */
  describe: z.object({
    /** The kind of platform. */
    platform: z.enum(["linux", "darwin", "win32"]),
    /** The home folder of the user. */
    homeDirectory: z.string(),
    /** The folder for temporary files. */
    temporaryDirectory: z.string(),
    /** The program that runs the lines of `spawn`. */
    shell: z.string(),
    /** The name of the user. */
    user: z.optional(z.string()),
    /** The promises that the place cannot keep. */
    limited: z.array(z.string()),
  }),
  /** Null when nothing is there. */
  stat: z.nullable(
    z.object({
      /** What it is. */
      kind: Kind,
      /** In bytes. */
      size: z.number(),
      /** Permission bits. */
      mode: z.optional(z.number()),
      /** In ms since the epoch, by the clock of the place. */
      modifiedAt: z.optional(z.number()),
      /** The path without links. */
      realPath: z.optional(z.string()),
    }),
  ),
  /** Unsorted, without `.` and `..`. */
  list: z.array(
    z.object({
      /** The name. */
      name: z.string(),
      /** What it is; links are not followed. */
      kind: Kind,
    }),
  ),
  /** Fewer bytes than asked for mean the end of the file, unless more than 4 MiB were asked for. */
  read: z.object({
    /** The bytes, in base64. */
    data: z.string(),
  }),
  /** The command runs. */
  spawn: Started,
  /** The command goes on, or has ended. */
  adopt: Started,
  /** The commands are over. */
  end_commands: z.object({
    /** How many there were. */
    ended: z.number(),
  }),
  /** What was found. */
  search: z.object({
    /** The matches. */
    matches: z.array(
      z.object({
        /** The file. */
        path: z.string(),
        /** The line, from 1; absent for `find`. */
        line: z.optional(z.number()),
        /** The text of the line. */
        text: z.optional(z.string()),
        /** Lines before the match, the nearest last. */
        before: z.optional(z.array(z.string())),
        /** Lines after the match. */
        after: z.optional(z.array(z.string())),
      }),
    ),
    /** Whether there may be more matches than the limit. */
    truncated: z.boolean(),
  }),
});
export type ExecServerResults = z.infer<typeof ExecServerResults>;

/** A call of one method, with its parameters; `ExecServerParams` has them by method. */
export const ExecServerRequest = z.object({
  /** Comes back in the answer and the events; not that of a request that is still open. */
  id: FrameId,
  /** The method. */
  method: z.string(),
  /** Its parameters; may be left out where there are none. */
  params: z.optional(z.record(z.string(), z.unknown())),
});
export type ExecServerRequest = z.infer<typeof ExecServerRequest>;

/** Ends an open request early: it is answered with `aborted`; a command that runs is ended. */
export const ExecServerCancel = z.object({
  /** The id of the request. */
  cancel: FrameId,
});
export type ExecServerCancel = z.infer<typeof ExecServerCancel>;

/** The first frame of an exec server: it reads requests. */
export const ExecServerReady = z.object({
  type: z.literal("ready"),
  /** The version of this protocol. */
  protocolVersion: z.literal(1),
  /** The kind of platform. */
  platform: z.enum(["linux", "darwin", "win32"]),
  /** The home folder of the user. */
  homeDirectory: z.string(),
  /** The folder for temporary files. */
  temporaryDirectory: z.string(),
  /** The program that runs the lines of `spawn`. */
  shell: z.string(),
  /** The number of the server in the place's process table. */
  pid: z.number(),
  /** The folder in which the work starts. */
  cwd: z.string(),
  /** What the server can do beyond files and commands. */
  capabilities: z.object({
    /** Whether it has the method `search`. */
    search: z.boolean(),
    /** Whether it can enclose commands in a sandbox. */
    sandbox: z.boolean(),
    /** Whether commands can outlive it. */
    durable: z.boolean(),
  }),
});
export type ExecServerReady = z.infer<typeof ExecServerReady>;

/** The answer to a request that succeeded. */
export const ExecServerAnswer = z.object({
  /** The id of the request. */
  id: FrameId,
  /** By method, as in `ExecServerResults`. */
  result: z.unknown(),
});
export type ExecServerAnswer = z.infer<typeof ExecServerAnswer>;

/** The answer to a request that failed. */
export const ExecServerFailure = z.object({
  /** The id of the request. */
  id: FrameId,
  /** Why it failed. */
  error: z.object({
    /** What went wrong. */
    code: z.enum(Object.keys(workspaceErrorTexts) as [keyof typeof workspaceErrorTexts]),
    /** The same in words. */
    message: z.string(),
    /** The path that it is about. */
    path: z.optional(z.string()),
  }),
});
export type ExecServerFailure = z.infer<typeof ExecServerFailure>;

/** Output of a command. */
export const ExecServerOutput = z.object({
  /** The id of the `spawn` request. */
  id: FrameId,
  event: z.literal("output"),
  /** Where it came from. */
  stream: Stream,
  /** The bytes, in base64. */
  data: z.string(),
});
export type ExecServerOutput = z.infer<typeof ExecServerOutput>;

/** A command has ended and its output is sent. */
export const ExecServerExit = z.object({
  /** The id of the `spawn` request. */
  id: FrameId,
  event: z.literal("exit"),
  /** Null when a signal ended it. */
  exitCode: z.nullable(z.number()),
  /** The signal that ended it. */
  signal: z.optional(z.string()),
  /** Whether its time limit was over. */
  timedOut: z.optional(z.boolean()),
});
export type ExecServerExit = z.infer<typeof ExecServerExit>;

/** The answer to a line that is not a request: no JSON object, without id or method, or with an open id. */
export const ExecServerBadFrame = z.object({
  /** What was wrong. */
  error: z.object({ code: z.literal("bad_frame") }),
});
export type ExecServerBadFrame = z.infer<typeof ExecServerBadFrame>;

/** What an exec server reads: lines of JSON, at most 8 MiB each. */
export const ExecClientFrame = z.union([ExecServerRequest, ExecServerCancel]);
export type ExecClientFrame = z.infer<typeof ExecClientFrame>;

/** What an exec server writes: lines of JSON, at most 8 MiB each. */
export const ExecServerFrame = z.union([
  ExecServerReady,
  ExecServerAnswer,
  ExecServerFailure,
  ExecServerOutput,
  ExecServerExit,
  ExecServerBadFrame,
]);
export type ExecServerFrame = z.infer<typeof ExecServerFrame>;
