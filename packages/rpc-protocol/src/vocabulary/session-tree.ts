import * as z from "zod/mini";
import type { SessionEntry } from "./session-entry.ts";

/** Any entry of a session, of any type. */
export const AnySessionEntry = () =>
  z.looseObject({
    /** The type of the entry. */
    type: z.string(),
    /** The id of the entry. */
    id: z.string(),
    /** The id of the entry before it; null at the root. */
    parentId: z.nullable(z.string()),
    /** When it was written, in ISO 8601. */
    timestamp: z.string(),
  });

/** An entry with the entries that follow it. */
export const SessionTreeNode: z.ZodMiniType<SessionTreeNode> = z.object({
  /** The entry. */
  entry: AnySessionEntry(),
  /** The entries that follow it. */
  children: z.array(z.lazy(() => SessionTreeNode)),
  /** Its latest label. */
  label: z.optional(z.string()),
  /** When the label was set. */
  labelTimestamp: z.optional(z.string()),
});
export interface SessionTreeNode {
  readonly entry: SessionEntry;
  readonly children: SessionTreeNode[];
  readonly label?: string | undefined;
  readonly labelTimestamp?: string | undefined;
}
