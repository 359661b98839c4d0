import { defineSubcommand } from "../command-line/define-subcommand.ts";
import type { Subcommand } from "../command-line/subcommand.ts";
import type { PackageRequest } from "../packages/package-command.ts";

const options = {
  local: {
    kind: "switch",
    short: "l",
    help: "The project's packages, in .pi/settings.json, not your own",
  },
} as const;

const notes = `A package has extensions, skills and prompts. Sources: npm:<name>[@<version>], a path, an address
of a repository, or git:<host>/<owner>/<repository>[@<branch, tag or commit>]. Its scripts do not
run. What is installed stays as it is until tau update, which leaves those with a version alone.`;

function packageCommandOf(
  name: string,
  action: PackageRequest["action"],
  summary: string,
  usage: string,
): Subcommand {
  return defineSubcommand({
    name,
    summary,
    usage: [usage],
    options,
    maxWords: action === "list" ? 0 : 1,
    notes,
    run: async ({ values: { local = false }, words: [source] }, context) => {
      const { packageCommand } = await import("../packages/package-command.ts");
      return packageCommand({ action, source, isLocal: local }, context);
    },
  });
}

export const packageCommands: readonly Subcommand[] = [
  packageCommandOf("install", "install", "Install a package of extensions", "[-l] <source>"),
  packageCommandOf("remove", "remove", "Remove a package", "[-l] <source>"),
  packageCommandOf("uninstall", "remove", "The same as remove", "[-l] <source>"),
  packageCommandOf("update", "update", "Update packages", "[-l] [<source>]"),
  packageCommandOf("list", "list", "List the packages", "[-l]"),
];
