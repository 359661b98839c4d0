import { resolve } from "node:path";
import type { AgentSession } from "./agent-session.ts";

/**
 * Writes a session, one in memory too, as one HTML page.
 *
 * @param outputPath - default: a name made from the session's, in its working directory
 * @returns the absolute path of the page
 * @throws {SessionError} `nothing_to_export`, `export_failed`
 */
export async function exportSession(session: AgentSession, outputPath?: string): Promise<string> {
  const { defaultExportName, exportHtmlToFile } = await import("./export-html/export-html.ts");
  const { header, tree, name, path } = session.log;
  const target = resolve(header.cwd, outputPath ?? defaultExportName(path ?? header.id));
  await exportHtmlToFile(
    {
      header,
      entries: tree.entries,
      leafId: tree.leafId,
      name,
      systemPrompt: await session.requests.systemPrompt(),
      tools: session.tools.active,
    },
    target,
  );
  return target;
}
