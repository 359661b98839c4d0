import * as z from "zod/mini";
import { FrameId } from "./frame-params.ts";
import { workspaceErrorTexts } from "./workspace-error.ts";

// The frames of an exec server, for the published schema and for types. Nothing that runs imports them: an
// exec server is one small file.

const Started = z.object({
  /** Names it in later requests. */
  processId: FrameId,
  /** Its number in the place's process table. */
  pid: z.optional(z.number()),
});
const Kind = z.enum(["file", "directory", "symlink", "other"]);
const Stream = z.enum(["stdout", "stderr"]);

/** What commands at the place depend on. */
const platform = {
  /** The kind of platform. */
  platform: z.enum(["linux", "darwin", "win32"]),
  /** The home folder of the user. */
  homeDirectory: z.string(),
  /** The folder for temporary files. */
  temporaryDirectory: z.string(),
  /** The program that runs the lines of `spawn`. */
  shell: z.string(),
};

/** What each method of an exec server answers as `result`; the others answer `{}`. */
export const ExecServerResults = z.object({
  /** What the place is. */
  describe: z.object({
    ...platform,
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
  /** The sandbox is open, or would be where it were available. */
  open_sandbox: z.object({
    /** Whether commands run inside. */
    available: z.boolean(),
    /** What encloses them. */
    mechanism: z.nullable(z.enum(["bubblewrap", "seatbelt"])),
    /** Why it is not available. */
    reason: z.optional(z.string()),
    /** What to do then. */
    remedy: z.optional(z.string()),
    /** Real paths of files and folders that no call in it reads. */
    denied: z.array(z.string()),
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
  ...platform,
  /** The number of the server in the place's process table. */
  pid: z.number(),
  /** The folder in which the work starts. */
  cwd: z.string(),
  /** What the server can do beyond files and commands. */
  capabilities: z.object({
    /** Whether it has the method `search`. */
    search: z.boolean(),
    /** Whether it has the method `open_sandbox`. */
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

/** A command in a sandbox has connected to the proxy, wrote to it, has ended its side, or is gone. */
export const ExecServerConnection = z.object({
  /** The id of the `open_sandbox` request. */
  id: FrameId,
  /** What happened: `connect` is the first event of a connection, `close` the last. */
  event: z.enum(["connect", "data", "end", "close"]),
  /** Names the connection. */
  connectionId: z.number(),
  /** The bytes of `data`, in base64. */
  data: z.optional(z.string()),
});
export type ExecServerConnection = z.infer<typeof ExecServerConnection>;

/** A sandbox has ended. */
export const ExecServerSandboxEnd = z.object({
  /** The id of the `open_sandbox` request. */
  id: FrameId,
  event: z.literal("sandbox_end"),
});
export type ExecServerSandboxEnd = z.infer<typeof ExecServerSandboxEnd>;

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
  ExecServerConnection,
  ExecServerSandboxEnd,
  ExecServerBadFrame,
]);
export type ExecServerFrame = z.infer<typeof ExecServerFrame>;
