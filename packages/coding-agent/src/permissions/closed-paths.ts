import { CompiledPolicy } from "./compiled-policy.ts";
import { asOwnFile } from "./isolated-paths.ts";
import { type RealPaths, withSlashes } from "./real-paths.ts";
import { type RulePlaces, ruleFoldersOf } from "./rule-folders.ts";
import type { SessionPermissions } from "./session-permissions.ts";

/**
 * The paths that rules close below the folder that a tool searches. A call is judged by the path it names, so the
 * search itself must omit paths that a rule denies to its tool. It also omits paths that need a question, unless the
 * question was about the whole folder.
 */
export function createClosedPaths(
  permissions: Pick<SessionPermissions, "state">,
  places: RulePlaces,
  realPaths: RealPaths,
) {
  const policies = new CompiledPolicy();

  return {
    /** Returns a test of whether a path below the root is closed to the tool; undefined if no path is. */
    async below(tool: string, root: string): Promise<((path: string) => boolean) | undefined> {
      const { state } = permissions;
      const limits = state.rules.some(
        ({ action, match }) => action !== "allow" && match !== undefined,
      );
      if (!limits) return undefined;
      const copy = places.copy?.();
      const { join, relative, sep } = realPaths.path;
      const own = (path: string) => withSlashes(asOwnFile(path, copy), { sep });
      const [folders, real] = await Promise.all([
        ruleFoldersOf(places, realPaths),
        realPaths.of(root),
      ]);
      const { rules } = policies.of(state, folders);
      const closing = rules.filter(({ rule, fitsTool, fitsAll, fitsPath }) => {
        if (rule.action === "allow" || fitsAll || !fitsTool(tool)) return false;
        return rule.action === "deny" || !(fitsPath(own(root)) || fitsPath(own(real)));
      });
      if (closing.length === 0) return undefined;
      // Searches do not follow links, so only the root can be a link.
      return (path) => {
        const names = [own(path), own(join(real, relative(root, path)))];
        return closing.some(({ fitsPath }) => names.some(fitsPath));
      };
    },
  };
}

export type ClosedPaths = ReturnType<typeof createClosedPaths>;
