import type { Subcommand } from "../command-line/subcommand.ts";
import { acp } from "./acp.ts";
import { auth } from "./auth.ts";
import { completion } from "./completion.ts";
import { config } from "./config.ts";
import { conformance } from "./conformance.ts";
import { consoleCommand } from "./console.ts";
import { evalSubcommand } from "./eval.ts";
import { execServer } from "./exec-server.ts";
import { exportCommand } from "./export.ts";
import { help } from "./help.ts";
import { importCommand } from "./import.ts";
import { mcp } from "./mcp.ts";
import { models } from "./models.ts";
import { packageCommands } from "./packages.ts";
import { record } from "./record.ts";
import { rewind } from "./rewind.ts";

export const subcommands: readonly Subcommand[] = [
  ...packageCommands,
  config,
  auth,
  mcp,
  models,
  acp,
  consoleCommand,
  execServer,
  exportCommand,
  importCommand,
  evalSubcommand,
  record,
  rewind,
  completion,
  conformance,
  help,
];
