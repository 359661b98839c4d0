import * as z from "zod/mini";

/** The files as they were before a prompt changed them. */
export const Checkpoint = z.object({
  /** The id of the checkpoint. */
  id: z.string(),
  /** The entry id of the user message. */
  entryId: z.string(),
  /** The text of the message. */
  text: z.string(),
  /** When the files were recorded, in ms since the epoch. */
  timestamp: z.number(),
  /** Paths that were not recorded; absent if everything was. */
  notCovered: z.optional(z.array(z.string())),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** What a rewind does to the files; paths begin at the folder of the session. */
export const RewindFiles = z.object({
  /** The files that change. */
  changed: z.array(
    z.object({
      /** The path. */
      path: z.string(),
      /** Whether it gets its earlier content, comes back, or goes away. */
      change: z.enum(["restored", "created", "deleted"]),
    }),
  ),
  /** The files that stay as they are because they cannot be taken back. */
  conflicts: z.array(
    z.object({
      /** The path. */
      path: z.string(),
      /** Why it stays. */
      reason: z.string(),
    }),
  ),
  /** Paths that a checkpoint or the present state does not record. */
  notCovered: z.array(z.string()),
});
export type RewindFiles = z.infer<typeof RewindFiles>;
