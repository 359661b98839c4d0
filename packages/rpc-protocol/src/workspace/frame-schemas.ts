import * as z from "zod/mini";
import { FrameId } from "./frame-params.ts";
import { workspaceErrorTexts } from "./workspace-error.ts";

// The frames of an exec server, for the published schema and for types. No running code imports them, because
// an exec server is one small file.

const Started = z.object({
  /** The id of the process in later requests. */
  processId: FrameId,
  /** The process id on that machine. */
  pid: z.optional(z.number()),
});
const Kind = z.enum(["file", "directory", "symlink", "other"]);
const Stream = z.enum(["stdout", "stderr"]);

/** The properties of the workspace that commands depend on. */
const platform = {
  /** The kind of platform. */
  platform: z.enum(["linux", "darwin", "win32"]),
  /** The home folder of the user. */
  homeDirectory: z.string(),
  /** The folder for temporary files. */
  temporaryDirectory: z.string(),
  /** The shell that runs the command lines of `spawn`. */
  shell: z.string(),
};

/** The `result` of each method of an exec server; the other methods return `{}`. */
export const ExecServerResults = z.object({
  /** The description of the workspace. */
  describe: z.object({
    ...platform,
    /** The name of the user. */
    user: z.optional(z.string()),
    /** The guarantees that the workspace cannot give. */
    limited: z.array(z.string()),
  }),
  /** Null if nothing exists there. */
  stat: z.nullable(
    z.object({
      /** The kind of file. */
      kind: Kind,
      /** The size in bytes. */
      size: z.number(),
      /** The permission bits. */
      mode: z.optional(z.number()),
      /** The time of the last change in ms since the epoch, by the clock of the workspace. */
      modifiedAt: z.optional(z.number()),
      /** The real path, with all links resolved. */
      realPath: z.optional(z.string()),
    }),
  ),
  /** Unsorted, without `.` and `..`. */
  list: z.array(
    z.object({
      /** The name. */
      name: z.string(),
      /** The kind of file; links are not followed. */
      kind: Kind,
    }),
  ),
  /** Fewer bytes than requested mean the end of the file, unless more than 4 MiB were requested. */
  read: z.object({
    /** The bytes, in base64. */
    data: z.string(),
  }),
  /** The command is running. */
  spawn: Started,
  /** The command continues, or has ended. */
  adopt: Started,
  /** The commands have been ended. */
  end_commands: z.object({
    /** The number of ended commands. */
    ended: z.number(),
  }),
  /** The sandbox is open, or described if it is not available. */
  open_sandbox: z.object({
    /** Whether commands run inside. */
    available: z.boolean(),
    /** The sandbox mechanism. */
    mechanism: z.nullable(z.enum(["bubblewrap", "seatbelt"])),
    /** Why it is not available. */
    reason: z.optional(z.string()),
    /** How to make it available. */
    remedy: z.optional(z.string()),
    /** Real paths of files and folders that no call in the sandbox can read. */
    denied: z.array(z.string()),
  }),
  /** The matches. */
  search: z.object({
    /** The matches. */
    matches: z.array(
      z.object({
        /** The file. */
        path: z.string(),
        /** The line number, from 1; absent for `find`. */
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

/** A call of one method with its parameters; `ExecServerParams` lists them by method. */
export const ExecServerRequest = z.object({
  /** Repeated in the answer and the events; must differ from the ids of open requests. */
  id: FrameId,
  /** The method. */
  method: z.string(),
  /** The parameters; optional for methods without parameters. */
  params: z.optional(z.record(z.string(), z.unknown())),
});
export type ExecServerRequest = z.infer<typeof ExecServerRequest>;

/** Cancels an open request: it is answered with `aborted`, and a running command is ended. */
export const ExecServerCancel = z.object({
  /** The id of the request. */
  cancel: FrameId,
});
export type ExecServerCancel = z.infer<typeof ExecServerCancel>;

/** The first frame of an exec server: it is ready for requests. */
export const ExecServerReady = z.object({
  type: z.literal("ready"),
  /** The version of this protocol. */
  protocolVersion: z.literal(1),
  ...platform,
  /** The server's process id on that machine. */
  pid: z.number(),
  /** The initial working directory. */
  cwd: z.string(),
  /** What the server supports besides files and commands. */
  capabilities: z.object({
    /** Whether it supports `search`. */
    search: z.boolean(),
    /** Whether it supports `open_sandbox`. */
    sandbox: z.boolean(),
    /** Whether commands can outlive the server. */
    durable: z.boolean(),
  }),
});
export type ExecServerReady = z.infer<typeof ExecServerReady>;

/** The answer to a successful request. */
export const ExecServerAnswer = z.object({
  /** The id of the request. */
  id: FrameId,
  /** By method, as in `ExecServerResults`. */
  result: z.unknown(),
});
export type ExecServerAnswer = z.infer<typeof ExecServerAnswer>;

/** The answer to a failed request. */
export const ExecServerFailure = z.object({
  /** The id of the request. */
  id: FrameId,
  /** Why it failed. */
  error: z.object({
    /** The error code. */
    code: z.enum(Object.keys(workspaceErrorTexts) as [keyof typeof workspaceErrorTexts]),
    /** The error message. */
    message: z.string(),
    /** The affected path. */
    path: z.optional(z.string()),
  }),
});
export type ExecServerFailure = z.infer<typeof ExecServerFailure>;

/** Output of a command. */
export const ExecServerOutput = z.object({
  /** The id of the `spawn` request. */
  id: FrameId,
  event: z.literal("output"),
  /** The stream. */
  stream: Stream,
  /** The bytes, in base64. */
  data: z.string(),
});
export type ExecServerOutput = z.infer<typeof ExecServerOutput>;

/** A command has ended and all its output was sent. */
export const ExecServerExit = z.object({
  /** The id of the `spawn` request. */
  id: FrameId,
  event: z.literal("exit"),
  /** The exit code; null if a signal ended it. */
  exitCode: z.nullable(z.number()),
  /** The signal that ended it. */
  signal: z.optional(z.string()),
  /** Whether it exceeded its time limit. */
  timedOut: z.optional(z.boolean()),
});
export type ExecServerExit = z.infer<typeof ExecServerExit>;

/** A command in a sandbox has connected to the proxy, written to it, or closed one or both sides of the connection. */
export const ExecServerConnection = z.object({
  /** The id of the `open_sandbox` request. */
  id: FrameId,
  /** The kind of event: `connect` is the first event of a connection, `close` the last. */
  event: z.enum(["connect", "data", "end", "close"]),
  /** The id of the connection. */
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

/** The answer to an invalid request: not a JSON object, without id or method, or with the id of an open request. */
export const ExecServerBadFrame = z.object({
  /** A description of the error. */
  error: z.object({ code: z.literal("bad_frame") }),
});
export type ExecServerBadFrame = z.infer<typeof ExecServerBadFrame>;

/** The frames that an exec server reads: lines of JSON, at most 8 MiB each. */
export const ExecClientFrame = z.union([ExecServerRequest, ExecServerCancel]);
export type ExecClientFrame = z.infer<typeof ExecClientFrame>;

/** The frames that an exec server writes: lines of JSON, at most 8 MiB each. */
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
