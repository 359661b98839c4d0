import * as z from "zod/mini";
import { ManagedPolicy } from "../vocabulary/managed-policy.ts";
import {
  OnTimeout,
  PermissionMode,
  PermissionRule,
  SourcedRule,
} from "../vocabulary/permission.ts";
import { command } from "./command.ts";

const milliseconds = z.number().check(z.nonnegative());

const permissions = () =>
  z.object({
    /** How calls are approved if no rule matches them. */
    mode: PermissionMode,
    /** The rules from all sources. */
    rules: z.array(SourcedRule),
    /** What happens to an approval that nobody answers. */
    onTimeout: OnTimeout,
    /** How long an approval waits, in ms; 0 for no limit. */
    timeoutMs: milliseconds,
  });

/** What tools may do. */
export const permissionCommands = {
  set_permissions: command({
    summary:
      "Changes the permissions of this session; what is absent stays, and `rules` replaces the session's own. Open approvals are judged again.",
    params: () =>
      z.object({
        /** How calls are approved if no rule matches them. */
        mode: z.optional(PermissionMode),
        /** The session's own rules. */
        rules: z.optional(z.array(PermissionRule)),
        /** What happens to an approval that nobody answers. */
        onTimeout: z.optional(OnTimeout),
        /** How long an approval waits, in ms; 0 for no limit. */
        timeoutMs: z.optional(milliseconds),
      }),
    result: permissions,
    positional: [],
  }),
  get_permissions: command({
    summary: "Returns the permission mode and the rules of all sources.",
    result: permissions,
  }),
  get_policy: command({
    summary:
      "Returns the policy that the host was started with: limits that nothing else can widen.",
    scope: "host",
    answersAtOnce: true,
    result: () =>
      z.object({
        /** The effective policy: all of `given` combined; empty without a policy. */
        policy: ManagedPolicy,
        /** Each policy as it was given; the policies stay the same for the life of the host. */
        given: z.array(ManagedPolicy),
      }),
  }),
};
