import { pageSearchScript } from "./page-search-script.ts";
import { pageTreeScript } from "./page-tree-script.ts";

// Runs in the browser. It never creates HTML from text, only text nodes.
const controls = `
const root = document.documentElement;
const wide = matchMedia("(min-width: 75rem)");
const memory = {
  read(key) { try { return localStorage.getItem(key); } catch { return null; } },
  write(key, value) { try { localStorage.setItem(key, value); } catch {} },
};

function setTheme(theme) {
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
}
function toggleTheme() {
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(isDark ? "light" : "dark");
  memory.write("tau-export-theme", root.dataset.theme);
}
function showTree(isShown) {
  root.classList.toggle("tree", isShown);
  byId("menu").setAttribute("aria-expanded", String(isShown));
  if (isShown) buildTree();
}
function toggleTree() { showTree(!root.classList.contains("tree")); }

function unfoldAll() {
  const button = byId("unfold");
  const isOpen = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(isOpen));
  for (const fold of document.querySelectorAll("#entries details")) fold.open = isOpen;
}

function step(by) {
  const shown = [...entriesBox.children];
  const top = 70;
  const isInView = ({ bottom, top: start }) => bottom > top && start < innerHeight;
  const focused = shown.indexOf(document.activeElement);
  const first = shown.findIndex((article) => isInView(article.getBoundingClientRect()));
  const isAtFocus = focused !== -1 && isInView(shown[focused].getBoundingClientRect());
  const at = isAtFocus ? focused : first === -1 ? shown.length : first;
  // Within an entry, going back first leads to its beginning.
  const isWithin = by < 0 && at < shown.length && shown[at].getBoundingClientRect().top < top - 10;
  const target = shown[Math.min(shown.length - 1, Math.max(0, isWithin ? at : at + by))];
  if (target) reveal(target);
}

const keys = {
  "/": () => { query.focus(); query.select(); },
  t: toggleTheme, b: toggleTree, o: unfoldAll,
  j: () => step(1), k: () => step(-1), n: () => moveMatch(1), N: () => moveMatch(-1),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (document.activeElement === query) { query.value = ""; search(); query.blur(); }
    else if (!wide.matches) showTree(false);
    return;
  }
  if (event.target instanceof HTMLInputElement || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
byId("theme").addEventListener("click", toggleTheme);
byId("menu").addEventListener("click", toggleTree);
byId("unfold").addEventListener("click", unfoldAll);

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("#entries details:not([open])")];
  for (const fold of folded) fold.open = true;
});
addEventListener("afterprint", () => { for (const fold of folded) fold.open = false; });

addEventListener("hashchange", openHash);
setTheme(memory.read("tau-export-theme"));
root.classList.add("js");
showTree(wide.matches);
openHash();
`;

/** The page's script: tree, search and switches. The page is readable without it. */
export const pageScript = `"use strict";(() => {${pageTreeScript}${pageSearchScript}${controls}})();`;
