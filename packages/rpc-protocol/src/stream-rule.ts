import * as z from "zod/mini";

/** A rule that watches replies while they stream. */
export const StreamRuleInfo = z.object({
  name: z.string(),
  /** The file it stands in. */
  path: z.string(),
  /** What the model is told when the rule strikes. */
  content: z.string(),
  description: z.optional(z.string()),
  /** Regular expressions; a match of one of them is enough. */
  condition: z.array(z.string()),
  /** What it watches; text and the arguments of all tools when absent. */
  scope: z.optional(z.array(z.string())),
  /** Files it is about; all when absent. */
  globs: z.optional(z.array(z.string())),
});
export type StreamRuleInfo = z.infer<typeof StreamRuleInfo>;
