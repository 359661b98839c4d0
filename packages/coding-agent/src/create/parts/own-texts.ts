import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { attempt, isInside, type OwnTexts, type ToolEnvironment } from "@tau-agent/system";
import type { PromptResources } from "../../resources/resources.ts";
import { localWorkspace } from "../../tools/common/local-place.ts";

type Host = Pick<
  ToolEnvironment,
  "homeDirectory" | "environment" | "processes" | "protectedFiles" | "fileQueue"
>;

/**
 * For a remote session, access to the user's own skills, which stay with the host: the prompt names their files, and
 * the model reads them from there. Nothing else on this machine can be read this way.
 */
export function ownTextsOf(
  resources: Pick<PromptResources, "skills">,
  host: Host,
): (path: string) => Promise<OwnTexts | undefined> {
  const { homeDirectory, protectedFiles } = host;
  return async (written) => {
    const path = written.startsWith("~/") ? homeDirectory + written.slice(1) : written;
    const own = (await resources.skills()).filter(({ isElsewhere }) => isElsewhere !== true);
    if (!own.some(({ baseDir }) => isInside(baseDir, resolve(path)))) return undefined;
    const real = attempt(() => realpathSync(path));
    if (real === undefined || !own.some(({ baseDir }) => isBelow(baseDir, real))) return undefined;
    const place = { ...host, cwd: homeDirectory };
    return {
      ...{ workspace: localWorkspace(place), cwd: homeDirectory, homeDirectory, protectedFiles },
      isWindows: process.platform === "win32",
    };
  };
}

function isBelow(folder: string, real: string): boolean {
  const realFolder = attempt(() => realpathSync(folder));
  return realFolder !== undefined && isInside(realFolder, real);
}
