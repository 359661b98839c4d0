import * as z from "zod/mini";
import type { SessionEntry } from "./session-entry.ts";

/** Any entry of a session, of whatever type. */
export const AnySessionEntry = () =>
  z.looseObject({
    type: z.string(),
    id: z.string(),
    parentId: z.nullable(z.string()),
    timestamp: z.string(),
  });

/** An entry with what hangs below it; `label` is the latest one given to it. */
export const SessionTreeNode: z.ZodMiniType<SessionTreeNode> = z.object({
  entry: AnySessionEntry(),
  children: z.array(z.lazy(() => SessionTreeNode)),
  label: z.optional(z.string()),
  labelTimestamp: z.optional(z.string()),
});
export interface SessionTreeNode {
  readonly entry: SessionEntry;
  readonly children: SessionTreeNode[];
  readonly label?: string | undefined;
  readonly labelTimestamp?: string | undefined;
}
