import type { CliOptions } from "../command-line/cli-options.ts";
import { foreignToEditors } from "../command-line/foreign-to-editors.ts";
import { hostOptions } from "../command-line/host-options.ts";
import { hostingOptions } from "../command-line/hosting-options.ts";
import { keyOf } from "../command-line/option-row.ts";
import { readHostLine } from "../command-line/read-host-line.ts";
import type { Subcommand } from "../command-line/subcommand.ts";
import { VERSION } from "../process/version.ts";

/**
 * Options that make no sense for an editor's agent: those of servers, those of subagents, and those without effect.
 */
const unshown: ReadonlySet<string> = new Set<keyof CliOptions>([
  ...foreignToEditors,
  ...(["taskDepth", "taskFolder", "taskAgents", "agentName", "theme", "noThemes"] as const),
]);

export const acp: Subcommand = {
  name: "acp",
  summary: "Be an agent for Zed, JetBrains IDEs and other editors (Agent Client Protocol)",
  usage: ["[options]"],
  options: Object.fromEntries(
    Object.entries(hostOptions).filter(
      ([name, row]) => !Object.hasOwn(hostingOptions, name) && !unshown.has(keyOf(name, row)),
    ),
  ),
  notes: "The editor starts it and says which session there is; tau help editors shows how.",
  run: async (words, { environment, output, print }) => {
    const { help, version, ...options } = readHostLine(words);
    if (help || version) {
      const { commandHelp } = await import("../command-line/help.ts");
      print(help ? commandHelp(acp) : `${VERSION}\n`);
      return 0;
    }
    const { startAcp } = await import("../acp/start-acp.ts");
    await startAcp(options, { environment, output });
    return undefined;
  },
};
