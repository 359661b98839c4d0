import { resolve } from "node:path";
import { type ExportFormat, exportExtensions } from "@tau-agent/rpc-protocol/plain";
import type { ReadLog, SessionHome, SessionLogView } from "@tau-agent/sessions/log";
import type { SubagentSource, TrajectorySource } from "@tau-agent/trajectories";
import type { AgentSession } from "./agent-session.ts";

/** The format and the path of an export. */
export interface ExportChoice {
  /** HTML by default. */
  readonly format?: ExportFormat | undefined;
  /**
   * By default a name derived from the session's, in its working directory; for a remote workspace, in the base
   * directory of the session's options.
   */
  readonly outputPath?: string | undefined;
}

type ReadSubagent = SessionHome["readSubagent"];

/** A session to export, either open or read from a file. */
export interface ExportedSession {
  readonly log: SessionLogView;
  /** As in {@link ReadLog}. */
  readonly place: string;
  readonly readSubagent: ReadSubagent;
  readonly systemPrompt?: string;
  readonly tools?: AgentSession["tools"]["active"];
}

/**
 * Writes a session, even one in memory, as one HTML page or in another format.
 *
 * @param choice - the path of the page, or format and path
 * @returns the absolute path of the file
 * @throws {SessionError} `nothing_to_export`, `export_failed`
 */
export async function exportSession(
  session: AgentSession,
  choice: string | ExportChoice = {},
): Promise<string> {
  const { log, navigation } = session;
  const exported: ExportedSession = {
    log,
    place: log.path ?? log.header.id,
    readSubagent: (...named) => navigation.readSubagent(...named),
    systemPrompt: await session.buildSystemPrompt(),
    tools: session.tools.active,
  };
  const { folderHere } = navigation;
  const folder = folderHere ?? log.header.cwd;
  const wanted = typeof choice === "string" ? { outputPath: choice } : choice;
  return writeSession(exported, wanted, { folder, isChangeable: folderHere === undefined });
}

/**
 * Exports a session file as one HTML page or in another format. A running host may have it open: it is only read.
 *
 * @param options - relative paths are in `cwd`
 * @returns the absolute path of the file
 * @throws {SessionError} `session_not_found`, `session_invalid`, `nothing_to_export`, `export_failed`
 */
export async function exportSessionFile(
  sessionPath: string,
  { cwd, ...choice }: ExportChoice & { readonly cwd: string },
): Promise<string> {
  const { readLoggedFile, readSubagentFile } = await import("@tau-agent/sessions/files");
  const read = await readLoggedFile(resolve(cwd, sessionPath));
  const readSubagent: ReadSubagent = async ({ path, header }, { sessionFile }) =>
    sessionFile === undefined ? undefined : readSubagentFile({ path, header }, sessionFile);
  return writeSession(await readSource(read, readSubagent), choice, { folder: cwd });
}

/** A session that was read from a file, in the form of an open one. */
export async function readSource(
  read: ReadLog,
  readSubagent: ReadSubagent,
): Promise<ExportedSession> {
  const { SessionLog } = await import("@tau-agent/sessions/files");
  const log = SessionLog.create({ cwd: read.header.cwd });
  log.takeOver(read.entries);
  const { header, path, place } = read;
  const { tree, name, totals } = log;
  return { log: { header, path, tree, name, totals, reference: path }, place, readSubagent };
}

/** Writes a session; a relative path is in `folder`, where commands may have put links. */
export async function writeSession(
  session: ExportedSession,
  { format = "html", outputPath }: ExportChoice,
  { folder, isChangeable = true }: { readonly folder: string; readonly isChangeable?: boolean },
): Promise<string> {
  const { defaultExportName, writeExport } = await import("@tau-agent/export-html");
  const { header, path } = session.log;
  const name = defaultExportName(path ?? header.id, exportExtensions[format]);
  const target = resolve(folder, outputPath ?? name);
  const changeable = isChangeable ? folder : undefined;
  await writeExport(await formats[format](session), target, { changeable });
  return target;
}

type Pieces = AsyncIterable<string | Uint8Array>;

const formats: Record<ExportFormat, (session: ExportedSession) => Promise<Pieces>> = {
  html: async ({ log, systemPrompt, tools }) => {
    const { exportPieces } = await import("@tau-agent/export-html");
    const { header, tree, name, path } = log;
    const { entries, leafId } = tree;
    return exportPieces({ header, entries, leafId, name, path, systemPrompt, tools });
  },
  jsonl: async ({ log: { header, tree, path } }) => {
    const { sessionBytes } = await import("@tau-agent/export-html");
    return sessionBytes({ path, header, entries: tree.entries });
  },
  markdown: async (session) => {
    const { markdownPieces } = await import("@tau-agent/trajectories");
    return markdownPieces(trajectorySource(session));
  },
  atif: async (session) => {
    const { atifPieces } = await import("@tau-agent/trajectories");
    return atifPieces(trajectorySource(session));
  },
};

function trajectorySource(session: ExportedSession): TrajectorySource {
  const { log, place, readSubagent, systemPrompt, tools } = session;
  const { header, path, tree, name, totals } = log;
  const branch = tree.branch(tree.leafId);
  return {
    header,
    branch,
    otherEntries: tree.length - branch.length,
    name,
    costUsd: totals.cost,
    systemPrompt,
    tools,
    readSubagent: async (named): Promise<SubagentSource | undefined> => {
      const read = await readSubagent({ header, path, place }, named);
      if (read === undefined) return undefined;
      const source = trajectorySource(await readSource(read, readSubagent));
      return { ...source, place: read.place };
    },
  };
}
