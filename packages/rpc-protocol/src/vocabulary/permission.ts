import * as z from "zod/mini";
import { permissionModes, ruleActions } from "./constants.ts";

/** How strict a session is with calls that no rule matches. */
export const PermissionMode = z.enum(permissionModes);
export type PermissionMode = z.infer<typeof PermissionMode>;

/** What happens to a call. */
export const RuleAction = z.enum(ruleActions);
export type RuleAction = z.infer<typeof RuleAction>;

/** What happens to an unanswered approval: the call fails, or the run ends as well. */
export const OnTimeout = z.enum(["deny", "cancel"]);
export type OnTimeout = z.infer<typeof OnTimeout>;

const rule = {
  /** The name of a tool, or a glob over names. */
  tool: z.string(),
  /** A glob over the tool's path, or for `bash` over each command of the line; if absent, every call matches. */
  match: z.optional(z.string()),
  /** What happens to a matching call. */
  action: RuleAction,
  /** Whether it matches only after a result with untrusted text since the last message of the user. */
  afterUntrusted: z.optional(z.boolean()),
};

/** A permission rule: what happens to matching calls. */
export const PermissionRule = z.object(rule);
export type PermissionRule = z.infer<typeof PermissionRule>;

/** The source of a rule. */
export const RuleSource = z.enum(["user", "project", "session", "host", "policy"]);
export type RuleSource = z.infer<typeof RuleSource>;

/** A permission rule with its source. */
export const SourcedRule = z.object({
  ...rule,
  /**
   * Whether it is from the user's or the project's settings, from this session, from the program that embeds
   * it, or from that program's policy.
   */
  source: RuleSource,
});
export type SourcedRule = z.infer<typeof SourcedRule>;

/** One part of a call that is judged separately: a command of a shell line, or a file that it writes. */
export const CallPart = z.object({
  /** The command, or `> ` and the path of a file that the line writes. */
  text: z.string(),
  /** The decision of the rules and the mode for this part alone. */
  action: RuleAction,
  /** The deciding rule; absent if the mode decides. */
  rule: z.optional(SourcedRule),
});
export type CallPart = z.infer<typeof CallPart>;

/** The question whether a tool may run, with everything that a user needs to answer it. */
export const ApprovalParams = z.object({
  /** The name of the tool. */
  toolName: z.string(),
  /** The arguments it would run with. */
  input: z.record(z.string(), z.unknown()),
  /** The folder in which the tool works. */
  cwd: z.string(),
  /** The id of the workspace that has this folder; absent if that is the host's own machine. */
  workspace: z.optional(z.string()),
  /** The question as text. */
  title: z.string(),
  /** The reason for asking: a sentence, `sandbox_unavailable` or `sandbox_refused`. */
  reason: z.string(),
  /** Rules that allow exactly this call; empty if no rule can. */
  suggestions: z.array(PermissionRule),
  /** The parts of a shell line, each with its own decision. May be incomplete if there are no `suggestions`. */
  parts: z.optional(z.array(CallPart)),
  /** What an `edit` or a `write` changes, as a unified diff. */
  diff: z.optional(z.string()),
  /** The absolute path of the file or folder that the tool works on. */
  path: z.optional(z.string()),
});
export type ApprovalParams = z.infer<typeof ApprovalParams>;

/** The answer to an approval. */
export const ApprovalResult = z.discriminatedUnion("decision", [
  z.object({
    decision: z.literal("allow"),
    /** Whether it applies to this call, to this session, or is saved; default `once`. */
    scope: z.optional(z.enum(["once", "session", "always"])),
    /** The rules to add; by default, the suggestions. */
    rules: z.optional(z.array(PermissionRule)),
    /** The settings file to which `always` writes; default `user`. */
    saveTo: z.optional(z.enum(["user", "project"])),
    /** Arguments to run the tool with instead. */
    input: z.optional(z.record(z.string(), z.unknown())),
  }),
  z.object({
    decision: z.literal("deny"),
    /** The reason, for the model. */
    message: z.optional(z.string()),
    /** Whether the run ends as well. */
    endRun: z.optional(z.boolean()),
  }),
]);
export type ApprovalResult = z.infer<typeof ApprovalResult>;
