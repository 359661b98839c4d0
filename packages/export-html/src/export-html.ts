import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { createHighlight, createMarkdown } from "@tau-agent/markup";
import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { SessionTotals } from "@tau-agent/sessions/log";
import { readTimes } from "./entries/entry-times.ts";
import { snippet } from "./entries/facts.ts";
import { PageImages } from "./entries/page-images.ts";
import { platformOf } from "./entries/quiet-entries.ts";
import { renderEntry } from "./entries/render-entry.ts";
import { type Renderer, textOf } from "./entries/render-parts.ts";
import { latestTodos } from "./entries/render-todos.ts";
import { hasConversation, messageOf, outlineSession } from "./entries/session-outline.ts";
import { taskFilesOf } from "./entries/task-files.ts";
import { buildTreeIndex } from "./entries/tree-index.ts";
import {
  type ExportTool,
  type ExportTotals,
  pageEnd,
  pageMiddle,
  pageScripts,
  pageStart,
} from "./page.ts";
import { packSession } from "./session-lines.ts";
import { colourLimits, markdownLimits, TimeAllowance } from "./text/time-allowance.ts";
import { type WriteOptions, writeExport } from "./write-export.ts";

export { sessionBytes } from "./session-lines.ts";
export { writeExport } from "./write-export.ts";

/** The session to export; `leafId` is the current leaf. */
export interface ExportSource {
  readonly header: SessionHeader;
  readonly entries: readonly SessionEntry[];
  readonly leafId: string | null;
  readonly name?: string | undefined;
  /** The session's file: the page offers it for download, and shows the patches and logs of its tasks. */
  readonly path?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly tools?: readonly ExportTool[] | undefined;
  /** Counted from the entries if absent. */
  readonly totals?: ExportTotals | undefined;
}

export interface ExportOptions {
  /** Stops the work between two entries. */
  readonly signal?: AbortSignal | undefined;
}

/** Other work waits at most about this long while a page is being rendered, in ms. */
const sliceMs = 5;
/** Parts of the page are joined into pieces of about this many characters. */
const pieceLength = 256 * 1024;

/**
 * Makes one self-contained page of a session, in which no text of the session can run as code. Lets
 * other work run in between.
 * @throws {SessionError} `nothing_to_export` if the session contains no conversation.
 */
export async function exportHtml(
  source: ExportSource,
  options: ExportOptions = {},
): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of exportPieces(source, options)) pieces.push(piece);
  return pieces.join("");
}

/**
 * Writes the page to `path` in one step (mode 0600 when new) and creates missing directories.
 * @throws {SessionError} `nothing_to_export`, or `export_failed` when the file cannot be written.
 */
export async function exportHtmlToFile(
  source: ExportSource,
  path: string,
  options: ExportOptions & WriteOptions = {},
): Promise<void> {
  await writeExport(exportPieces(source, options), path, options).catch((error: unknown) => {
    options.signal?.throwIfAborted();
    throw error;
  });
}

/** The default file name of an export: from the session's file, or its id. */
export function defaultExportName(sessionFileOrId: string, extension = "html"): string {
  return `tau-session-${plainName(sessionFileOrId) || "export"}.${extension}`;
}

function downloadName(sessionFileOrId: string): string {
  return `${plainName(sessionFileOrId) || "session"}.jsonl`;
}

function plainName(sessionFileOrId: string): string {
  return basename(String(sessionFileOrId).replaceAll("\\", "/"))
    .replace(/\.jsonl$/i, "")
    .replace(/[^\w.-]+/g, "-");
}

export async function* exportPieces(
  source: ExportSource,
  options: ExportOptions = {},
): AsyncGenerator<string> {
  let piece: string[] = [];
  let length = 0;
  for await (const part of exportParts(source, options)) {
    piece.push(part);
    length += part.length;
    if (length < pieceLength) continue;
    yield piece.join("");
    piece = [];
    length = 0;
  }
  yield piece.join("");
}

async function* exportParts(
  source: ExportSource,
  { signal }: ExportOptions,
): AsyncGenerator<string> {
  // The session may continue while its page is rendered.
  const entries = [...source.entries];
  if (!hasConversation(entries)) throw new SessionError("nothing_to_export");
  const outline = outlineSession(entries, source.leafId);
  const onPath = new Set(outline.path);
  const isArticle = (index: number) => !outline.nested.has(index) && !outline.quiet.has(index);
  const highlight = await createHighlight(new TimeAllowance(colourLimits));
  const markdown = await createMarkdown(highlight, new TimeAllowance(markdownLimits));
  const { header, systemPrompt, tools, path } = source;
  const todos = latestTodos(outline);
  const images = new PageImages();
  const renderer: Renderer = {
    outline,
    onPath,
    markdown,
    highlight,
    images,
    times: readTimes(outline),
    files: taskFilesOf(path, header.parentSession),
    todosAt: todos?.index,
  };
  const pause = createPause(signal);
  const totals = source.totals ?? totalsOf(entries);
  const title = source.name || titleOf(entries, outline.path) || "Session";
  const entryCount = entries.length;
  const platform = platformOf(entries);
  const head = { title, header, platform, entryCount, totals, todos, systemPrompt, tools };
  yield pageStart(head).text;
  for (const index of outline.path) {
    if (isArticle(index)) yield (await renderEntry(index, renderer)).text;
    await pause();
  }
  yield pageMiddle().text;
  for (const index of entries.keys()) {
    if (!onPath.has(index) && isArticle(index)) yield (await renderEntry(index, renderer)).text;
    await pause();
  }
  yield pageScripts(buildTreeIndex(outline), downloadName(path ?? header.id)).text;
  for await (const piece of packSession({ path, header, entries }, images)) {
    signal?.throwIfAborted();
    yield piece;
  }
  yield pageEnd().text;
}

/** Yields to the event loop if the last yield was some time ago. */
function createPause(signal: AbortSignal | undefined): () => Promise<void> {
  let last = performance.now();
  return async () => {
    signal?.throwIfAborted();
    if (performance.now() - last < sliceMs) return;
    await setImmediate();
    last = performance.now();
  };
}

function totalsOf(entries: readonly SessionEntry[]): ExportTotals {
  const totals = new SessionTotals();
  for (const entry of entries) {
    try {
      totals.add(entry);
    } catch {
      // An entry that does not fit its type does not count.
    }
  }
  return totals;
}

function titleOf(entries: readonly SessionEntry[], path: readonly number[]): string {
  for (const index of path) {
    const entry = entries[index];
    const message = entry && messageOf(entry);
    if (message?.role === "user") return snippet(textOf(message.content), 70);
  }
  return "";
}
