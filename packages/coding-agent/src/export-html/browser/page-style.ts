/** The page's style: one column of text, colours from one table for light and dark. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --page: light-dark(#fbfaf8, #16171a);
  --card: light-dark(#ffffff, #1d1f23);
  --tint: light-dark(#f1efea, #25282d);
  --line: light-dark(#e2ded6, #33363d);
  --text: light-dark(#24231f, #dcdad5);
  --soft: light-dark(#6b675f, #9a978f);
  --accent: light-dark(#1f5f8b, #7fb4d9);
  --mark: light-dark(#ffe58a, #6b5a12);
  --mark-now: light-dark(#ffb454, #b06f00);
  --plus: light-dark(#1c6b3a, #7fcf98);
  --plus-back: light-dark(#e5f4e9, #1b2f22);
  --minus: light-dark(#a03030, #e89a94);
  --minus-back: light-dark(#fbe9e7, #3a2020);
  --key: light-dark(#8b3a7a, #d59bc8);
  --string: light-dark(#3d6b2e, #a5c98f);
  --number: light-dark(#9a5b13, #deb071);
  --name: light-dark(#1f5f8b, #86bbe0);
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
button:hover, button[aria-pressed="true"] { background: var(--tint); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
main:focus, .entry:focus { outline: none; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 0.5rem; top: 0.5rem; z-index: 5; background: var(--card); padding: 0.5rem; }

.bar, #tree, .fork { display: none; }
.js .bar {
  display: flex; align-items: center; gap: 0.4rem; position: sticky; top: 0; z-index: 3; height: 3rem;
  padding: 0 0.75rem; background: var(--page); border-bottom: 1px solid var(--line); font-size: 0.875rem;
}
.bar .title { flex: 1; min-width: 0; font-weight: 600; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.search { display: flex; align-items: center; gap: 0.15rem; }
.search input { width: 13rem; padding: 0.2rem 0.6rem; background: var(--card); border-color: var(--line); }
#count { min-width: 3.5rem; text-align: center; color: var(--soft); font-variant-numeric: tabular-nums; }
.narrow { display: none; }

main { max-width: 50rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
main > .head { margin-bottom: 2rem; padding-bottom: 1rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 0.75rem; font-weight: 650; letter-spacing: -0.01em; text-wrap: balance; }
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 1.6rem; margin: 0 0 0.75rem; font-size: 0.875rem; }
dt { color: var(--soft); font-size: 0.75rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: 0.8rem; text-align: center; }

.entry { margin: 0 0 1.25rem; content-visibility: auto; contain-intrinsic-size: auto 8rem; }
.entry > header { display: flex; align-items: baseline; gap: 0.6rem; margin-bottom: 0.25rem; font-size: 0.8rem; color: var(--soft); }
h3 { margin: 0; flex: none; font-size: 0.8rem; font-weight: 650; color: var(--text); }
.facts { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0 0.75rem; margin-left: auto; color: inherit; text-decoration: none; font-size: 0.75rem; font-variant-numeric: tabular-nums; text-align: right; }
.facts:hover { text-decoration: underline; }
.entry.user { background: var(--tint); border-radius: 10px; padding: 0.75rem 1rem; margin-top: 2rem; }
.entry.assistant h3, .entry.result h3 { color: var(--accent); }
.entry.bash, .entry.custom, .entry.summary { border-left: 3px solid var(--line); padding-left: 1rem; }
.entry.summary { border-color: var(--accent); }
.entry.setting, .entry.other { font-size: 0.8rem; color: var(--soft); }
.entry.setting { display: flex; align-items: baseline; gap: 0.6rem; }
.entry.setting { margin-bottom: 0.4rem; contain-intrinsic-size: auto 1.6rem; }
.entry.setting > header { display: contents; }
.entry.setting .facts { order: 3; }
.entry.setting > code { order: 2; }
.entry.setting > a { order: 2; }
.entry.setting h3, .entry.other h3 { font-weight: 500; color: var(--soft); }
.label { flex: none; max-width: 40%; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; padding: 0 0.5em; border-radius: 1em; background: var(--accent); color: var(--page); font-size: 0.7rem; font-weight: 600; }
.fork { color: var(--soft); font-size: 0.75rem; margin-bottom: 0.25rem; }
.js .fork { display: flex; align-items: center; gap: 0.25rem; }
#elsewhere-note { position: sticky; top: 3.5rem; z-index: 2; margin-bottom: 1rem; padding: 0.4rem 1rem; border-radius: 8px; font-size: 0.875rem; background: var(--tint); border: 1px solid var(--line); }
#elsewhere-note button { color: var(--accent); text-decoration: underline; }

.prose > :first-child { margin-top: 0; }
.prose > :last-child { margin-bottom: 0; }
.prose + .prose { margin-top: 0.75rem; }
.prose p, .prose ul, .prose ol, .prose blockquote { margin: 0.6rem 0; }
.prose ul, .prose ol { padding-left: 1.5rem; }
.prose h1, .prose h2, .prose h3, .prose h4, .prose h5, .prose h6 { font-size: 1.05rem; line-height: 1.35; margin: 1.25rem 0 0.4rem; font-weight: 650; color: inherit; }
.prose h1 { font-size: 1.25rem; }
.prose h2 { font-size: 1.15rem; }
.prose blockquote { padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft); margin-left: 0; }
.prose hr { border: 0; border-top: 1px solid var(--line); margin: 1.25rem 0; }
.address { color: var(--soft); font-size: 0.85em; }
.table { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.3rem 0.75rem; border-bottom: 1px solid var(--line); text-align: start; overflow-wrap: normal; }
.plain { white-space: pre-wrap; }
img { max-width: 100%; height: auto; border-radius: 6px; }
.picture { display: block; max-height: 32rem; margin: 0.5rem 0; border: 1px solid var(--line); }
code { font-family: var(--mono); font-size: 0.86em; }
:not(pre) > code { background: var(--tint); padding: 0.1em 0.35em; border-radius: 4px; }
.entry.user :not(pre) > code { background: var(--page); }
pre { margin: 0.6rem 0; padding: 0.7rem 0.9rem; overflow: auto; max-height: 38rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; line-height: 1.5; tab-size: 4; overflow-wrap: normal; font-size: 0.93rem; }
.entry.user pre { background: var(--page); }

.tool { margin: 0.6rem 0; border: 1px solid var(--line); border-radius: 8px; background: var(--card); overflow: hidden; }
.tool h4 { margin: 0; padding: 0.4rem 0.8rem; font-size: 0.85rem; font-weight: 400; }
.tool h4 code { background: none; padding: 0; }
.tool .name { font-family: var(--mono); font-size: 0.92em; font-weight: 650; color: var(--accent); margin-right: 0.35rem; }
.tool .fold, .tool .note, .tool .error, .tool .usage { margin: 0; padding: 0.1rem 0.8rem 0.4rem; }
.tool pre { border-width: 1px 0 0; border-radius: 0; margin: 0.35rem -0.8rem -0.4rem; background: var(--page); }
.failed > pre { margin: 0; }
.tool > .note { padding-bottom: 0.5rem; }
.fold > summary { cursor: pointer; color: var(--soft); font-size: 0.8rem; list-style-position: outside; margin-left: 1rem; }
.fold > summary:hover { color: var(--text); }
.thinking { margin: 0.3rem 0 0.6rem; }
.thinking > .prose, .thinking > .plain { padding: 0.25rem 0 0.25rem 1rem; border-left: 2px solid var(--line); color: var(--soft); font-size: 0.92rem; }
.thinking[open] .hint { display: none; }
.hint { opacity: 0.8; font-style: italic; }
.note, .usage { color: var(--soft); font-size: 0.8rem; }
.note { margin: 0.4rem 0; }
.entry > header .usage { font-size: inherit; }
.error { color: var(--minus); font-size: 0.875rem; margin: 0.4rem 0; white-space: pre-wrap; }

.diff code { display: block; width: max-content; min-width: 100%; }
.diff span { display: block; padding: 0 0.9rem; margin: 0 -0.9rem; white-space: pre; }
.diff .add { background: var(--plus-back); color: var(--plus); }
.diff .del { background: var(--minus-back); color: var(--minus); }
.diff .hunk { color: var(--soft); }
.plus { color: var(--plus); }
.minus { color: var(--minus); }
.hljs-keyword, .hljs-literal, .hljs-selector-tag, .hljs-built_in, .hljs-type, .hljs-tag { color: var(--key); }
.hljs-string, .hljs-regexp, .hljs-addition, .hljs-symbol, .hljs-selector-attr { color: var(--string); }
.hljs-number, .hljs-meta, .hljs-variable, .hljs-template-variable, .hljs-attribute { color: var(--number); }
.hljs-title, .hljs-section, .hljs-name, .hljs-attr, .hljs-selector-class, .hljs-selector-id { color: var(--name); }
.hljs-comment, .hljs-quote { color: var(--soft); font-style: italic; }
.hljs-deletion { color: var(--minus); }
.hljs-emphasis { font-style: italic; }
.hljs-strong { font-weight: 650; }
::highlight(found) { background-color: var(--mark); color: var(--text); }
::highlight(now) { background-color: var(--mark-now); color: #000; }
.hit { box-shadow: 0 0 0 2px var(--mark-now); border-radius: 8px; }

#tree { position: fixed; z-index: 2; top: 3rem; bottom: 0; left: 0; width: 20rem; padding: 0.5rem 0; overflow-y: auto; overflow-x: hidden; background: var(--page); border-right: 1px solid var(--line); font-size: 0.8rem; overscroll-behavior: contain; }
.js.tree #tree { display: block; }
.filters { display: flex; gap: 0.15rem; padding: 0 0.5rem 0.5rem; color: var(--soft); }
#rows { list-style: none; margin: 0; padding: 0; }
#rows li { content-visibility: auto; contain-intrinsic-size: auto 1.7rem; }
#rows button { display: flex; gap: 0.5rem; width: 100%; padding: 0.15rem 0.75rem 0.15rem calc(0.75rem + var(--depth, 0) * 0.8rem); border-radius: 0; text-align: left; line-height: 1.4; color: var(--soft); border: 0; }
#rows .words { overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
#rows .label { flex: none; max-width: 8rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#rows button::before { content: ""; flex: none; align-self: center; width: 0.4rem; height: 0.4rem; border-radius: 50%; background: var(--line); }
#rows .user button::before { background: var(--accent); border-radius: 1px; }
#rows .summary button::before { background: var(--number); }
#rows .head { margin-top: 0.3rem; padding-top: 0.3rem; border-top: 1px dashed var(--line); }
#rows .on button { color: var(--text); }
#rows .on.user button { font-weight: 600; }
#rows .leaf button::before { background: var(--plus); outline: 2px solid var(--plus); outline-offset: 1px; }
#rows .leaf button::after { content: "current"; flex: none; margin-left: auto; font-size: 0.7rem; color: var(--plus); }
#rows [aria-current] { background: var(--tint); }
#tree[data-filter="talk"] li:is(.calls, .result, .setting, .other):not(.leaf, .head, .named),
#tree[data-filter="prompts"] li:is(.assistant, .calls, .result, .setting, .other, .bash, .custom):not(.leaf, .head, .named) { display: none; }

@media (min-width: 75rem) {
  .js.tree main { margin-left: max(20rem, calc(20rem + (100vw - 70rem) / 2)); margin-right: auto; }
}
@media (max-width: 48rem) {
  .wide, .bar .title { display: none; }
  .narrow { display: inline; }
  .search { flex: 1; min-width: 0; }
  .search input { flex: 1; width: 0; min-width: 0; font-size: 16px; }
  #count { min-width: 2.5rem; }
  .js .bar { gap: 0.15rem; padding: 0 0.35rem; }
  .bar button { min-width: 2.2rem; min-height: 2.2rem; }
  main { padding: 1rem 0.85rem 3rem; }
  #tree { width: min(20rem, 85vw); box-shadow: 0 0 2rem rgb(0 0 0 / 0.3); }
  #rows button { padding-block: 0.35rem; }
  h1 { font-size: 1.3rem; }
  .facts .model { display: none; }
}
@media print {
  :root, :root[data-theme] { color-scheme: light; --page: #fff; }
  .js .bar, .js.tree #tree, .js .fork, #elsewhere-note, .skip { display: none !important; }
  .js.tree main, main { margin: 0; max-width: none; padding: 0; }
  .entry { content-visibility: visible; }
  pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; }
  .diff span { white-space: pre-wrap; }
  .diff code { width: auto; }
  .entry > header, .tool h4 { break-after: avoid; }
}
`;
