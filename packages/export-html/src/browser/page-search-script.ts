/** Browser code: finds text in all branches. Matches are painted; the document does not change. */
export const pageSearchScript = `
const query = byId("query");
const count = byId("count");
const maxPainted = 1000;
let matches = [];
let current = -1;
let texts;

// Lower case of the same length, so that places in it are places in the text.
function fold(text) {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter)).join("");
}
function search() {
  texts ??= [...articles].sort(([a], [b]) => a - b).map(([, article]) => [article, fold(article.textContent)]);
  const needle = fold(query.value);
  matches = [];
  current = -1;
  if (needle !== "") {
    for (const [article, text] of texts) {
      for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
        matches.push({ article, from: at, to: at + needle.length });
      }
    }
  }
  const first = matches.findIndex(({ article }) => article.isConnected);
  if (matches.length > 0) { current = (first === -1 ? 0 : first) - 1; moveMatch(1); }
  else paint();
}
function rangeOf({ article, from, to }) {
  const range = document.createRange();
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  let start = 0;
  let isOpen = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const end = start + node.data.length;
    if (!isOpen && from < end) { range.setStart(node, from - start); isOpen = true; }
    if (isOpen && to <= end) { range.setEnd(node, to - start); break; }
    start = end;
  }
  return range;
}
// All matches of an article from one walk over its text.
function rangesAround() {
  const shown = matches.filter(({ article }) => article.isConnected);
  const middle = Math.max(0, shown.indexOf(matches[current]));
  const from = Math.max(0, middle - maxPainted / 2);
  const ranges = [];
  let article;
  let nodes = [];
  let place = 0;
  for (const match of shown.slice(from, from + maxPainted)) {
    if (match.article !== article) {
      article = match.article;
      place = 0;
      nodes = [];
      const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(), at = 0; node; node = walker.nextNode()) {
        nodes.push([node, at]);
        at += node.data.length;
      }
    }
    while (place < nodes.length - 1 && nodes[place + 1][1] <= match.from) place += 1;
    let last = place;
    while (last < nodes.length - 1 && nodes[last + 1][1] < match.to) last += 1;
    const range = new StaticRange({
      startContainer: nodes[place][0], startOffset: match.from - nodes[place][1],
      endContainer: nodes[last][0], endOffset: match.to - nodes[last][1],
    });
    ranges.push(range);
  }
  return ranges;
}
function paint() {
  count.textContent = query.value === "" ? "" : matches.length === 0 ? "none" : (current + 1) + " / " + matches.length;
  document.querySelector(".hit")?.classList.remove("hit");
  if (!("highlights" in CSS)) {
    matches[current]?.article.classList.add("hit");
    return;
  }
  CSS.highlights.delete("found");
  CSS.highlights.delete("now");
  if (matches.length === 0) return;
  const all = new Highlight();
  for (const range of rangesAround()) all.add(range);
  const now = new Highlight(rangeOf(matches[current]));
  now.priority = 1;
  CSS.highlights.set("found", all);
  CSS.highlights.set("now", now);
}
function moveMatch(by) {
  if (matches.length === 0) return;
  current = (current + by + matches.length) % matches.length;
  const range = rangeOf(matches[current]);
  const element = range.startContainer.parentElement ?? matches[current].article;
  const at = Number(element.closest("[data-entry]").dataset.entry);
  if (!onPath.has(at)) showBranch(newestBelow[at]);
  for (let box = element; box; box = box.parentElement) if (box instanceof HTMLDetailsElement) box.open = true;
  element.scrollIntoView({ block: "center" });
  markCurrent(at);
  paint();
}
let timer;
query.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 120); });
query.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  clearTimeout(timer);
  if (matches.length === 0 || fold(query.value) !== searched()) search();
  else moveMatch(event.shiftKey ? -1 : 1);
});
// The query of the current matches.
function searched() {
  const [first] = matches;
  return first ? texts.find(([article]) => article === first.article)[1].slice(first.from, first.to) : "";
}
byId("next").addEventListener("click", () => moveMatch(1));
byId("previous").addEventListener("click", () => moveMatch(-1));
`;
