import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { AgentSession } from "./agent-session.ts";

/**
 * Writes a session, even one in memory, as one HTML page.
 *
 * @param outputPath - by default a name derived from the session's, in its working directory
 * @returns the absolute path of the page
 * @throws {SessionError} `nothing_to_export`, `export_failed`
 */
export async function exportSession(session: AgentSession, outputPath?: string): Promise<string> {
  const { defaultExportName, exportHtmlToFile } = await import("@tau-agent/export-html");
  const { header, tree, name, path } = session.log;
  const target = resolve(header.cwd, outputPath ?? defaultExportName(path ?? header.id));
  await exportHtmlToFile(
    {
      header,
      entries: tree.entries,
      leafId: tree.leafId,
      name,
      path,
      systemPrompt: await session.buildSystemPrompt(),
      tools: session.tools.active,
    },
    target,
    { changeable: header.cwd },
  );
  return target;
}

/**
 * Writes a session file as one HTML page. The file may belong to a running host; it is only read.
 *
 * @param outputPath - by default a name derived from the file's, in `cwd`
 * @returns the absolute path of the page
 * @throws {SessionError} `session_not_found`, `session_invalid`, `nothing_to_export`,
 *   `export_failed`
 */
export async function exportSessionFile(
  sessionPath: string,
  { cwd, outputPath }: { readonly cwd: string; readonly outputPath?: string | undefined },
): Promise<string> {
  const { defaultExportName, exportHtmlToFile } = await import("@tau-agent/export-html");
  const { migrateEntries, readSessionFile, SessionLog } = await import("@tau-agent/sessions/files");
  const path = resolve(cwd, sessionPath);
  if (!existsSync(path)) throw new SessionError("session_not_found", { path });
  const { header, entries } = await readSessionFile(path);
  if (header === undefined) {
    throw new SessionError("session_invalid", { path, reason: "it is empty" });
  }
  const log = SessionLog.create({ cwd: header.cwd });
  log.takeOver(migrateEntries({ header, entries }));
  const target = resolve(cwd, outputPath ?? defaultExportName(path));
  const { tree, name } = log;
  const { entries: shown, leafId } = tree;
  const source = { header, entries: shown, leafId, name, path };
  await exportHtmlToFile(source, target, { changeable: cwd });
  return target;
}
