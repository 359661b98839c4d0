import { createHash } from "node:crypto";
import { codeBlock, type Html, html, jsonForScript, plainBlock, trusted } from "@tau-agent/markup";
import type { SessionHeader } from "@tau-agent/rpc-protocol";
import { pageBar, pageKeys } from "./browser/page-bar.ts";
import { pageScript } from "./browser/page-script.ts";
import { pageStyle } from "./browser/page-style.ts";
import {
  fieldText,
  formatCost,
  formatCount,
  isoTime,
  jsonText,
  numberOf,
} from "./entries/facts.ts";
import { foldable } from "./entries/render-parts.ts";
import { checklist, type LatestTodos, progressOf } from "./entries/render-todos.ts";
import type { TreeIndex } from "./entries/tree-index.ts";
import { formatDuration } from "./text/duration.ts";

export interface ExportTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: unknown;
}

/** Tokens and cost (US dollars) of a whole session. */
export interface ExportTotals {
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  };
  readonly cost: number;
  readonly runTimeMs?: number;
}

export interface PageHead {
  readonly title: string;
  readonly header: SessionHeader;
  /** Operating system and processor, as in `linux x64`; may be empty. */
  readonly platform: string;
  readonly entryCount: number;
  readonly totals: ExportTotals;
  readonly todos?: LatestTodos | undefined;
  readonly systemPrompt?: string | undefined;
  readonly tools?: readonly ExportTool[] | undefined;
}

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Only our own script and style run, and nothing is loaded or sent. */
function contentSecurityPolicy(): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(pageScript)}`,
    `style-src ${hashOf(pageStyle)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "trusted-types 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}

export function pageStart(head: PageHead): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Tau">
<title>${head.title}</title>
<style>${trusted(pageStyle)}</style>
</head>
<body>
<a class="skip" href="#transcript">To the conversation</a>
${trusted(pageBar)}
<main id="transcript" tabindex="-1">
${renderHead(head)}
<div id="elsewhere-note" role="status" hidden>This is another branch. <button type="button" id="back">Back to the current one</button></div>
<div id="entries">
`;
}

export function pageMiddle(): Html {
  return html`</div>
<footer>End of the branch</footer>
</main>
<template id="elsewhere">
`;
}

/** The end of the page after the last entry, up to the text of the session's JSONL. */
export function pageScripts(index: TreeIndex, downloadName: string): Html {
  return html`</template>
${trusted(pageKeys)}
<script type="application/json" id="index">${jsonForScript(index)}</script>
<script type="text/plain" id="jsonl" data-name="${downloadName}">`;
}

export function pageEnd(): Html {
  return html`</script>
<script>${trusted(pageScript)}</script>
</body>
</html>
`;
}

function renderHead(head: PageHead): Html {
  const { title, header, platform, entryCount, totals, todos, systemPrompt, tools } = head;
  const { tokens, cost } = totals;
  const cached = numberOf(tokens.cacheRead);
  const input = numberOf(tokens.input) + cached + numberOf(tokens.cacheWrite);
  const facts: [string, string | Html | undefined][] = [
    ["Started", startTime(header.timestamp)],
    ["Worked", workTime(totals.runTimeMs)],
    ["Directory", fieldText(header.cwd ?? "")],
    ["Platform", platform],
    ["Entries", String(entryCount)],
    ["Cost", formatCost(numberOf(cost))],
    ["Tokens in", `${formatCount(input)}${cached > 0 ? ` (${formatCount(cached)} cached)` : ""}`],
    ["Tokens out", formatCount(numberOf(tokens.output))],
  ];
  const shown = facts
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return html`<header class="head"><h1 dir="auto">${title}</h1><dl>${shown}</dl>${todos && renderLatest(todos)}${
    systemPrompt !== undefined &&
    systemPrompt !== "" &&
    foldable("System prompt", plainBlock(systemPrompt), false)
  }${renderTools(tools)}</header>`;
}

function startTime(timestamp: unknown): Html | undefined {
  const time = isoTime(timestamp);
  if (time === undefined) return undefined;
  return html`<time datetime="${time}" title="${time}">${time.slice(0, 16).replace("T", " ")} UTC</time>`;
}

function workTime(ms: number | undefined): string | undefined {
  return ms === undefined || ms <= 0 ? undefined : formatDuration(ms);
}

function renderLatest({ index, todos }: LatestTodos): Html {
  return html`<section class="latest" id="todos"><h2>Todos <a href="#e${index}">${progressOf(todos)}</a></h2>${checklist(todos)}</section>`;
}

function renderTools(tools: readonly ExportTool[] | undefined): Html | undefined {
  if (tools === undefined || tools.length === 0) return undefined;
  const items = tools.map(({ name, description, parameters }) => {
    const schema = parameters !== undefined && codeBlock(html`${jsonText(parameters)}`);
    const content = html`${description !== undefined && plainBlock(description)}${schema}`;
    return foldable(html`<code>${name}</code>`, content, false);
  });
  return foldable(`Tools · ${tools.length}`, html`${items}`, false);
}
