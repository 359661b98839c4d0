import * as z from "zod/mini";

/** A rule that watches replies while they stream. */
export const StreamRuleInfo = z.object({
  /** The name of the rule. */
  name: z.string(),
  /** The file that defines it. */
  path: z.string(),
  /** The text the model gets when the rule matches. */
  content: z.string(),
  /** A one-line description. */
  description: z.optional(z.string()),
  /** Regular expressions; the rule applies when any of them matches. */
  condition: z.array(z.string()),
  /** What it watches; if absent, text and the arguments of all tools. */
  scope: z.optional(z.array(z.string())),
  /** The files it applies to; if absent, all files. */
  globs: z.optional(z.array(z.string())),
});
export type StreamRuleInfo = z.infer<typeof StreamRuleInfo>;
