import * as z from "zod/mini";
import { durabilities, sandboxModes } from "./constants.ts";
import { PermissionMode } from "./permission.ts";

/** A rule of a policy: it can ask or deny, but never allow. */
const PolicyRule = z.strictObject({
  /** The name of a tool, or a glob over names. */
  tool: z.string(),
  /** A glob over the tool's path, or for `bash` over each command of the line; if absent, every call matches. */
  match: z.optional(z.string()),
  /** What happens to a matching call. */
  action: z.enum(["ask", "deny"]),
  /** Whether it matches only after a result with untrusted text since the last message of the user. */
  afterUntrusted: z.optional(z.boolean()),
});

/**
 * The limits that the program running a host imposes. Settings, projects, profiles, extensions, commands and
 * answers can only tighten them. In globs, `*` matches any text.
 */
export const ManagedPolicy = z.strictObject({
  /** How calls are approved. */
  permissions: z.optional(
    z.strictObject({
      /** The least strict mode. If it asks, `allow` rules of other sources are ignored. */
      mode: z.optional(PermissionMode),
      /** Rules that ask or deny, in addition to those of other sources. */
      rules: z.optional(z.array(PolicyRule)),
    }),
  ),
  /** What commands may access. */
  sandbox: z.optional(
    z.strictObject({
      /** The least strict mode. Unless it is `off`, nothing runs outside the sandbox. */
      mode: z.optional(z.enum(sandboxModes)),
      /** The maximum network access. */
      network: z.optional(z.union([z.literal("off"), z.literal("all"), z.array(z.string())])),
      /** The only paths outside the working folder that other sources may make writable. */
      write: z.optional(z.array(z.string())),
    }),
  ),
  /** The available tools. */
  tools: z.optional(
    z.strictObject({
      /** Globs over names; only matching tools are available. */
      allow: z.optional(z.array(z.string())),
      /** Globs over names; matching tools are not available. */
      deny: z.optional(z.array(z.string())),
    }),
  ),
  /** Globs over `provider/id`; only matching models are available. */
  models: z.optional(z.array(z.string())),
  /** Globs over names; only matching MCP servers are available. */
  mcpServers: z.optional(z.array(z.string())),
  /** `false`, or globs over paths and package sources; only matching extensions are available. */
  extensions: z.optional(z.union([z.literal(false), z.array(z.string())])),
  /** `false`, or the names of the only workspaces available besides this machine. */
  workspaces: z.optional(z.union([z.literal(false), z.array(z.string())])),
  /** The minimum durability. */
  durability: z.optional(z.enum(durabilities)),
});
export type ManagedPolicy = z.infer<typeof ManagedPolicy>;
