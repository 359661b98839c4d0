import { hostOf } from "@tau-agent/system";
import { CompiledPolicy } from "./compiled-policy.ts";
import type { RealPaths } from "./real-paths.ts";
import { type RulePlaces, ruleFoldersOf } from "./rule-folders.ts";
import { judge } from "./rules/judge.ts";
import type { SessionPermissions } from "./session-permissions.ts";

/** Checks permissions for hosts that a call reaches without naming them. */
export function createVisitedHosts(
  permissions: Pick<SessionPermissions, "state">,
  places: RulePlaces,
  realPaths: RealPaths,
) {
  const policies = new CompiledPolicy();

  return {
    /** Why the tool must not visit the target, as a clause; undefined if it may. */
    async refusalOf(tool: string, target: URL): Promise<string | undefined> {
      const folders = await ruleFoldersOf(places, realPaths);
      const policy = policies.of(permissions.state, folders);
      const traits = { name: tool, isReadOnly: false, isNeverAsked: false };
      const { action } = judge([{ kind: "host", tool: traits, host: hostOf(target) }], policy);
      if (action === "allow") return undefined;
      const closed = `it leads to ${target.href}, and the permissions do not let ${tool} go to that host`;
      return action === "deny"
        ? closed
        : `${closed} without a question; call ${tool} with that address`;
    },
  };
}

export type VisitedHosts = ReturnType<typeof createVisitedHosts>;
