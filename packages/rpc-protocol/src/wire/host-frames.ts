import * as z from "zod/mini";
import { HostedSessionInfo, HostingFrame } from "../commands/hosting.ts";
import { type CommandName, commands } from "../commands/index.ts";
import type { ProtocolName } from "../dialects/index.ts";
import { AgentEvent } from "../vocabulary/agent-event.ts";
import { WorkspaceCallFrame, WorkspaceCancelFrame } from "../vocabulary/client-workspace.ts";
import { eventOrder } from "../vocabulary/event-order.ts";
import { ExtensionUiRequest, OpenUrlNotice } from "../vocabulary/extension-ui.ts";
import {
  HostRequestFrame,
  HostRequestResolved,
  HostToolCall,
  HostToolCancel,
} from "../vocabulary/host-request.ts";
import { HostUriCancel, HostUriRequest } from "../vocabulary/host-uri.ts";
import { Usage } from "../vocabulary/message.ts";
import {
  CompactionResult,
  outputResult,
  type SessionEvent,
  SessionOnlyEvent,
} from "../vocabulary/session-event.ts";
import { AssistantMessageEvent } from "../vocabulary/stream-event.ts";

/** A frame that a host may send, for the published schema. */
export interface FrameSchema {
  readonly name: string;
  /** Omitted if the doc comment of the schema, or of `event`, describes the frame. */
  readonly summary?: string;
  /** The event of which it is another form. */
  readonly event?: EventName;
  readonly schema: z.ZodMiniType;
}

type EventSchema = z.ZodMiniObject<{ type: z.ZodMiniLiteral<string> }>;
type EventName = SessionEvent["type"];

const events = new Map(
  [...AgentEvent.def.options, ...SessionOnlyEvent.def.options].map((schema) => {
    const [name = ""] = schema.def.shape.type.def.values;
    return [name as EventName, schema as unknown as EventSchema];
  }),
);

const id = {
  /** Returned in the response as it was sent. */
  id: z.optional(z.union([z.string(), z.number()])),
};
const readySummary =
  "The host reads commands; the first frame when the dialect is chosen at the start.";
const compactionReason = z.enum(["manual", "threshold", "overflow"]);
const head = { ...id, type: z.literal("response") };

/** The types of all events. */
export const eventTypes: readonly EventName[] = [...events.keys()];

const frames: Record<ProtocolName, () => FrameSchema[]> = {
  pi: everything,
  "pi-1": () => [
    ...everything().filter(({ name }) => !/^(MessageUpdate|.*Compaction(Start|End))$/.test(name)),
    own("Pi1CompactionStart", "A compaction of the conversation begins.", {
      type: z.literal("compaction_start"),
      /** Whether the client requested it, the window was nearly full, or a request was too large. */
      reason: compactionReason,
    }),
    own("Pi1CompactionEnd", "A compaction of the conversation has ended.", {
      ...shape("auto_compaction_end"),
      type: z.literal("compaction_end"),
      /** Whether the client requested it, the window was nearly full, or a request was too large. */
      reason: compactionReason,
      /** The summary and what it replaces; absent when the compaction failed or was stopped. */
      result: z.optional(CompactionResult),
    }),
  ],
  pisces: () => [...everything(), own("Ready", readySummary, { type: z.literal("ready") })],
  "oh-my-pi-18": () => [
    ...everything().filter(({ name }) => name !== "PromptResult" && name !== "SubagentEvent"),
    own("OhMyPi18Ready", readySummary, {
      type: z.literal("ready"),
      /** The version of the protocol. */
      protocolVersion: z.literal(1),
      /** The versions that a client may request. */
      supportedProtocolVersions: z.array(z.number()),
    }),
    own("OhMyPi18SubagentLifecycle", "A subagent starts or has ended.", {
      type: z.literal("subagent_lifecycle"),
      /** The subagent. */
      payload: z.looseObject({
        /** The id. */
        id: z.string(),
        /** The agent. */
        agent: z.string(),
        /** The kind of change. */
        status: z.enum(["started", "completed", "failed", "aborted"]),
      }),
    }),
    own("OhMyPi18SubagentProgress", "What a subagent is at.", {
      type: z.literal("subagent_progress"),
      /** The subagent, with its `progress`. */
      payload: z.looseObject({
        /** The state. */
        progress: z.looseObject({
          /** The id. */
          id: z.string(),
        }),
      }),
    }),
    own("OhMyPi18SubagentEvent", "An event of a subagent's own session.", {
      type: z.literal("subagent_event"),
      /** The id of the subagent, and the event. */
      payload: z.looseObject({
        /** The id of the subagent. */
        id: z.string(),
      }),
    }),
    own("OhMyPi18PromptResult", "How an accepted prompt ended; sent once per prompt.", {
      type: z.literal("prompt_result"),
      ...id,
      /** Whether the prompt reached the model; false if a command handled it. */
      agentInvoked: z.boolean(),
      /** How it ended. */
      status: z.enum(["completed", "aborted", "error"]),
      /** The error, if `status` is `error`. */
      error: z.optional(
        z.object({
          /** The error message. */
          message: z.string(),
          /** Whether the same prompt may succeed later. */
          retryable: z.boolean(),
        }),
      ),
      /** Whether nothing is running or waiting any more. */
      sessionSettled: z.boolean(),
      ...outputResult,
    }),
    own("OhMyPi18OpenUrl", "A page for the user to open.", OpenUrlNotice.def.shape),
    own("SessionSettled", "Nothing runs and nothing waits any more.", {
      type: z.literal("session_settled"),
    }),
  ],
  "oh-my-pi": () => [
    ...responses([...names()]),
    ...requestFrames(),
    ...original(
      "agent_start agent_end turn_start turn_end message_start message_update message_end",
      "tool_execution_start tool_execution_update tool_execution_end auto_compaction_start",
      "auto_compaction_end auto_retry_start auto_retry_end",
    ),
    deltaUpdate(),
    own("HookError", "An extension's handler threw an error.", {
      type: z.literal("hook_error"),
      /** The file of the extension. */
      hookPath: z.string(),
      /** The event whose handler threw. */
      event: z.string(),
      /** The error message. */
      error: z.string(),
    }),
  ],
  "co-mono": () => [
    ...responses(names().filter((name) => !["prompt", "abort", "compact"].includes(name))),
    ...requestFrames(),
    ...original(
      "agent_start agent_end turn_start turn_end message_start message_update message_end",
      "tool_execution_start",
    ),
    deltaUpdate(),
    own("CoMonoToolExecutionEnd", "A tool has ended; a call that failed has its text as result.", {
      ...shape("tool_execution_end"),
      /** The result of the tool. */
      result: z.union([z.string(), shape("tool_execution_end").result as z.ZodMiniType]),
    }),
    own("Compaction", "The conversation was compacted; `auto` when nobody asked for it.", {
      type: z.literal("compaction"),
      /** The text that replaces the summarised messages. */
      summary: z.string(),
      /** Tokens in the conversation before the compaction. */
      tokensBefore: z.number(),
      auto: z.optional(z.literal(true)),
    }),
    own("CoMonoError", "Something failed.", {
      type: z.literal("error"),
      /** The error message. */
      error: z.string(),
    }),
  ],
  "pi-rust": () => [
    ...responses([...names()]),
    ...requestFrames(),
    flat("agent_start"),
    flat("agent_end"),
    text("text_delta", "A piece of the reply."),
    text("thinking_delta", "A piece of what the model thinks."),
    flat("tool_execution_start", "tool_start"),
    flat("tool_execution_update", "tool_update"),
    flat("tool_execution_end", "tool_end"),
    flat("auto_retry_start"),
    flat("auto_retry_end"),
    flat("auto_compaction_start"),
    flat("auto_compaction_end"),
  ],
};

/** The frames that a host may send in each dialect, and no others. */
export const hostFrames = Object.fromEntries(
  Object.entries(frames).map(([dialect, list]) => [dialect, () => list().map(inOrder)]),
) as Record<ProtocolName, () => FrameSchema[]>;

const ofSession = {
  /** The handle of the session, in a host with `--sessions`. */
  sessionId: z.optional(z.string()),
};

/** Adds the members for cause, order and session, which every frame except answers and greetings has. */
function inOrder(frame: FrameSchema): FrameSchema {
  const schema = frame.schema as z.ZodMiniObject<Record<string, z.ZodMiniType>>;
  const { shape } = schema.def;
  if (/Ready$|^Listening$/.test(frame.name)) return frame;
  const isAnswer = "success" in shape && "command" in shape;
  const order = isAnswer || "seq" in shape ? {} : eventOrder;
  const session = "sessionId" in shape ? {} : ofSession;
  return { ...frame, schema: z.extend(schema, { ...session, ...order }) };
}

function everything(): FrameSchema[] {
  const summary = "An extension asks the client to show something.";
  return [
    ...responses(names()),
    ...requestFrames(),
    ...original(...events.keys()),
    deltaUpdate(),
    ...ExtensionUiRequest.def.options.map((schema) => {
      const [method = ""] = schema.def.shape.method.def.values;
      return { name: `ExtensionUiRequest${pascal(method)}`, summary, schema };
    }),
  ];
}

/** The same in every dialect, because only clients that requested them receive them. */
function requestFrames(): FrameSchema[] {
  const summary = "The host asks its client something; `initialize` says which methods it answers.";
  return [
    ...HostRequestFrame.def.options.map((schema) => {
      const [method = ""] = schema.def.shape.method.def.values;
      return { name: `HostRequest${pascal(method)}`, summary, schema };
    }),
    own("HostRequestResolved", "A host request has ended.", HostRequestResolved.def.shape),
    own("HostToolCall", "The host calls a tool of its client.", HostToolCall.def.shape),
    own("HostToolCancel", "A call of a tool is not wanted any more.", HostToolCancel.def.shape),
    own("HostUriRequest", "The host wants a URI of its client.", HostUriRequest.def.shape),
    own("HostUriCancel", "A request for a URI is not wanted any more.", HostUriCancel.def.shape),
    own(
      "WorkspaceCallFrame",
      "The host uses a workspace that its client serves.",
      WorkspaceCallFrame.def.shape,
    ),
    own(
      "WorkspaceCancelFrame",
      "A call of a workspace is not wanted any more.",
      WorkspaceCancelFrame.def.shape,
    ),
    own(
      "Listening",
      "A listening host says where it can be reached; nothing else is on its stdout.",
      {
        type: z.literal("listening"),
        /** The address for clients. */
        url: z.string(),
        /** The file with the token for this address; absent for a Unix socket. */
        tokenFile: z.optional(z.string()),
        /** With `--console`: a link that opens the console once, within five minutes. */
        console: z.optional(z.string()),
      },
    ),
    ...HostingFrame.def.options.map((schema) => {
      const [type = ""] = schema.def.shape.type.def.values;
      return { name: pascal(type), summary: hostingSummaries[type] ?? "", schema };
    }),
  ];
}

const hostingSummaries: Readonly<Record<string, string>> = {
  live: "The connection has everything of the session; what follows is new.",
  resync: "The frames after the cursor cannot be sent; `get_entries` has what they said.",
  session_closed: "The session is closed; the last frame with its handle.",
};

function names(): CommandName[] {
  return Object.keys(commands) as CommandName[];
}

function responses(of: readonly CommandName[]): FrameSchema[] {
  const failure = own("ErrorResponse", "A command failed; `code` comes after `initialize`.", {
    ...head,
    /** The id of the command, if it could be read. */
    id: id.id,
    /** The command that failed; `parse` when the line could not be read. */
    command: z.string(),
    success: z.literal(false),
    /** The error message. */
    error: z.string(),
    /** The error code. */
    code: z.optional(z.string()),
  });
  const sessions = own("OpenSessionsResponse", "Answers `list_sessions` without a session.", {
    ...head,
    command: z.literal("list_sessions"),
    success: z.literal(true),
    /** The result of the command. */
    data: z.object({
      /** The sessions of the host. */
      sessions: z.array(HostedSessionInfo),
    }),
  });
  return [...of.map(success), sessions, failure];
}

function success(name: CommandName): FrameSchema {
  const { data: policy, result } = commands[name];
  const data = {
    none: () => ({}),
    initialized: () => ({
      /** The result of the command. */
      data: z.optional(result() as z.ZodMiniType),
    }),
    always: () => ({
      /** The result of the command. */
      data: result() as z.ZodMiniType,
    }),
  };
  return own(`${pascal(name)}Response`, `Answers \`${name}\`.`, {
    ...head,
    command: z.literal(name),
    success: z.literal(true),
    ...data[policy](),
  });
}

function original(...lists: string[]): FrameSchema[] {
  return lists.flatMap((list) => list.split(" ")).map((type) => event(type as EventName));
}

function event(type: EventName): FrameSchema {
  return { name: pascal(type), schema: z.object(shape(type)) };
}

function shape(type: EventName): Record<string, z.ZodMiniType> {
  return { ...(events.get(type)?.def.shape as Record<string, z.ZodMiniType> | undefined) };
}

function deltaUpdate(): FrameSchema {
  const steps = AssistantMessageEvent.def.options
    .filter((step) => "contentIndex" in step.def.shape)
    .map((step) => {
      const { partial: _, ...rest } = step.def.shape as Record<string, z.ZodMiniType>;
      return z.strictObject(rest);
    });
  return own("MessageUpdateDelta", 'A step of a reply with `stream: "delta"`.', {
    type: z.literal("message_update"),
    /** Tokens and cost. */
    usage: z.optional(Usage),
    /** What changed in the reply. */
    assistantMessageEvent: z.union(steps),
  });
}

function flat(type: EventName, name: string = type): FrameSchema {
  const { type: _, ...data } = shape(type);
  const schema = z.object({
    type: z.literal(name),
    /** The members that the event has in other dialects. */
    data: z.object(data),
  });
  return { name: `PiRust${pascal(name)}`, event: type, schema };
}

function text(type: string, summary: string): FrameSchema {
  return own(`PiRust${pascal(type)}`, summary, {
    type: z.literal(type),
    /** The new piece of text. */
    data: z.string(),
  });
}

function own(name: string, summary: string, members: Record<string, z.ZodMiniType>): FrameSchema {
  return { name, summary, schema: z.object(members) };
}

function pascal(name: string): string {
  return name.replace(/(?:^|[_-])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
