import { resolve } from "node:path";
import { type ImportResult, importSession } from "@tau-agent/coding-agent";
import { readHostLine } from "../command-line/read-host-line.ts";
import type { CommandContext } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import { sessionOptions } from "./session-options.ts";

interface ImportRequest {
  readonly file: string | undefined;
  readonly from?: string;
  readonly cwd?: string;
  readonly "session-dir"?: string;
}

const agents = { "claude-code": "Claude Code", codex: "Codex" };

export async function importSessionCommand(
  { file, from, ...places }: ImportRequest,
  { environment, print }: CommandContext,
): Promise<number> {
  if (file === undefined) refuse("import", "name the transcript to import");
  const words = Object.entries(places).map(([name, value]) => `--${name}=${value}`);
  const setup = await sessionOptions(readHostLine(words), environment);
  const transcript = { path: resolve(environment.cwd, file), from: from as keyof typeof agents };
  const result = await importSession(transcript, setup);
  print(described(result, resolve(environment.cwd, places.cwd ?? "")));
  return 0;
}

function described({ path, report }: ImportResult, cwd: string): string {
  const { agent, origin, messages, calls, results, leftOut } = report;
  const version = origin.version === undefined ? "" : ` ${plain(origin.version)}`;
  const lines = [
    path,
    `${counted(messages, "message")}, ${counted(calls, "call")} and ${counted(results, "result")} of ${agents[agent]}${version}`,
    ...[...leftOut].map(([kind, count]) => `left out: ${count} ${plain(kind)}`),
    "left out: what it cost, which transcripts do not say",
  ];
  if (origin.cwd !== undefined && origin.cwd !== cwd) {
    lines.push(
      `it worked in ${plain(origin.cwd)}; the session is for ${cwd} (--cwd says another folder)`,
    );
  }
  return `${lines.join("\n")}\n`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Text of a transcript on one line, without terminal control sequences. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\ufffd").slice(0, 200);
}
