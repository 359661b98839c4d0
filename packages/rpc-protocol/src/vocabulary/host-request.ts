import * as z from "zod/mini";
import { BudgetViolationReason } from "./budget.ts";
import { ExtensionUiRequest } from "./extension-ui.ts";
import { HostUriParams, type HostUriResult } from "./host-uri.ts";
import { ApprovalParams, OnTimeout } from "./permission.ts";

const head = {
  /** The id of the request, repeated in its answer. */
  id: z.string(),
  /** The prompt whose run asks. */
  promptId: z.optional(z.string()),
  /** The tool call that asks. */
  toolCallId: z.optional(z.string()),
  /** The subagent that asks, as in `subagent_start`; nested ones are joined by `/`. */
  agentId: z.optional(z.string()),
  /** When the request expires, in ms since the epoch; absent if it waits without a limit. */
  deadlineAt: z.optional(z.number()),
  /** What happens when nobody answers: the call is denied, or the request is cancelled. */
  onTimeout: OnTimeout,
};

const [select, confirm, input, editor] = ExtensionUiRequest.def.options;

/** The parameters of a dialog: an `extension_ui_request` without its `type` and `id`. */
export const DialogParams = z.discriminatedUnion("method", [
  z.omit(select, { type: true, id: true }),
  z.omit(confirm, { type: true, id: true }),
  z.omit(input, { type: true, id: true }),
  z.omit(editor, { type: true, id: true }),
]);
export type DialogParams = z.infer<typeof DialogParams>;

/** The question whether to raise an exhausted budget. */
export const BudgetParams = z.object({
  /** The exhausted limit. */
  dimension: BudgetViolationReason,
  /** Its value. */
  limit: z.number(),
  /** What has been used so far. */
  used: z.number(),
  /** The setting that defines the limit. */
  setting: z.string(),
  /** What the budget applies to. */
  scope: z.enum(["session", "task", "subagent"]),
  /** The question as text. */
  title: z.string(),
});
export type BudgetParams = z.infer<typeof BudgetParams>;

/** The answer about a budget: a limit above the current usage, or the end of the work. */
export const BudgetResult = z.union([
  z.object({
    /** The new limit. */
    limit: z.number(),
  }),
  z.object({
    /** Stops the work. */
    stop: z.literal(true),
  }),
]);
export type BudgetResult = z.infer<typeof BudgetResult>;

/** Questions of the model to the user. */
export const QuestionParams = z.object({
  /** One to four questions. */
  questions: z.array(
    z.object({
      /** The question. */
      question: z.string(),
      /** A short label for the question. */
      header: z.optional(z.string()),
      /** Two to four answers to choose from; no two have the same label. */
      options: z.array(
        z.object({
          /** The answer, as it appears in the result. */
          label: z.string(),
          /** What choosing it means. */
          description: z.optional(z.string()),
        }),
      ),
      /** Whether several labels may be chosen. */
      multiSelect: z.optional(z.boolean()),
    }),
  ),
});
export type QuestionParams = z.infer<typeof QuestionParams>;

/** The user's answers, or a refusal to answer. */
export const QuestionResult = z.union([
  z.object({
    /** One for each question, in their order. */
    answers: z.array(
      z.object({
        /** The labels that were chosen. */
        labels: z.array(z.string()),
        /** The user's own text, in addition to labels or instead of them. */
        text: z.optional(z.string()),
      }),
    ),
  }),
  z.object({
    /** The user does not answer. */
    cancelled: z.literal(true),
  }),
]);
export type QuestionResult = z.infer<typeof QuestionResult>;

/** A question of an MCP server to the user, or a page that it wants opened. */
export const ElicitationParams = z.object({
  /** The name of the server. */
  server: z.string(),
  /** The server's text for the user. */
  message: z.string(),
  /** Whether it asks for values or wants a page opened. */
  mode: z.enum(["form", "url"]),
  /** The requested values as JSON Schema of a flat object; in mode `form`. */
  requestedSchema: z.optional(z.record(z.string(), z.unknown())),
  /** The page; in mode `url`. */
  url: z.optional(z.string()),
  /** The server's own id of the interaction on that page. */
  elicitationId: z.optional(z.string()),
});
export type ElicitationParams = z.infer<typeof ElicitationParams>;

/** A page for the user, such as a login page. */
export const OpenUrlParams = z.object({
  /** The page. */
  url: z.string(),
  /** The MCP server that the login is for. */
  server: z.optional(z.string()),
  /** A code to enter on that page. */
  userCode: z.optional(z.string()),
});
export type OpenUrlParams = z.infer<typeof OpenUrlParams>;

/** The request for a provider's key. */
export const CredentialParams = z.object({
  /** The provider. */
  provider: z.string(),
  /** The model that the request goes to. */
  modelId: z.optional(z.string()),
  /** Why: the key is requested for the first time, the previous one has expired, or the vendor refused it. */
  reason: z.enum(["start", "expired", "refused"]),
});
export type CredentialParams = z.infer<typeof CredentialParams>;

/** A call of a tool that the client has registered. */
export const HostToolParams = z.object({
  /** The name of the tool. */
  toolName: z.string(),
  /** The arguments; they fit the tool's schema. */
  arguments: z.record(z.string(), z.unknown()),
});
export type HostToolParams = z.infer<typeof HostToolParams>;

const methods = {
  tool_approval: {
    ...head,
    /** The method. */
    method: z.literal("tool_approval"),
    /** The call that needs an approval. */
    params: ApprovalParams,
  },
  dialog: {
    ...head,
    /** The method. */
    method: z.literal("dialog"),
    /** The dialog to show. */
    params: DialogParams,
  },
  question: {
    ...head,
    /** The method. */
    method: z.literal("question"),
    /** The questions. */
    params: QuestionParams,
  },
  budget: {
    ...head,
    /** The method. */
    method: z.literal("budget"),
    /** The exhausted limit. */
    params: BudgetParams,
  },
  elicitation: {
    ...head,
    /** The method. */
    method: z.literal("elicitation"),
    /** The server's question. */
    params: ElicitationParams,
  },
  open_url: {
    ...head,
    /** The method. */
    method: z.literal("open_url"),
    /** The page to open. */
    params: OpenUrlParams,
  },
  credential: {
    ...head,
    /** The method. */
    method: z.literal("credential"),
    /** The provider whose key is requested. */
    params: CredentialParams,
  },
};
const type = z.literal("host_request");

/** A request of the host to its client. */
export const HostRequestFrame = z.discriminatedUnion("method", [
  z.object({ type, ...methods.tool_approval }),
  z.object({ type, ...methods.dialog }),
  z.object({ type, ...methods.question }),
  z.object({ type, ...methods.budget }),
  z.object({ type, ...methods.elicitation }),
  z.object({ type, ...methods.open_url }),
  z.object({ type, ...methods.credential }),
]);
export type HostRequestFrame = z.infer<typeof HostRequestFrame>;

/** An open request, as `get_pending_requests` lists it. */
export const PendingRequest = z.discriminatedUnion("method", [
  z.object(methods.tool_approval),
  z.object(methods.dialog),
  z.object(methods.question),
  z.object(methods.budget),
  z.object(methods.elicitation),
  z.object(methods.open_url),
  z.object({
    ...head,
    /** The method. */
    method: z.literal("host_tool"),
    /** The call. */
    params: HostToolParams,
  }),
  z.object({
    ...head,
    /** The method. */
    method: z.literal("host_uri"),
    /** The request. */
    params: HostUriParams,
  }),
]);
export type PendingRequest = z.infer<typeof PendingRequest>;

/** An open request; requests for keys are the only ones that are never listed. */
export type OpenHostRequest =
  | PendingRequest
  | Omit<Extract<HostRequestFrame, { method: "credential" }>, "type">;

/** A request that one client handles alone, in separate frames. */
export type WorkRequest = Extract<PendingRequest, { method: "host_tool" | "host_uri" }>;

/** What ended a request, and its outcome. */
export const HostRequestResolved = z.object({
  type: z.literal("host_request_resolved"),
  /** The id of the request. */
  id: z.string(),
  /**
   * What ended it: an answer, the deadline, a changed mode, rule or limit, an abort, or the end of the
   * session or the host.
   */
  by: z.enum(["client", "timeout", "rule", "abort", "end"]),
  /** The outcome. */
  outcome: z.enum(["allow", "deny", "answered", "cancelled", "raised", "stopped"]),
});
export type HostRequestResolved = z.infer<typeof HostRequestResolved>;

/** The host calls a tool that the client has registered. */
export const HostToolCall = z.object({
  type: z.literal("host_tool_call"),
  /** The id of the call, repeated in its updates and its result. */
  id: z.string(),
  /** The id of the model's tool call. */
  toolCallId: z.string(),
  /** The subagent that calls it, as in `subagent_start`; nested ones are joined by `/`. */
  agentId: z.optional(z.string()),
  /** The name of the tool. */
  toolName: z.string(),
  /** The arguments; they fit the tool's schema. */
  arguments: z.record(z.string(), z.unknown()),
});
export type HostToolCall = z.infer<typeof HostToolCall>;

/** A call of a registered tool is cancelled. */
export const HostToolCancel = z.object({
  type: z.literal("host_tool_cancel"),
  /** The id of this frame. */
  id: z.string(),
  /** The id of the call. */
  targetId: z.string(),
});
export type HostToolCancel = z.infer<typeof HostToolCancel>;

/** A client's answer to a host request; it gets a response only if it is refused. */
export const HostResponse = z.object({
  type: z.literal("host_response"),
  /** The id of the request. */
  id: z.string(),
  /** The answer; its members depend on the request's method. */
  result: z.optional(z.unknown()),
  /** Why there is no answer; an approval is denied with this text. */
  error: z.optional(
    z.object({
      /** The error message. */
      message: z.string(),
    }),
  ),
});
export type HostResponse = z.infer<typeof HostResponse>;

/** Progress of a call of a registered tool. */
export const HostToolUpdate = z.object({
  type: z.literal("host_tool_update"),
  /** The id of the call. */
  id: z.string(),
  /** The output so far: `content`, and `details` if there are any. */
  partialResult: z.optional(z.unknown()),
});
export type HostToolUpdate = z.infer<typeof HostToolUpdate>;

/** The result of a call of a registered tool. */
export const HostToolResult = z.object({
  type: z.literal("host_tool_result"),
  /** The id of the call. */
  id: z.string(),
  /** The result: `content`, and `details` if there are any. */
  result: z.optional(z.unknown()),
  /** Whether the call failed. */
  isError: z.optional(z.boolean()),
});
export type HostToolResult = z.infer<typeof HostToolResult>;

/** A frame of the client that answers the host. */
export type HostAnswer = HostResponse | HostToolUpdate | HostToolResult | HostUriResult;
