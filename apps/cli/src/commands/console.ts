import type { CliOptions } from "../command-line/cli-options.ts";
import { hostOptions } from "../command-line/host-options.ts";
import { keyOf } from "../command-line/option-row.ts";
import { readHostLine } from "../command-line/read-host-line.ts";
import type { Subcommand } from "../command-line/subcommand.ts";
import { VERSION } from "../process/version.ts";

/** Options that a console always sets, or that belong to other modes. */
const unshown: ReadonlySet<string> = new Set<keyof CliOptions>([
  ...(["mode", "print", "sessions", "console", "clientTimeoutMs"] as const),
  ...(["session", "continue", "resume", "fork", "sessionId", "name"] as const),
  ...(["taskDepth", "taskFolder", "taskAgents", "agentName", "theme", "noThemes"] as const),
]);

/** Defines `tau console`, which accepts the options of the host. */
export const consoleCommand: Subcommand = {
  name: "console",
  summary: "Open a page that shows the sessions of a host, and works with them",
  usage: ["[options]"],
  options: Object.fromEntries(
    Object.entries(hostOptions).filter(([name, row]) => !unshown.has(keyOf(name, row))),
  ),
  notes: "It prints a link that opens the page once, within five minutes; Enter prints another.",
  run: async (words, { environment, output, print }) => {
    const { help, version, ...options } = readHostLine(words);
    if (help || version) {
      const { commandHelp } = await import("../command-line/help.ts");
      print(help ? commandHelp(consoleCommand) : `${VERSION}\n`);
      return 0;
    }
    const { startConsole } = await import("../hosting/start-console.ts");
    await startConsole(options, words, { environment, output, print });
    return undefined;
  },
};
