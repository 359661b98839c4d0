import * as z from "zod/mini";
import { sandboxModes } from "./constants.ts";

/** The sandbox of commands and file tools, and whether it is available on this machine. */
export const SandboxInfo = z.object({
  /** Whether a command has been run in a sandbox of this kind. */
  available: z.boolean(),
  /** The sandbox mechanism; null if there is none. */
  mechanism: z.nullable(z.enum(["bubblewrap", "seatbelt"])),
  /** The mode of the session. */
  mode: z.enum(sandboxModes),
  /** The network access of the session's commands: none, all, or these domains. */
  network: z.union([z.literal("off"), z.literal("all"), z.array(z.string())]),
  /** Why it is not available. */
  reason: z.optional(z.string()),
  /** How to make it available. */
  remedy: z.optional(z.string()),
});
export type SandboxInfo = z.infer<typeof SandboxInfo>;
