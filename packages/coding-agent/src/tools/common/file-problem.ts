import { ToolError } from "@tau-agent/agent";
import {
  isWorkspaceError,
  type WorkspaceReach,
  workspaceErrorTexts,
} from "@tau-agent/rpc-protocol/workspace";
import {
  fileError,
  isInside,
  keyFileRefusal,
  keyFileText,
  sandboxRefusal,
  systemCodeOf,
  type ToolEnvironment,
} from "@tau-agent/system";
import { pathsOf } from "./paths.ts";

type ReachEnvironment = Pick<ToolEnvironment, "sandbox" | "writeRoot">;

/** The paths that a reading or writing call may open; undefined if there is no limit. */
export function reachOf(
  action: "read" | "write",
  { sandbox, writeRoot }: ReachEnvironment,
): WorkspaceReach | undefined {
  const reach = sandbox?.reach(action);
  const root = action === "write" ? writeRoot?.() : undefined;
  if (root === undefined) return reach;
  if (reach === undefined) return { allow: [root], deny: [] };
  const allow = reach.allow.flatMap((each) =>
    isInside(each, root) ? [root] : isInside(root, each) ? [each] : [],
  );
  return { ...reach, allow };
}

/** A one-sentence error for a failure at a path, with a remedy; other errors pass. */
export async function fileProblem(
  error: unknown,
  call: { readonly action: string; readonly shown: string; readonly file?: string | undefined },
  environment: ToolEnvironment,
): Promise<unknown> {
  const { action, shown, file } = call;
  if (!isWorkspaceError(error, "not_allowed") || systemCodeOf(error) !== undefined) {
    return fileError(error, action, shown);
  }
  const options = { cause: error };
  if (error.message === keyFileText) {
    return new ToolError(keyFileRefusal(shown), undefined, options);
  }
  const real = error.path ?? shown;
  const root = action === "write" ? environment.writeRoot?.() : undefined;
  if (root !== undefined && file !== undefined && !isInside(root, real)) {
    return new ToolError(
      await outsideText({ shown, file, real, root }, environment),
      undefined,
      options,
    );
  }
  const verb = action === "write" ? "write" : "read";
  if (environment.sandbox !== undefined) {
    const state = verb === "write" ? "writable" : "readable";
    // A remote workspace checks access itself, and gives the reason.
    const isSaid = error.message !== workspaceErrorTexts.not_allowed;
    const reason = isSaid ? error.message : `it is not ${state} (${real})`;
    return sandboxRefusal(verb, shown, reason);
  }
  return new ToolError(
    `Cannot ${action} ${shown}: it may not be opened (${real}).`,
    undefined,
    options,
  );
}

/**
 * An isolated subagent may only change its tree: files outside would not come back as its work, and may be the caller's
 * own.
 */
async function outsideText(
  place: {
    readonly shown: string;
    readonly file: string;
    readonly real: string;
    readonly root: string;
  },
  environment: ToolEnvironment,
): Promise<string> {
  const { shown, file, real, root } = place;
  const link = isInside(root, file) ? await firstLink(root, file, environment) : undefined;
  const why =
    link === undefined
      ? `it is outside of ${root}, the tree of this isolated task`
      : `${link} is a link that leads out of ${root}, the tree of this isolated task`;
  return `Cannot write ${shown}: ${why} (to ${real}). Files outside can be read and not changed.`;
}

/** The first link on the path from a folder to a file that leads out of the folder or dangles. */
async function firstLink(
  root: string,
  file: string,
  environment: ToolEnvironment,
): Promise<string | undefined> {
  const { workspace } = environment;
  const { join, relative, sep } = pathsOf(environment);
  let place = root;
  for (const part of relative(root, file).split(sep)) {
    place = join(place, part);
    const found = await workspace.stat(place, { followLinks: false }).catch(() => undefined);
    if (found?.kind !== "symlink") continue;
    const target = await workspace.stat(place).catch(() => undefined);
    if (target?.realPath === undefined || !isInside(root, target.realPath)) {
      return relative(root, place);
    }
  }
  return undefined;
}
