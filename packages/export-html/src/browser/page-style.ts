import { entryStyle } from "./entry-style.ts";
import { colourVariables } from "./page-colours.ts";
import { treeStyle } from "./tree-style.ts";

const base = `
:root {
  color-scheme: light dark;
  ${colourVariables}
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 1rem/1.6 ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  overflow-wrap: anywhere;
}
[hidden] { display: none !important; }
a { color: var(--accent); text-underline-offset: 0.15em; }
button, input {
  font: inherit; color: inherit; background: transparent; border: 1px solid transparent; border-radius: 6px;
}
button { cursor: pointer; padding: 0.15rem 0.5rem; }
button:disabled { cursor: default; opacity: 0.5; }
button:hover, button[aria-pressed="true"] { background: var(--tint); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 0.5rem; top: 0.5rem; z-index: 5; background: var(--card); padding: 0.5rem; }

.bar, #tree, .fork { display: none; }
.js .bar {
  display: flex; align-items: center; gap: 0.4rem; position: sticky; top: 0; z-index: 3; height: 3rem;
  padding: 0 0.75rem; background: var(--page); border-bottom: 1px solid var(--line); font-size: 0.875rem;
}
.bar .title { flex: 1; min-width: 0; font-weight: 600; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.bar button { white-space: nowrap; }
.search { display: flex; align-items: center; gap: 0.15rem; }
.search input { width: 13rem; padding: 0.2rem 0.6rem; background: var(--card); border-color: var(--soft); }
.search input::placeholder { color: var(--soft); opacity: 1; }
.search input:placeholder-shown ~ * { display: none; }
#count { min-width: 3.5rem; text-align: center; color: var(--soft); font-variant-numeric: tabular-nums; }
.narrow { display: none; }

main { max-width: 50rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
main > .head { margin-bottom: 2rem; padding-bottom: 1rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 0.75rem; font-weight: 650; letter-spacing: -0.01em; text-wrap: balance; }
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; margin: 0 0 0.75rem; font-size: 0.875rem; }
dt { color: var(--soft); font-size: 0.75rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: 0.8rem; text-align: center; }

dialog { max-width: min(28rem, 92vw); padding: 1.25rem 1.5rem; color: var(--text); background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
dialog::backdrop { background: rgb(0 0 0 / 0.4); }
dialog h2 { margin: 0 0 0.6rem; font-size: 1.05rem; }
dialog table { width: 100%; margin-bottom: 1rem; }
dialog th { white-space: nowrap; font-weight: 400; padding-inline-start: 0; }
kbd { display: inline-block; min-width: 1.6em; padding: 0 0.4em; text-align: center; font-family: var(--mono); font-size: 0.85em; background: var(--tint); border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px; }
dialog button { border-color: var(--line); }

::highlight(found) { background-color: var(--mark); color: var(--text); }
::highlight(now) { background-color: var(--mark-now); color: #000; }
.hit { box-shadow: 0 0 0 2px var(--mark-now); border-radius: 8px; }
`;

const media = `
@media (min-width: 75rem) {
  .js.tree main { margin-left: max(20rem, calc(20rem + (100vw - 70rem) / 2)); margin-right: auto; }
}
@media (max-width: 48rem) {
  .wide, .bar .title { display: none; }
  .narrow { display: inline; }
  .search { flex: 1; min-width: 0; }
  .search input { flex: 1; width: 0; min-width: 0; font-size: 16px; }
  #count { min-width: 2.5rem; }
  /* A search needs the room of the other buttons. */
  .search:has(input:not(:placeholder-shown)) ~ button { display: none; }
  #previous, #next { flex: none; }
  .js .bar { gap: 0.15rem; padding: 0 0.35rem; }
  .bar button { min-width: 2.2rem; min-height: 2.2rem; padding-inline: 0.2rem; }
  main { padding: 1rem 0.85rem 3rem; }
  #tree { width: min(20rem, 85vw); box-shadow: 0 0 2rem rgb(0 0 0 / 0.3); }
  #rows button { padding-block: 0.35rem; }
  h1 { font-size: 1.3rem; }
  .tool > h4 { padding-right: 0.8rem; }
  .meta { position: static; max-width: none; justify-content: flex-start; padding: 0 0.8rem 0.4rem; }
  .rest > summary { padding-block: 0.4rem; }
  pre { padding-inline: 0.7rem; font-size: 0.88rem; }
  .diff :is(ins, del, b) { margin-inline: -0.7rem; padding-inline: calc(0.7rem + 2ch) 0.7rem; }
  th, td { padding-inline: 0.5rem; }
}
@media print {
  :root, :root[data-theme] { color-scheme: light; --page: #fff; }
  .js .bar, .js.tree #tree, .js .fork, #elsewhere-note, .skip, .rest > summary { display: none !important; }
  .js.tree main, main { margin: 0; max-width: none; padding: 0; }
  .entry { content-visibility: visible; }
  /* Whatever is folded is printed, also where no script opens it. */
  details::details-content { content-visibility: visible; display: block; height: auto; }
  .rest pre { border-bottom: 1px solid var(--line); }
  .table { overflow: visible; }
  .picture { max-height: none; }
  .entry > header, .tool > h4 { break-after: avoid; }
  .diff :is(ins, del), .entry.user { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;

/** The page's style: one column of text, colours from one table for light and dark. */
export const pageStyle = `${base}${entryStyle}${treeStyle}${media}`;
