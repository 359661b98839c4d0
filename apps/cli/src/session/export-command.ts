import { exportSavedSession } from "@tau-agent/coding-agent";
import type { ExportFormat } from "@tau-agent/rpc-protocol/plain";
import { readHostLine } from "../command-line/read-host-line.ts";
import type { CommandContext } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import { sessionOptions } from "./session-options.ts";

interface ExportRequest {
  readonly session: string | undefined;
  readonly format?: string;
  readonly output?: string;
  readonly "session-dir"?: string;
  readonly store?: string;
  readonly "project-key"?: string;
}

export async function exportSessionCommand(
  { session, format, output, ...places }: ExportRequest,
  { environment, print }: CommandContext,
): Promise<number> {
  if (session === undefined) refuse("export", "name a session: its file, or its id");
  const words = Object.entries(places).map(([name, value]) => `--${name}=${value}`);
  const setup = await sessionOptions(readHostLine(words), environment);
  const choice = { format: format as ExportFormat | undefined, outputPath: output };
  print(`${await exportSavedSession(session, setup, choice)}\n`);
  return 0;
}
