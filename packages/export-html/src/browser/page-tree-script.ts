/** Browser code: shows any branch, and the tree for choosing one. */
export const pageTreeScript = `
const byId = (id) => document.getElementById(id);
const index = JSON.parse(byId("index").textContent);
const rows = index.rows;
const parentOf = (at) => rows[at][0];
const entriesBox = byId("entries");
const articles = new Map();
const nestedResults = [];
for (const source of [entriesBox, byId("elsewhere").content]) {
  for (const article of source.children) articles.set(Number(article.dataset.entry), article);
  for (const result of source.querySelectorAll(".result[data-entry]:not(article)")) {
    nestedResults.push([Number(result.dataset.entry), result]);
  }
}

const childrenOf = rows.map(() => []);
const rootsOf = [];
for (let at = 0; at < rows.length; at += 1) {
  (parentOf(at) < 0 ? rootsOf : childrenOf[parentOf(at)]).push(at);
}
const siblingsOf = (at) => (parentOf(at) < 0 ? rootsOf : childrenOf[parentOf(at)]);
// A child always comes after its parent, so going backwards every child is done before.
const newestBelow = rows.map((_, at) => at);
for (let at = rows.length - 1; at > 0; at -= 1) {
  const parent = parentOf(at);
  if (parent >= 0) newestBelow[parent] = Math.max(newestBelow[parent], newestBelow[at]);
}

function pathTo(leaf) {
  const path = [];
  for (let at = leaf; at >= 0; at = parentOf(at)) path.push(at);
  return path.reverse();
}
let shownLeaf = index.leaf;
let onPath = new Set(pathTo(shownLeaf));

function showBranch(leaf) {
  if (leaf === shownLeaf) return;
  shownLeaf = leaf;
  const path = pathTo(leaf);
  onPath = new Set(path);
  const wanted = path.map((at) => articles.get(at)).filter(Boolean);
  let same = 0;
  while (same < wanted.length && entriesBox.children[same] === wanted[same]) same += 1;
  const rest = document.createRange();
  rest.setStart(entriesBox, same === 0 ? 0 : [...entriesBox.childNodes].indexOf(wanted[same - 1]) + 1);
  rest.setEndAfter(entriesBox.lastChild ?? entriesBox);
  if (entriesBox.lastChild) rest.deleteContents();
  // Add them one by one: too many arguments of one call would overflow the stack.
  const added = document.createDocumentFragment();
  for (const article of wanted.slice(same)) added.append(article);
  entriesBox.append(added);
  for (const [at, result] of nestedResults) if (result.hidden === onPath.has(at)) result.hidden = !onPath.has(at);
  byId("elsewhere-note").hidden = leaf === index.leaf;
  const todos = byId("todos");
  if (todos) todos.hidden = leaf !== index.leaf;
  markForks(wanted);
  markRows();
}

function markForks(shown) {
  for (const article of shown) {
    const at = Number(article.dataset.entry);
    const siblings = siblingsOf(at);
    const old = article.querySelector(":scope > .fork");
    if (siblings.length < 2 || old) continue;
    const place = siblings.indexOf(at);
    const box = document.createElement("div");
    box.className = "fork";
    const link = (label, words, target) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.title = words;
      button.setAttribute("aria-label", words);
      button.disabled = target === undefined;
      button.addEventListener("click", () => goTo(target));
      return button;
    };
    box.append(
      link("‹", "Previous branch", siblings[place - 1]),
      "Branch " + (place + 1) + " of " + siblings.length,
      link("›", "Next branch", siblings[place + 1]),
    );
    article.prepend(box);
  }
}

function elementOf(at) {
  return articles.get(at) ?? nestedResults.find(([found]) => found === at)?.[1];
}
// The tree follows what is read, but not where a click or a key has just led.
let ledAt = -1000;
function reveal(element) {
  ledAt = performance.now();
  for (let at = element; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
  element.scrollIntoView({ block: "start" });
  element.focus({ preventScroll: true });
}
function goTo(at) {
  if (!onPath.has(at)) {
    const holdsCurrent = pathTo(index.leaf).includes(at);
    showBranch(holdsCurrent ? index.leaf : newestBelow[at]);
  }
  const element = elementOf(at);
  if (element) reveal(element);
  markCurrent(at);
}
function openHash() {
  if (location.hash === "#all") setUnfolded(true);
  const found = /^#e(\\d+)$/.exec(location.hash);
  if (found && rows[Number(found[1])]) goTo(Number(found[1]));
}

// The tree: a line for each entry, moved to the right only where the conversation forks.
const list = byId("rows");
const tree = byId("tree");
const buttons = [];
function buildTree() {
  if (buttons.length > 0 || rows.length === 0) return;
  const fragment = document.createDocumentFragment();
  const stack = rootsOf.map((at) => [at, rootsOf.length > 1 ? 1 : 0]).reverse();
  while (stack.length > 0) {
    const [at, depth] = stack.pop();
    fragment.append(rowOf(at, depth));
    const children = childrenOf[at];
    const below = depth + (children.length > 1 ? 1 : 0);
    for (let child = children.length - 1; child >= 0; child -= 1) stack.push([children[child], below]);
  }
  list.append(fragment);
  markRows();
}
function rowOf(at, depth) {
  const [, kind, words, label] = rows[at];
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.row = String(at);
  item.classList.add(kind);
  if (siblingsOf(at).length > 1) item.classList.add("head");
  if (label) item.classList.add("named");
  if (at === index.leaf) { item.classList.add("leaf"); button.title = "Current leaf"; }
  button.style.setProperty("--depth", String(Math.min(depth, 12)));
  const text = document.createElement("span");
  text.className = "words";
  text.textContent = words;
  button.append(text);
  if (label) {
    const chip = document.createElement("span");
    chip.className = "label";
    chip.textContent = label;
    button.append(chip);
  }
  item.append(button);
  buttons[at] = button;
  return item;
}
function markRows() {
  for (const [at, button] of buttons.entries()) button?.parentElement.classList.toggle("on", onPath.has(at));
}
function entryInView() {
  const { left, width } = entriesBox.getBoundingClientRect();
  for (const y of [90, 130, 170]) {
    const entry = document.elementFromPoint(left + width / 2, y)?.closest("#entries [data-entry]");
    if (entry) return Number(entry.dataset.entry);
  }
  return -1;
}
const isListed = (at) => buttons[at]?.checkVisibility() ?? false;
// What the tree leaves out belongs to what came before it, or else to what comes first.
function listedFor(at) {
  for (let above = at; above >= 0; above = parentOf(above)) if (isListed(above)) return above;
  for (const first of onPath) if (isListed(first)) return first;
  return -1;
}
function follow() {
  if (performance.now() - ledAt < 200 || !tree.checkVisibility()) return;
  const at = listedFor(entryInView());
  if (at >= 0 && buttons[at].getAttribute("aria-current") !== "true") markCurrent(at);
}
let isFollowing = false;
addEventListener("scroll", () => {
  if (isFollowing) return;
  isFollowing = true;
  requestAnimationFrame(() => { isFollowing = false; follow(); });
}, { passive: true });
function markCurrent(at) {
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  buttons[at]?.setAttribute("aria-current", "true");
  buttons[at]?.scrollIntoView({ block: "nearest" });
}
list.addEventListener("click", (event) => {
  const row = event.target.closest("[data-row]");
  if (!row) return;
  goTo(Number(row.dataset.row));
  if (!wide.matches) showTree(false);
});
tree.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const visible = [...list.querySelectorAll("button")].filter((button) => button.parentElement.offsetHeight > 0);
  const at = visible.indexOf(document.activeElement);
  const next = visible[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (next) { event.preventDefault(); next.focus(); }
});
for (const button of tree.querySelectorAll("[data-filter]")) {
  button.addEventListener("click", () => {
    tree.dataset.filter = button.dataset.filter;
    for (const other of tree.querySelectorAll(".filters button")) other.setAttribute("aria-pressed", String(other === button));
    follow();
  });
}
tree.dataset.filter = "talk";
byId("back").addEventListener("click", () => { showBranch(index.leaf); if (entriesBox.lastElementChild) reveal(entriesBox.lastElementChild); });
markForks([...entriesBox.children]);
`;
