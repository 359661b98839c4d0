import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { labelCells } from "../src/label-cells.ts";
import { searchRank } from "../src/search-rank.ts";
import { sections } from "../src/site-map.ts";

const pages = new URL("../.pages/", import.meta.url).pathname;

function titleOf(page: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(pages, `${page}.md`), "utf8"))?.[1] ?? page;
}

/** The id of a heading, as GitHub makes it: the same links work in the repository. */
function headingId(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");
}

const apiSidebar = join(pages, "api/typedoc-sidebar.json");

export default defineConfig({
  title: "Tau",
  description: "A coding agent to build into other programs",
  srcDir: ".pages",
  outDir: "dist",
  cleanUrls: true,
  lastUpdated: false,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/icon.svg" }]],
  // Pages name <placeholders>, which are no elements.
  markdown: {
    html: false,
    // Braces at the end of a text are placeholders of errors, not attributes.
    attrs: { disable: true },
    languageAlias: { transcript: "json" },
    anchor: { slugify: headingId },
    config: labelCells,
  },
  themeConfig: {
    logo: "/icon.svg",
    search: {
      provider: "local",
      options: { miniSearch: { searchOptions: { boostDocument: searchRank } } },
    },
    outline: [2, 3],
    nav: [
      { text: "Quickstart", link: "/quickstart" },
      { text: "Protocol", link: "/protocol-reference" },
      { text: "API", link: "/api/" },
    ],
    sidebar: {
      "/api/": existsSync(apiSidebar) ? JSON.parse(readFileSync(apiSidebar, "utf8")) : [],
      "/": sections.map(({ title, pages: names }) => ({
        text: title,
        items: names.map((name) => ({ text: titleOf(name), link: `/${name}` })),
      })),
    },
  },
});
