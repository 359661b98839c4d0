import * as z from "zod/mini";

/** A record of the files before a prompt changed them. */
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

/** The effects of a rewind on the files; paths are relative to the folder of the session. */
export const RewindFiles = z.object({
  /** The files that change. */
  changed: z.array(
    z.object({
      /** The path. */
      path: z.string(),
      /** Whether its earlier content is restored, it is recreated, or it is removed. */
      change: z.enum(["restored", "created", "deleted"]),
    }),
  ),
  /** The files that stay unchanged because they cannot be restored. */
  conflicts: z.array(
    z.object({
      /** The path. */
      path: z.string(),
      /** The reason. */
      reason: z.string(),
    }),
  ),
  /** Paths that the checkpoint or the current state does not record. */
  notCovered: z.array(z.string()),
});
export type RewindFiles = z.infer<typeof RewindFiles>;
