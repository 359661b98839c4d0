export const treeStyle = `
#tree { position: fixed; z-index: 2; top: 3rem; bottom: 0; left: 0; width: 20rem; padding: 0.5rem 0; overflow-y: auto; overflow-x: hidden; background: var(--page); border-right: 1px solid var(--line); font-size: 0.8rem; overscroll-behavior: contain; }
.js.tree #tree { display: block; }
.filters { display: flex; gap: 0.15rem; padding: 0 0.5rem 0.5rem; color: var(--soft); }
#rows { list-style: none; margin: 0; padding: 0; }
#rows li { content-visibility: auto; contain-intrinsic-size: auto 1.7rem; }
#rows button { display: flex; gap: 0.5rem; width: 100%; padding: 0.15rem 0.75rem 0.15rem calc(0.75rem + var(--depth, 0) * 0.8rem); border-radius: 0; text-align: start; line-height: 1.4; color: var(--soft); border: 0; }
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
#rows :is(.result, .failed, .calls) button { padding-left: calc(1.55rem + var(--depth, 0) * 0.8rem); font-size: 0.72rem; font-family: var(--mono); }
#rows .failed button::before { background: var(--minus); }
#rows .quiet:not(.leaf, .head, .named) { display: none; }
#tree[data-filter="talk"] li:is(.calls, .setting, .other):not(.leaf, .head, .named),
#tree[data-filter="prompts"] li:is(.assistant, .calls, .result, .failed, .setting, .other, .bash, .custom):not(.leaf, .head, .named) { display: none; }
`;
