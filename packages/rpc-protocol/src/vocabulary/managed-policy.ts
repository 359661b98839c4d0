import * as z from "zod/mini";
import { durabilities, sandboxModes } from "./constants.ts";
import { PermissionMode } from "./permission.ts";

/** A rule of a policy: it asks or denies, and never allows. */
const PolicyRule = z.strictObject({
  /** The name of a tool, or a glob over names. */
  tool: z.string(),
  /** A glob over the tool's path, or for `bash` over each command of the line; absent fits every call. */
  match: z.optional(z.string()),
  /** What happens to a call that fits. */
  action: z.enum(["ask", "deny"]),
  /** Whether it fits only once a result of foreign text came after the last message of a person. */
  afterUntrusted: z.optional(z.boolean()),
});

/**
 * What the program that runs a host allows at most. Settings, projects, profiles, extensions, commands and
 * answers only tighten it. In globs `*` is any text.
 */
export const ManagedPolicy = z.strictObject({
  /** How calls are approved. */
  permissions: z.optional(
    z.strictObject({
      /** The least strict mode. Where it asks, no `allow` rule of another source counts. */
      mode: z.optional(PermissionMode),
      /** Rules that ask or deny, besides those of other sources. */
      rules: z.optional(z.array(PolicyRule)),
    }),
  ),
  /** Where commands may reach. */
  sandbox: z.optional(
    z.strictObject({
      /** The least strict mode. Where it is not `off`, nothing runs outside of the sandbox. */
      mode: z.optional(z.enum(sandboxModes)),
      /** What may be reached at most. */
      network: z.optional(z.union([z.literal("off"), z.literal("all"), z.array(z.string())])),
      /** The only paths besides the working folder that other sources may name as writable. */
      write: z.optional(z.array(z.string())),
    }),
  ),
  /** Which tools there are. */
  tools: z.optional(
    z.strictObject({
      /** Globs over the names of the only tools there are. */
      allow: z.optional(z.array(z.string())),
      /** Globs over the names of tools that there are not. */
      deny: z.optional(z.array(z.string())),
    }),
  ),
  /** Globs over `provider/id` of the only models. */
  models: z.optional(z.array(z.string())),
  /** Globs over the names of the only MCP servers. */
  mcpServers: z.optional(z.array(z.string())),
  /** `false`, or globs over the paths and package sources of the only extensions. */
  extensions: z.optional(z.union([z.literal(false), z.array(z.string())])),
  /** `false`, or the names of the only workspaces besides this machine. */
  workspaces: z.optional(z.union([z.literal(false), z.array(z.string())])),
  /** The least that is promised for the time after a crash. */
  durability: z.optional(z.enum(durabilities)),
});
export type ManagedPolicy = z.infer<typeof ManagedPolicy>;
