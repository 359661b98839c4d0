import * as z from "zod/mini";
import { sandboxModes } from "./constants.ts";

/** What keeps commands and file tools inside, and whether this machine can do that. */
export const SandboxInfo = z.object({
  /** Whether a command was run in a sandbox of this kind. */
  available: z.boolean(),
  /** What makes the sandbox; null where there is nothing. */
  mechanism: z.nullable(z.enum(["bubblewrap", "seatbelt"])),
  /** The mode of the session. */
  mode: z.enum(sandboxModes),
  /** What the session's commands may reach: nothing, all, or these domains. */
  network: z.union([z.literal("off"), z.literal("all"), z.array(z.string())]),
  /** Why it is not available. */
  reason: z.optional(z.string()),
  /** What to change so that it is. */
  remedy: z.optional(z.string()),
});
export type SandboxInfo = z.infer<typeof SandboxInfo>;
