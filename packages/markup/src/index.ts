export { type Allowance, lengthAllowance } from "./allowance.ts";
export { splitColours } from "./colours.ts";
export { diffCounts, renderDiff, type ShownDiff } from "./diff.ts";
export { createHighlight, type Highlight, languageOfPath } from "./highlight.ts";
export { escapeText, Html, html, jsonForScript, trusted } from "./html.ts";
export { codeBlock, createMarkdown, plainBlock, type RenderMarkdown } from "./markdown.ts";
export { imageUrl } from "./safe-url.ts";
