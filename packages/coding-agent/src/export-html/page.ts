import { createHash } from "node:crypto";
import type { SessionHeader } from "@tau-agent/rpc-protocol";
import { pageScript } from "./browser/page-script.ts";
import { pageStyle } from "./browser/page-style.ts";
import { formatCost, formatCount, jsonText, numberOf, timeOf } from "./entries/facts.ts";
import { foldable } from "./entries/render-parts.ts";
import type { TreeIndex } from "./entries/tree-index.ts";
import { type Html, html, jsonForScript, trusted } from "./text/html.ts";
import { codeBlock, plainBlock } from "./text/markdown.ts";

/** A tool as the page lists it. */
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
}

/** What comes before the conversation. */
export interface PageHead {
  readonly title: string;
  readonly header: SessionHeader;
  readonly entryCount: number;
  readonly totals: ExportTotals;
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

/** The page up to the first entry. */
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
<div class="bar" role="toolbar" aria-label="Page">
<button type="button" id="menu" aria-expanded="false" aria-controls="tree" title="Tree (b)">☰<span class="wide"> Tree</span></button>
<strong class="title">${head.title}</strong>
<div class="search" role="search"><input id="query" type="search" placeholder="Search ( / )" aria-label="Search the session" autocomplete="off" spellcheck="false"><output id="count" aria-live="polite"></output><button type="button" id="previous" title="Previous match (Shift+Enter)" aria-label="Previous match">↑</button><button type="button" id="next" title="Next match (Enter)" aria-label="Next match">↓</button></div>
<button type="button" id="unfold" aria-pressed="false" title="Open everything (o)"><span class="wide">Open all</span><span class="narrow">+</span></button>
<button type="button" id="theme" title="Light or dark (t)" aria-label="Light or dark">◐</button>
</div>
<nav id="tree" aria-label="Branches"><div class="filters" role="group" aria-label="Entries in the tree"><button type="button" data-filter="talk" aria-pressed="true">Conversation</button><button type="button" data-filter="prompts" aria-pressed="false">Prompts</button><button type="button" data-filter="all" aria-pressed="false">All</button></div><ol id="rows"></ol></nav>
<main id="transcript" tabindex="-1">
${renderHead(head)}
<div id="elsewhere-note" role="status" hidden>This is another branch. <button type="button" id="back">Back to the current one</button></div>
<div id="entries">
`;
}

/** The page between the entries of the current branch and those of the others. */
export function pageMiddle(): Html {
  return html`</div>
<footer>End of the branch</footer>
</main>
<template id="elsewhere">
`;
}

/** The page after the last entry. */
export function pageEnd(index: TreeIndex): Html {
  return html`</template>
<script type="application/json" id="index">${jsonForScript(index)}</script>
<script>${trusted(pageScript)}</script>
</body>
</html>
`;
}

function renderHead({ title, header, entryCount, totals, systemPrompt, tools }: PageHead): Html {
  const { tokens, cost } = totals;
  const cached = numberOf(tokens.cacheRead);
  const input = numberOf(tokens.input) + cached + numberOf(tokens.cacheWrite);
  const facts: [string, string | Html | undefined][] = [
    ["Started", timeOf(header.timestamp)],
    ["Directory", String(header.cwd ?? "")],
    ["Entries", String(entryCount)],
    ["Cost", formatCost(numberOf(cost))],
    ["Tokens in", `${formatCount(input)}${cached > 0 ? ` (${formatCount(cached)} cached)` : ""}`],
    ["Tokens out", formatCount(numberOf(tokens.output))],
  ];
  const shown = facts
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return html`<header class="head"><h1>${title}</h1><dl>${shown}</dl>${
    systemPrompt !== undefined &&
    systemPrompt !== "" &&
    foldable("System prompt", plainBlock(systemPrompt), false)
  }${renderTools(tools)}</header>`;
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
