/**
 * The highlighter's classes, by their letters in the page's style. Classes without a colour get no
 * element: otherwise colours would make up most of a page's size.
 */
const letters: Readonly<Record<string, string>> = {
  "hljs-keyword": "k",
  "hljs-literal": "k",
  "hljs-selector-tag": "k",
  "hljs-built_in": "k",
  "hljs-type": "k",
  "hljs-tag": "k",
  "hljs-string": "s",
  "hljs-regexp": "s",
  "hljs-addition": "s",
  "hljs-symbol": "s",
  "hljs-selector-attr": "s",
  "hljs-number": "n",
  "hljs-meta": "n",
  "hljs-variable": "n",
  "hljs-template-variable": "n",
  "hljs-attribute": "n",
  "hljs-title": "f",
  "hljs-section": "f",
  "hljs-name": "f",
  "hljs-attr": "f",
  "hljs-selector-class": "f",
  "hljs-selector-id": "f",
  "hljs-comment": "c",
  "hljs-quote": "c",
  "hljs-deletion": "d",
  "hljs-emphasis": "e",
  "hljs-strong": "b",
};

/** The highlighter's markup in fewer characters: `<i class="k">` for a keyword. */
export function shortColours(markup: string): string {
  const closers: string[] = [];
  // The highlighter also escapes quotes, which only attributes need.
  const text = markup.replaceAll("&quot;", '"').replaceAll("&#x27;", "'");
  return text.replace(/<span class="(hljs-[^" ]*)[^"]*">|<\/span>/g, (tag, name?: string) => {
    if (tag === "</span>") return closers.pop() ?? "";
    const letter = name !== undefined && Object.hasOwn(letters, name) ? letters[name] : undefined;
    closers.push(letter === undefined ? "" : "</i>");
    return letter === undefined ? "" : `<i class="${letter}">`;
  });
}

/**
 * Cuts coloured code after its first `lines` lines; an element around the cut is closed and opened
 * again. Undefined if there are no more lines.
 */
export function splitColours(markup: string, lines: number): [string, string] | undefined {
  let cut = -1;
  for (let line = 0; line < lines; line += 1) {
    cut = markup.indexOf("\n", cut + 1);
    if (cut === -1) return undefined;
  }
  const head = markup.slice(0, cut);
  const open: string[] = [];
  for (const [tag] of head.matchAll(/<i class="\w">|<\/i>/g)) {
    if (tag === "</i>") open.pop();
    else open.push(tag);
  }
  return [head + "</i>".repeat(open.length), open.join("") + markup.slice(cut + 1)];
}
