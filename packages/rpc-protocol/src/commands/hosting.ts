import * as z from "zod/mini";
import { PendingRequest } from "../vocabulary/host-request.ts";
import { AgentMessage } from "../vocabulary/message.ts";
import { ThinkingLevel } from "../vocabulary/model.ts";
import { WorkspaceChoice } from "../vocabulary/workspace-state.ts";
import { command } from "./command.ts";
import { SessionState } from "./state.ts";

const handle = {
  /** The handle of the session, from `open_session` or `list_sessions`. */
  sessionId: z.string(),
};

/** A credential that the sandbox's proxy inserts into requests. */
const Secret = () =>
  z.object({
    /** The variable that contains a placeholder for commands. */
    env: z.string(),
    /** Where the value comes from: `$NAME` for an environment variable, or `!command`. */
    value: z.string(),
    /** The only hosts that may receive it: exact names, port 443 unless `name:port`. */
    hosts: z.array(z.string()),
    /** The header to set if a request has none: `bearer`, `basic` or `header:<name>`. */
    as: z.optional(z.string()),
    /** The only permitted methods. */
    methods: z.optional(z.array(z.string())),
    /** Globs for the only permitted paths, matched after decoding and normalisation. */
    paths: z.optional(z.array(z.string())),
  });

/** A position among the frames of a session. */
const position = {
  /** Identifies one run of the session; another run has other frames. */
  streamId: z.string(),
  /** The number of the session's last frame. */
  seq: z.number(),
};

/** What a client needs to know about a session to follow its frames from now on. */
const snapshot = {
  ...position,
  /** The state of the session. */
  state: SessionState,
  /** The open host requests, as `get_pending_requests` lists them. */
  pendingRequests: z.array(PendingRequest),
  /** The reply so far, if one is streaming. */
  message: z.optional(AgentMessage),
};

/** Frames about the sessions to which a connection is attached. */
export const HostingFrame = z.discriminatedUnion("type", [
  z.object({
    /** The connection is up to date; all later frames are new. */
    type: z.literal("live"),
    /** The handle of the session; absent if the host has only one. */
    sessionId: z.optional(z.string()),
    /** The number of the session's last frame. */
    seq: z.number(),
  }),
  z.object({
    /** The frames after the cursor cannot be sent; `get_entries` returns their content. */
    type: z.literal("resync"),
    /** The handle of the session; absent if the host has only one. */
    sessionId: z.optional(z.string()),
    /** Why: the session was restarted, or the cursor is too old or in the future. */
    reason: z.enum(["stream_changed", "cursor_too_old", "cursor_ahead"]),
    ...snapshot,
  }),
  z.object({
    /** The session is closed; no later frame has its handle. */
    type: z.literal("session_closed"),
    /** The handle of the session. */
    sessionId: z.string(),
    /** Why: a client closed it, nobody used it, the host drains, or its process ended. */
    reason: z.enum(["closed", "idle", "drain", "error"]),
  }),
]);
export type HostingFrame = z.infer<typeof HostingFrame>;

/** A session of a host with many sessions. */
export const HostedSessionInfo = z.object({
  /** The handle of the session in this process. */
  sessionId: z.string(),
  /** The id of the conversation; null while it is being opened. */
  durableSessionId: z.nullable(z.string()),
  /** The session file; null if there is none. */
  sessionPath: z.nullable(z.string()),
  /** The folder it works in; null while it is being opened. */
  cwd: z.nullable(z.string()),
  /** The name shown in session lists; null if it has none. */
  name: z.nullable(z.string()),
  /** The current activity. */
  status: z.enum(["opening", "idle", "running", "closing"]),
  /** Cost in US dollars; absent while it is unknown, as for a session in its own process. */
  cost: z.optional(z.number()),
  /** How many host requests are open. */
  pendingRequests: z.optional(z.number()),
  /** When the conversation began, in ms since the epoch. */
  startedAt: z.optional(z.number()),
  /** When something last happened in it, in ms since the epoch. */
  activeAt: z.optional(z.number()),
});
export type HostedSessionInfo = z.infer<typeof HostedSessionInfo>;

/** Several sessions in one host, and several connections to them. */
export const hostingCommands = {
  open_session: command({
    summary:
      "With `--sessions`: opens a session with its own folder, environment, keys and settings, and attaches the connection to it.",
    params: () =>
      z.object({
        /** The project folder, absolute; by default that of the session file, of the workspace, or of the host. */
        cwd: z.optional(z.string()),
        /**
         * Where the tools act: a name from the user's settings, or how to reach the workspace; by default,
         * the host's machine.
         */
        workspace: z.optional(WorkspaceChoice),
        /** The session file to continue, absolute; created if it does not exist. */
        sessionPath: z.optional(z.string()),
        /** The id of the conversation to continue; created if there is none. */
        durableSessionId: z.optional(z.string()),
        /** The project to which the conversation belongs in its store; by default, derived from the folder. */
        projectKey: z.optional(z.string()),
        /** The provider of the model. */
        provider: z.optional(z.string()),
        /** The model. */
        modelId: z.optional(z.string()),
        /** Models, as `provider/id`, to use in this order when the current one fails. */
        fallbackModels: z.optional(z.array(z.string())),
        /** Whether a prompt whose host died continues now; by default, it waits for `prompt` with `resume`. */
        resume: z.optional(z.literal("auto")),
        /** The thinking level. */
        thinkingLevel: z.optional(ThinkingLevel),
        /** Credentials that commands in the sandbox can use but never see, in addition to those of the settings. */
        secrets: z.optional(z.array(Secret())),
        /** Added to the host's environment for this session; null removes a variable. */
        environment: z.optional(z.record(z.string(), z.nullable(z.string()))),
        /** A key for the provider, for this session only. */
        apiKey: z.optional(z.string()),
        /** Whether to trust the session's folder; by default, the saved decision applies. */
        approve: z.optional(z.boolean()),
      }),
    result: () =>
      z.object({
        /** The handle with which commands name the session; never reused. */
        sessionId: z.string(),
        /** The state of the session. */
        state: SessionState,
        ...position,
      }),
    takesLong: true,
    scope: "host",
    beginsWork: true,
  }),
  close_session: command({
    summary:
      "With `--sessions`: stops what the session is doing and closes it; the answer is its last frame.",
    params: () => z.object(handle),
    positional: ["sessionId"],
    takesLong: true,
    answersAtOnce: true,
  }),
  attach: command({
    summary:
      "Sends the connection the frames of a session: with `after`, those after it first; then `live`. If they are not kept any more, `resync` replaces them.",
    params: () =>
      z.object({
        /** The handle of the session; optional if the host has only one. */
        sessionId: z.optional(z.string()),
        /** The run of the session to which `after` refers; the current one by default. */
        streamId: z.optional(z.string()),
        /** The number of the last frame that the client has; without it, no earlier frames are sent. */
        after: z.optional(z.number().check(z.gte(0))),
      }),
    result: () => z.object(snapshot),
    positional: ["sessionId"],
    answersAtOnce: true,
  }),
  detach: command({
    summary: "Sends the connection no more frames of a session; the session goes on.",
    params: () =>
      z.object({
        /** The handle of the session; optional if the host has only one. */
        sessionId: z.optional(z.string()),
      }),
    positional: ["sessionId"],
    answersAtOnce: true,
  }),
  drain: command({
    summary:
      "Accepts no new prompts, lets running ones end for a while, aborts the rest, closes all sessions and returns where their frames ended. A listening host then exits.",
    result: () =>
      z.object({
        /** The sessions that were open. */
        sessions: z.array(
          z.object({
            /** The handle of the session; in a host with one session, its id. */
            sessionId: z.string(),
            /** The id of the conversation. */
            durableSessionId: z.string(),
            ...position,
          }),
        ),
      }),
    takesLong: true,
    scope: "host",
    answersAtOnce: true,
  }),
};
