export const entryStyle = `
/* A long page opens at once: entries are laid out when they come into view, the others soon after. */
.entry { margin: 0 0 1.5rem; border-radius: 4px; content-visibility: auto; contain-intrinsic-size: auto 8rem; }
.entry.setting { contain-intrinsic-size: auto 1.6rem; }
.entry.drawn, .drawn .entry { content-visibility: visible; }
@media (scripting: none) { .entry { content-visibility: visible; } }
.entry > header { display: flex; align-items: baseline; gap: 0.6rem; margin-bottom: 0.3rem; font-size: 0.8rem; color: var(--soft); }
h3 { margin: 0; flex: none; font-size: 0.8rem; font-weight: 650; color: var(--text); }
.facts { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0 0.75rem; margin-left: auto; color: var(--soft); text-decoration: none; font-size: 0.75rem; font-weight: 400; font-variant-numeric: tabular-nums; text-align: end; }
a.facts:hover { text-decoration: underline; }
.entry.user { background: var(--tint); border-radius: 10px; padding: 0.75rem 1rem; margin-top: 2.25rem; }
.entry.assistant h3, .entry.result h3 { color: var(--accent); }
.entry.bash, .entry.custom, .entry.summary { border-inline-start: 3px solid var(--line); border-radius: 0; padding-inline-start: 1rem; }
.entry.summary { border-color: var(--accent); }
.entry.setting, .entry.other { font-size: 0.8rem; color: var(--soft); margin-bottom: 0.5rem; }
.entry:is(.setting, .other) { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.6rem; }
.entry:is(.setting, .other) > header { display: contents; }
.entry:is(.setting, .other) .facts { order: 3; opacity: 0; }
.entry:is(.setting, .other):is(:hover, :focus-within, :focus) .facts { opacity: 1; }
.entry:is(.setting, .other) > :not(header) { order: 2; min-width: 0; }
.entry.other > :is([open], .prose, .plain) { order: 4; flex-basis: 100%; }
.entry.setting h3, .entry.other h3 { font-weight: 500; color: var(--soft); }
.entry:is(.setting, .other) + :is(.assistant, .bash, .custom, .summary) { margin-top: 1.5rem; }
.label { flex: none; max-width: 40%; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; padding: 0 0.5em; border-radius: 1em; background: var(--accent); color: var(--page); font-size: 0.7rem; font-weight: 600; }
.fork { color: var(--soft); font-size: 0.75rem; margin-bottom: 0.25rem; }
.js .fork { display: flex; align-items: center; gap: 0.25rem; }
#elsewhere-note { position: sticky; top: 3.5rem; z-index: 2; margin-bottom: 1rem; padding: 0.4rem 1rem; border-radius: 8px; font-size: 0.875rem; background: var(--tint); border: 1px solid var(--line); }
#elsewhere-note button { color: var(--accent); text-decoration: underline; }

.prose > :first-child { margin-top: 0; }
.prose > :last-child { margin-bottom: 0; }
.prose + .prose { margin-top: 0.75rem; }
.prose p, .prose ul, .prose ol, .prose blockquote { margin: 0.6rem 0; }
/* Each paragraph goes in the direction of its own text. */
.prose :is(p, li, h1, h2, h3, h4, h5, h6, th, td), .plain { unicode-bidi: plaintext; text-align: start; }
.prose ul, .prose ol { padding-inline-start: 1.5rem; }
.prose li > p { margin: 0.3rem 0; }
.prose li.choice { list-style: none; margin-inline-start: -1.3rem; }
.prose h1, .prose h2, .prose h3, .prose h4, .prose h5, .prose h6 { font-size: 1.05rem; line-height: 1.35; margin: 1.25rem 0 0.4rem; font-weight: 650; color: inherit; }
.prose h1 { font-size: 1.25rem; }
.prose h2 { font-size: 1.15rem; }
.prose blockquote { padding-inline-start: 1rem; border-inline-start: 3px solid var(--line); color: var(--soft); margin-inline: 0; }
.prose hr { border: 0; border-top: 1px solid var(--line); margin: 1.25rem 0; }
.address { color: var(--soft); font-size: 0.85em; }
.table { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.35rem 0.75rem; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; overflow-wrap: break-word; font-variant-numeric: tabular-nums; }
thead th { border-bottom-width: 2px; }
.prose [align="right"] { text-align: right; }
.prose [align="center"] { text-align: center; }
.prose [align="left"] { text-align: left; }
.plain { white-space: pre-wrap; }
img { max-width: 100%; height: auto; border-radius: 6px; }
.picture { display: block; max-height: 32rem; margin: 0.5rem 0; border: 1px solid var(--line); }
code { font-family: var(--mono); font-size: 0.86em; direction: ltr; unicode-bidi: isolate; }
:not(pre) > code { background: var(--tint); padding: 0.1em 0.35em; border-radius: 4px; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
.entry.user :not(pre) > code { background: var(--page); }
pre { margin: 0.6rem 0; padding: 0.7rem 0.9rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; line-height: 1.5; tab-size: 4; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.93rem; direction: ltr; text-align: left; }
.entry.user pre { background: var(--page); }

.tool { position: relative; margin: 0.6rem 0; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.tool > h4 { margin: 0; padding: 0.4rem 11rem 0.4rem 0.8rem; font-size: 0.85rem; font-weight: 400; min-height: 2.2rem; }
.tool > h4 code { background: none; padding: 0; }
.name { font-family: var(--mono); font-size: 0.92em; font-weight: 650; color: var(--accent); margin-inline-end: 0.35rem; }
.meta { position: absolute; top: 0.5rem; right: 0.8rem; max-width: 11rem; display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0 0.75rem; margin: 0; font-size: 0.75rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.tool .note, .tool .error, .tool .usage { margin: 0; }
.tool > .note, .result > .note { padding: 0.1rem 0.8rem 0.5rem; }
.tool pre { margin: 0; border-width: 1px 0 0; border-radius: 0; background: var(--page); }
.tool :is(.result, .order):last-child > pre:last-child, .tool > pre:last-child { border-radius: 0 0 8px 8px; }
.tool > pre, .tool > .rest > pre, .order pre { background: var(--card); }
.failed > pre { box-shadow: inset 3px 0 var(--minus); }
.tool .picture { margin: 0.6rem 0.8rem; max-width: calc(100% - 1.6rem); }
.result > .fold, .tool > .fold { padding: 0.1rem 0.8rem 0.5rem; }
.result > .fold pre, .tool > .fold pre { border-width: 1px; border-radius: 6px; margin-top: 0.35rem; }
.command pre { border-inline-start: 3px solid var(--accent); }
.command code::before { content: "$ "; color: var(--soft); }

summary { cursor: pointer; border-radius: 4px; }
.fold > summary { color: var(--soft); font-size: 0.8rem; list-style-position: outside; margin-inline-start: 1rem; }
.fold > summary:hover, .rest > summary:hover { color: var(--text); }
.fold > summary code { font-size: 0.95em; }
.rest { display: flex; flex-direction: column; }
.rest > summary { order: 2; list-style: none; padding: 0.2rem 0.9rem 0.3rem; font-size: 0.78rem; color: var(--accent); background: var(--tint); border: 1px solid var(--line); border-top: 0; border-radius: 0 0 8px 8px; }
/* Over the space below the lines that are always shown. */
pre.cut + .rest > pre { margin-top: -0.4rem; }
.rest > summary::-webkit-details-marker { display: none; }
.rest > summary::before { content: "▾ "; }
.rest[open] > summary::before { content: "▴ Fold the "; }
.rest.earlier > summary { order: 0; border: 1px solid var(--line); border-bottom: 0; border-radius: 6px 6px 0 0; }
.rest.earlier > summary::before { content: "▴ "; }
.rest.earlier[open] > summary::before { content: "▾ Fold the "; }
.rest.earlier + pre { border-top: 0; border-top-left-radius: 0; border-top-right-radius: 0; margin-top: 0; }
.rest.earlier[open] + pre { padding-top: 0; }
.rest pre { border-top: 0; border-radius: 0; margin-top: 0; margin-bottom: 0; padding-top: 0; }
pre.cut { margin-bottom: 0; padding-bottom: 0.4rem; border-bottom: 0; border-bottom-left-radius: 0; border-bottom-right-radius: 0; }
.tool > .rest > summary, .result > .rest > summary, .order > .rest > summary { border-width: 1px 0 0; }
.tool > .rest:not(:last-child) > summary, .order > .rest > summary { border-radius: 0; }
.thinking { margin: 0.3rem 0 0.6rem; }
.thinking > .prose, .thinking > .plain { padding: 0.25rem 0 0.25rem 1rem; border-inline-start: 2px solid var(--line); color: var(--soft); font-size: 0.92rem; }
[open] > summary > .hint { display: none; }
.hint { font-style: italic; }
.note, .usage { color: var(--soft); font-size: 0.8rem; }
.note { margin: 0.4rem 0; }
.meta .usage, .facts .usage { font-size: inherit; }
.error { color: var(--minus); font-size: 0.875rem; margin: 0.4rem 0; white-space: pre-wrap; }

.diff code { display: block; }
.diff :is(ins, del, b) { display: block; margin: 0 -0.9rem; padding: 0 0.9rem 0 calc(0.9rem + 2ch); text-indent: -2ch; text-decoration: none; font-weight: inherit; }
.diff ins { background: var(--plus-back); color: var(--plus); }
.diff del { background: var(--minus-back); color: var(--minus); }
.diff b { color: var(--soft); }
.plus { color: var(--plus); }
.minus { color: var(--minus); }
pre i { font-style: normal; }
.k { color: var(--key); }
.s { color: var(--string); }
.n { color: var(--number); }
.f { color: var(--name); }
pre .c { color: var(--soft); font-style: italic; }
.d { color: var(--minus); }
pre .e { font-style: italic; }
pre i.b { font-weight: 650; }

.status { font-weight: 600; white-space: nowrap; color: var(--soft); }
.status.passed { color: var(--plus); }
.status.failed { color: var(--minus); }
.task { padding: 0.6rem 0.8rem; border-top: 1px solid var(--line); }
h5, h6 { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.5rem; margin: 0 0 0.4rem; font-size: 0.85rem; font-weight: 400; }
h6 { margin-top: 0.8rem; font-size: 0.8rem; color: var(--soft); }
.task .about { color: var(--soft); }
.task .prose, .task .plain { font-size: 0.92rem; }
.task pre { border-width: 1px; border-radius: 6px; margin: 0.3rem 0 0; }
.task pre.cut, .task .earlier > pre { border-bottom: 0; border-radius: 6px 6px 0 0; }
.task .rest > pre { border-block: 0; margin: 0; padding-block: 0 ; border-radius: 0; }
.task .earlier { margin-top: 0.3rem; }
.task .earlier + pre { margin-top: 0; border-radius: 0 0 6px 6px; }
.task .rest:not(.earlier) > summary { border-width: 0 1px 1px; border-radius: 0 0 6px 6px; }
.task .fold { margin: 0.2rem 0; }
.tool .together { margin: 0; padding: 0.5rem 0.8rem; border-top: 1px solid var(--line); font-size: 0.8rem; color: var(--soft); }
.attempt { margin: 0.5rem 0 0.2rem; font-size: 0.8rem; color: var(--soft); }
.check { margin: 0 0 0.4rem; padding-inline-start: 0.8rem; border-inline-start: 2px solid var(--line); }
.check > p { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.6rem; margin: 0; font-size: 0.8rem; }
.files { margin: 0.2rem 0; padding-inline-start: 1.2rem; font-size: 0.85rem; }

.todos { list-style: none; margin: 0.3rem 0; padding: 0; font-size: 0.92rem; }
.todos li { display: flex; gap: 0.55rem; align-items: baseline; padding: 0.1rem 0; }
.todos li > div { unicode-bidi: plaintext; text-align: start; flex: 1; }
.todos .note { margin: 0; white-space: pre-wrap; font-weight: 400; }
.box { flex: none; align-self: flex-start; display: inline-grid; place-content: center; width: 1.05rem; height: 1.05rem; margin-top: 0.22rem; border: 1.5px solid var(--soft); border-radius: 4px; font-size: 0.75rem; line-height: 1; font-weight: 700; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.completed > .box { background: var(--plus); border-color: var(--plus); color: var(--card); }
.completed > .box::before { content: "✓"; }
.completed > div { color: var(--soft); }
.in_progress > .box { border-color: var(--accent); color: var(--accent); }
.in_progress > .box::before { content: "●"; font-size: 0.6rem; }
.in_progress > div { font-weight: 600; }
.abandoned > .box::before { content: "–"; }
.abandoned > div { color: var(--soft); text-decoration: line-through; }
.todo h5, .latest h5 { margin: 0.5rem 0 0.1rem; font-weight: 600; }
.latest { margin: 0.5rem 0 1rem; padding: 0.7rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.latest h2 { display: flex; align-items: baseline; gap: 0.6rem; margin: 0; font-size: 0.85rem; font-weight: 650; }
.latest h2 a { font-weight: 400; font-size: 0.8rem; }
`;
