import { pageDownloadScript } from "./page-download-script.ts";
import { pageSearchScript } from "./page-search-script.ts";
import { pageTreeScript } from "./page-tree-script.ts";

// Runs in the browser. It never creates HTML from text, only text nodes.
const controls = `
const root = document.documentElement;
const help = byId("help");
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
  if (isShown) requestAnimationFrame(() => setTimeout(() => { buildTree(); follow(); }));
}
function toggleTree() { showTree(!root.classList.contains("tree")); }

// What folds, on all branches; what was open from the start stays open.
const folds = () => [document.querySelector("main > .head"), ...articles.values()]
  .flatMap((box) => [...box.querySelectorAll("details")]);
let opened = [];
function setUnfolded(isOpen) {
  byId("unfold").setAttribute("aria-pressed", String(isOpen));
  if (isOpen) {
    opened = folds().filter((fold) => !fold.open);
    for (const fold of opened) fold.open = true;
  } else for (const fold of opened.length > 0 ? opened : folds()) fold.open = false;
}
function unfoldAll() { setUnfolded(byId("unfold").getAttribute("aria-pressed") !== "true"); }

function step(by, kind) {
  const shown = [...entriesBox.querySelectorAll(":scope > " + kind)];
  const top = 70;
  const boxOf = (at) => shown[at].getBoundingClientRect();
  const isInView = ({ bottom, top: start }) => bottom > top && start < innerHeight;
  const focused = shown.indexOf(document.activeElement?.closest(kind));
  const isAtFocus = focused !== -1 && isInView(boxOf(focused));
  const first = shown.findIndex((article) => article.getBoundingClientRect().bottom > top);
  const at = isAtFocus ? focused : first === -1 ? shown.length : first;
  const start = at < shown.length ? boxOf(at).top : 0;
  // Within an entry, going back first leads to its beginning; from above it, going on does.
  const isBelow = by > 0 && !isAtFocus && at < shown.length && start > top + 10;
  const isWithin = by < 0 && at < shown.length && start < top - 10;
  const target = shown[Math.min(shown.length - 1, Math.max(0, isWithin || isBelow ? at : at + by))];
  if (target) { reveal(target); markCurrent(Number(target.dataset.entry)); }
}

function toggleHelp() { if (help.open) help.close(); else help.showModal(); }

const keys = {
  "/": () => { query.focus(); query.select(); },
  t: toggleTheme, b: toggleTree, o: unfoldAll, d: download, "?": toggleHelp,
  j: () => step(1, ".entry"), k: () => step(-1, ".entry"), J: () => step(1, ".user"), K: () => step(-1, ".user"),
  n: () => moveMatch(1), N: () => moveMatch(-1),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (help.open && event.key !== "?") return;
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
byId("keys").addEventListener("click", toggleHelp);
byId("help-close").addEventListener("click", toggleHelp);

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("main details:not([open])")];
  for (const fold of folded) fold.open = true;
});
addEventListener("afterprint", () => { for (const fold of folded) fold.open = false; });

// Everything is laid out soon after the page has opened, so that it can be captured as a whole. Few
// large steps: each costs time for every entry of the page, whether it is in the step or not.
const stepSize = 2000;
const whenIdle = self.requestIdleCallback ?? setTimeout;
const waiting = [...entriesBox.children];
function drawMore() {
  for (const article of waiting.splice(0, stepSize)) article.classList.add("drawn");
  if (waiting.length > 0) requestAnimationFrame(() => whenIdle(drawMore));
  else root.classList.add("drawn");
}
requestAnimationFrame(() => whenIdle(drawMore));

addEventListener("hashchange", openHash);
setTheme(memory.read("tau-export-theme"));
root.classList.add("js");
byId("bar-title").textContent = document.title;
showTree(wide.matches);
openHash();
`;

/** The page's script: tree, search and switches. The page is readable without it. */
export const pageScript = `"use strict";(() => {${pageTreeScript}${pageSearchScript}${pageDownloadScript}${controls}})();`;
