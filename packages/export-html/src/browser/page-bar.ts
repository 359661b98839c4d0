/** The bar above the conversation, and the tree beside it; both need the page's script. */
export const pageBar = `<div class="bar" role="toolbar" aria-label="Page">
<button type="button" id="menu" aria-label="Tree" aria-expanded="false" aria-controls="tree" title="Branches and entries (b)"><span aria-hidden="true">☰</span><span class="wide"> Tree</span></button>
<strong class="title" id="bar-title"></strong>
<div class="search" role="search"><input id="query" type="search" placeholder="Search ( / )" aria-label="Search the session" autocomplete="off" spellcheck="false"><output id="count" aria-live="polite"></output><button type="button" id="previous" title="Previous match (Shift+Enter)" aria-label="Previous match">↑</button><button type="button" id="next" title="Next match (Enter)" aria-label="Next match">↓</button></div>
<button type="button" id="unfold" aria-pressed="false" aria-label="Open all" title="Open everything that is folded (o)"><span class="wide">Open all</span><span class="narrow" aria-hidden="true">⊞</span></button>
<button type="button" id="download" aria-label="Download the session as JSONL" title="Download the session as JSONL (d)"><span class="wide">JSONL </span><span aria-hidden="true">⤓</span></button>
<button type="button" id="keys" aria-haspopup="dialog" aria-label="Keys" title="Keys (?)">?</button>
<button type="button" id="theme" title="Light or dark (t)" aria-label="Light or dark">◐</button>
</div>
<nav id="tree" aria-label="Branches"><div class="filters" role="group" aria-label="Entries in the tree"><button type="button" data-filter="talk" aria-pressed="true">Conversation</button><button type="button" data-filter="prompts" aria-pressed="false">Prompts</button><button type="button" data-filter="all" aria-pressed="false">All</button></div><ol id="rows"></ol></nav>`;

const keys: readonly (readonly [keys: readonly string[], action: string])[] = [
  [["j", "k"], "next and previous entry"],
  [["J", "K"], "next and previous message of the user"],
  [["o"], "open or fold everything"],
  [["Enter"], "open or fold what has the focus"],
  [["/"], "search all branches"],
  [["n", "N"], "next and previous match"],
  [["b"], "show or hide the tree"],
  [["d"], "download the session as JSONL"],
  [["t"], "light or dark"],
  [["?"], "show these keys"],
  [["Esc"], "close, or end the search"],
];

const rows = keys.map(
  ([names, action]) =>
    `<tr><th scope="row">${names.map((name) => `<kbd>${name}</kbd>`).join(" ")}</th><td>${action}</td></tr>`,
);

export const pageKeys = `<dialog id="help" aria-labelledby="help-title"><h2 id="help-title">Keys</h2><table>${rows.join("")}</table><button type="button" id="help-close">Close</button></dialog>`;
