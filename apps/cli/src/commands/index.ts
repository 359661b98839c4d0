import type { Subcommand } from "../command-line/subcommand.ts";
import { acp } from "./acp.ts";
import { auth } from "./auth.ts";
import { conformance } from "./conformance.ts";
import { help } from "./help.ts";
import { mcp } from "./mcp.ts";
import { models } from "./models.ts";
import { record } from "./record.ts";
import { rewind } from "./rewind.ts";

/** Every subcommand, as `tau --help` shows them. */
export const subcommands: readonly Subcommand[] = [
  acp,
  auth,
  mcp,
  models,
  record,
  rewind,
  conformance,
  help,
];

/** Names of pi's commands that do not exist here yet; never prompts. */
export const reserved: readonly string[] = [
  "install",
  "remove",
  "uninstall",
  "update",
  "list",
  "config",
  "completion",
];
