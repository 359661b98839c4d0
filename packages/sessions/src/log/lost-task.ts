import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import { type Consumption, nothingUsed, plus } from "./consumption.ts";
import { migrateEntries } from "./entries/migrate.ts";
import { readSessionFile } from "./file/read-session-file.ts";
import { SessionTotals } from "./session-totals.ts";

/** A subagent whose call never got a result. */
export interface LostSubagent {
  readonly id: string;
  readonly agent: string;
  readonly status: "aborted";
  readonly exitCode: 130;
  readonly error: string;
  readonly sessionFile?: string;
  readonly storedSession?: string;
  readonly used: Consumption;
}

export interface LostTask {
  readonly text: string;
  readonly details: { readonly results: LostSubagent[]; readonly used: Consumption };
}

/**
 * Reads what subagents had done when their host was killed: their files are next to the session's,
 * but no result of a `task` call names them.
 */
export async function readLostTask(
  sessionFile: string,
  entries: readonly SessionEntry[],
): Promise<LostTask> {
  return describeLost(await readLost(sessionFile, entries));
}

export function describeLost(results: LostSubagent[]): LostTask {
  const used = results.reduce((sum, result) => plus(sum, result.used), nothingUsed);
  const lines = results.map(
    ({ id, agent, sessionFile: file, storedSession }) =>
      `- ${id} (${agent}): ${file ?? storedSession}`,
  );
  const text = `Changes of isolated tasks were not applied, unless the working tree shows them. What the subagents did is in their sessions:\n${lines.join("\n")}`;
  return {
    text: results.length > 0 ? text : "",
    details: { results, used: plus(used, { subagents: results.length }) },
  };
}

async function readLost(path: string, entries: readonly SessionEntry[]): Promise<LostSubagent[]> {
  const folder = path.replace(/\.jsonl$/, "");
  const told = namedFiles(entries);
  const names = await readdir(folder).catch(() => []);
  const lost: LostSubagent[] = [];
  for (const name of names.filter((found) => found.endsWith(".jsonl")).sort()) {
    const file = join(folder, name);
    if (told.has(name)) continue;
    const subagent = await readSubagent(file).catch(() => undefined);
    if (subagent !== undefined) lost.push(subagent);
  }
  return lost;
}

async function readSubagent(path: string): Promise<LostSubagent | undefined> {
  const { header, entries: raw } = await readSessionFile(path);
  if (header === undefined) return undefined;
  const entries = migrateEntries({ header, entries: raw });
  // Its own subagents may also have been lost.
  const below = await readLost(path, entries);
  return { ...lostSubagent(entries, below), sessionFile: path };
}

export function lostSubagent(
  entries: readonly SessionEntry[],
  below: readonly LostSubagent[] = [],
): LostSubagent {
  const totals = new SessionTotals();
  let name = "";
  for (const entry of entries) {
    totals.add(entry);
    const known = entry as KnownSessionEntry;
    if (known.type === "session_info") name = known.name ?? name;
  }
  const nested = below.reduce((sum, { used }) => plus(sum, used), nothingUsed);
  const [, agent = "task", id = name] = /^([^:]+): (.*)$/s.exec(name) ?? [];
  return {
    id,
    agent,
    status: "aborted",
    exitCode: 130,
    error: "The host ended.",
    used: plus(plus(totals.consumption, nested), { subagents: below.length }),
  };
}

/** The names of the files that results mention; only names, because a session may have been moved with its folder. */
function namedFiles(entries: readonly SessionEntry[]): Set<string> {
  const names = new Set<string>();
  for (const entry of entries as readonly KnownSessionEntry[]) {
    if (entry.type !== "message" || entry.message.role !== "toolResult") continue;
    const results: unknown = Reflect.get(Object(entry.message.details), "results");
    for (const result of Array.isArray(results) ? results : []) {
      const file: unknown = Reflect.get(Object(result), "sessionFile");
      if (typeof file === "string") names.add(file.replace(/^.*[/\\]/, ""));
    }
  }
  return names;
}
