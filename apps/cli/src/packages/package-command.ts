import {
  type ListedPackage,
  PackageInstaller,
  programRunner,
  SettingsStore,
} from "@tau-agent/coding-agent";
import type { CommandContext } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import { showingProgress } from "../process/progress.ts";

export interface PackageRequest {
  readonly action: "install" | "remove" | "update" | "list";
  readonly source: string | undefined;
  readonly isLocal: boolean;
}

/** Installs, removes, updates or lists packages; returns the exit code. */
export async function packageCommand(
  { action, source, isLocal }: PackageRequest,
  { environment, print }: CommandContext,
): Promise<number> {
  const { agentDirectory, homeDirectory, cwd, variables } = environment;
  const settings = await SettingsStore.load({ agentDirectory, cwd, isProjectTrusted: isLocal });
  const place = {
    agentDirectory,
    homeDirectory,
    cwd,
    scope: isLocal ? "project" : "user",
  } as const;
  const installer = new PackageInstaller(settings, place, programRunner(variables));
  if (source === undefined && (action === "install" || action === "remove")) {
    refuse(`tau ${action}`, "name a package: npm:<name>, git:<address> or a path");
  }
  const named = source ?? "";
  switch (action) {
    case "install": {
      const work = () => installer.install(named);
      print(`Installed ${lineOf(await showingProgress(`Installing ${named}`, work))}\n`);
      return 0;
    }
    case "remove": {
      const work = () => installer.remove(named);
      print(`Removed ${(await showingProgress(`Removing ${named}`, work)).source}\n`);
      return 0;
    }
    case "update": {
      const what = `Updating ${source ?? "all packages"}`;
      print(listOf(await showingProgress(what, () => installer.update(source))));
      return 0;
    }
    default:
      print(listOf(await installer.list()));
      return 0;
  }
}

function listOf(packages: readonly ListedPackage[]): string {
  if (packages.length === 0) return "No packages. tau install <source> adds one.\n";
  return packages.map((found) => `${lineOf(found)}\n`).join("");
}

function lineOf({ source, path, pin, isInstalled }: ListedPackage): string {
  if (!isInstalled) return `${source}  not installed; to install it: tau install ${source}`;
  return `${source}  ${pin === undefined ? "" : `${pin}  `}${path}`;
}
