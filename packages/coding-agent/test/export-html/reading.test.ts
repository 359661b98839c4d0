import { readFileSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { demoSession } from "../../../export-html/src/__fixtures__/demo-session.ts";
import { longSession } from "../../../export-html/src/__fixtures__/long-session.ts";
import { SessionBuilder } from "../../../export-html/src/__fixtures__/session-builder.ts";
import { failedLog, workSession } from "../../../export-html/src/__fixtures__/work-session.ts";
import { TestBrowser } from "./browser.ts";

let browser: TestBrowser;
beforeEach(() => {
  browser = new TestBrowser();
});
afterEach(() => browser.close());

const openWork = (options?: Parameters<TestBrowser["open"]>[1]) =>
  browser.open(workSession(browser.directory), options);
/** The layout is complete a moment after the page has opened. */
const drawn = (page: Page) => page.waitForSelector("html.drawn", { state: "attached" });

describe("collapsed output", () => {
  it("expands and collapses by mouse and by keyboard", async () => {
    const { page, complaints } = await openWork();
    const last = page.getByText("src/ledger.test.ts > case 48");
    const more = page.getByText("38 more lines");
    expect(await page.getByText("src/ledger.test.ts > case 10").isVisible()).toBe(true);
    expect(await last.isVisible()).toBe(false);
    await more.click();
    expect(await last.isVisible()).toBe(true);
    // The line that collapses the output again comes after it.
    const below = async () => {
      const [text, summary] = [await last.boundingBox(), await more.boundingBox()];
      return (summary?.y ?? 0) > (text?.y ?? Number.POSITIVE_INFINITY);
    };
    expect(await below()).toBe(true);
    await more.focus();
    await page.keyboard.press("Enter");
    expect(await last.isVisible()).toBe(false);
    await page.keyboard.press("Space");
    expect(await last.isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("expands everything at once, and collapses only what was collapsed before", async () => {
    const { page } = await openWork();
    const closed = () => page.locator("main details:not([open])").count();
    const before = await closed();
    expect(before).toBeGreaterThan(2);
    await page.keyboard.press("o");
    expect(await closed()).toBe(0);
    await page.keyboard.press("o");
    expect(await closed()).toBe(before);
    await page.goto(`${page.url()}#all`);
    expect(await closed()).toBe(0);
  });
});

describe("a page as a whole", () => {
  it("prints collapsed content, even without scripts, and no controls", async () => {
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await openWork({ javaScriptEnabled });
      await page.emulateMedia({ media: "print" });
      for (const text of ["src/ledger.test.ts > case 48", "test 1 of the ledger", "0 of 4"]) {
        expect(await page.locator("main").getByText(text).first().isVisible()).toBe(true);
      }
      const pages = (await page.pdf()).toString("latin1").match(/\/Type \/Page\b/g)?.length;
      expect(pages).toBeGreaterThan(3);
      expect(await page.locator(".bar").isVisible()).toBe(false);
      expect(await page.locator("#tree").isVisible()).toBe(false);
    }
  });

  it("has no scrolling boxes and lays out every entry, for full-page screenshots", async () => {
    const { page } = await browser.open(longSession(2000));
    await drawn(page);
    await page.keyboard.press("o");
    const state = await page.evaluate(`({
      scrolling: [...document.querySelectorAll("main *")].filter((one) => one.scrollHeight > one.clientHeight + 2 && getComputedStyle(one).overflowY !== "visible").length,
      wide: [...document.querySelectorAll("main pre")].filter((one) => one.scrollWidth > one.clientWidth).length,
      skipped: [...document.querySelectorAll(".entry")].filter((one) => getComputedStyle(one).contentVisibility !== "visible").length,
    })`);
    expect(state).toEqual({ scrolling: 0, wide: 0, skipped: 0 });
  });
});

describe("text direction and alignment", () => {
  it("aligns columns as the table says", async () => {
    const { page } = await openWork();
    const right = async (text: string) => {
      const range = `(() => { const cell = [...document.querySelectorAll("td, th")].find((one) => one.textContent === ${JSON.stringify(text)});
        const range = document.createRange(); range.selectNodeContents(cell);
        const { paddingRight } = getComputedStyle(cell);
        return Math.round(cell.getBoundingClientRect().right - parseFloat(paddingRight) - range.getBoundingClientRect().right); })()`;
      return await page.evaluate<number>(range);
    };
    expect(await right("9")).toBe(0);
    expect(await right("Invoices")).toBe(0);
    expect(await right("71 400")).toBe(0);
    expect(await right("October")).toBeGreaterThan(5);
  });

  it("aligns right-to-left text to the right, paragraph by paragraph", async () => {
    const { page } = await openWork();
    const gaps = async (text: string) =>
      await page.evaluate<{ left: number; right: number }>(`(() => {
        const box = [...document.querySelectorAll(".prose p")].find((one) => one.textContent.includes(${JSON.stringify(text)}));
        const range = document.createRange(); range.selectNodeContents(box);
        const [inner, outer] = [range.getBoundingClientRect(), box.getBoundingClientRect()];
        return { left: inner.left - outer.left, right: outer.right - inner.right };
      })()`);
    for (const text of ["وماذا عن", "יתרת החשבון", "لن نعيد"]) {
      const { left, right } = await gaps(text);
      expect(right).toBeLessThan(2);
      expect(left).toBeGreaterThan(50);
    }
    expect((await gaps("The last line is for")).left).toBeLessThan(2);
  });
});

describe("the session as JSONL", () => {
  it("is downloaded byte for byte, including images and damaged lines", async () => {
    const session = workSession(browser.directory);
    const builder = new SessionBuilder();
    const data = Buffer.alloc(9_000, "pixels").toString("base64");
    builder.user([{ type: "image", mimeType: "image/png", data }]);
    builder.assistant("😀 seen");
    const line = builder.entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    const path = session.path ?? "";
    writeFileSync(
      path,
      Buffer.concat([readFileSync(path), Buffer.from(line), Buffer.of(1, 255, 254, 10)]),
    );
    const { page, requests, complaints } = await browser.open({ ...builder.source(), path });
    expect((await page.textContent("#jsonl"))?.length).toBeLessThan(data.length);
    for (const take of [() => page.click("#download"), () => page.keyboard.press("d")]) {
      const [download] = await Promise.all([page.waitForEvent("download"), take()]);
      expect(download.suggestedFilename()).toBe("work.jsonl");
      expect(readFileSync(await download.path())).toEqual(readFileSync(path));
    }
    expect(requests.filter((url) => !/^(?:data|blob):/.test(url))).toEqual([page.url()]);
    expect(complaints).toEqual([]);
  });

  it("is also available for a session without a file", async () => {
    const { page } = await browser.open(demoSession());
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
    const { header, entries } = demoSession();
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([header, ...entries]);
  });
});

describe("keyboard navigation", () => {
  it("moves from prompt to prompt, with a visible focus", async () => {
    const { page } = await openWork();
    const focused = () => page.evaluate<string>("document.activeElement.textContent.slice(0, 40)");
    await page.keyboard.press("J");
    expect(await focused()).toContain("A cent gets lost");
    await page.keyboard.press("J");
    expect(await focused()).toContain("وماذا");
    const outline = "getComputedStyle(document.activeElement).outlineStyle";
    expect(await page.evaluate(outline)).toBe("solid");
    await page.keyboard.press("K");
    expect(await focused()).toContain("A cent gets lost");
    await page.keyboard.press("j");
    expect(await focused()).toContain("Assistant");
  });

  it("reaches every control in page order, each with a name and a visible focus", async () => {
    const { page } = await openWork({ viewport: { width: 390, height: 844 } });
    const seen: { name: string; top: number; outline: string }[] = [];
    for (let press = 0; press < 60; press += 1) {
      await page.keyboard.press("Tab");
      const found = await page.evaluate<(typeof seen)[number] | undefined>(`(() => {
        const one = document.activeElement;
        if (one === document.body) return undefined;
        const { outlineStyle } = getComputedStyle(one);
        return { name: one.getAttribute("aria-label") || one.textContent.trim() || one.title, top: one.getBoundingClientRect().top + scrollY, outline: outlineStyle };
      })()`);
      if (found === undefined) break;
      seen.push(found);
    }
    expect(seen[0]?.name).toBe("To the conversation");
    expect(seen.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["Tree", "Search the session", "Keys", "38 more lines"]),
    );
    for (const { name, outline } of seen) expect([name === "", outline]).toEqual([false, "solid"]);
  });

  it("is explained in a help panel", async () => {
    const { page } = await openWork();
    expect(await page.locator("#help").isVisible()).toBe(false);
    await page.keyboard.press("?");
    for (const key of ["j", "J", "o", "/", "d"]) {
      expect(await page.locator("#help kbd", { hasText: new RegExp(`^${key}$`) }).isVisible()).toBe(
        true,
      );
    }
    await page.keyboard.press("Escape");
    expect(await page.locator("#help").isVisible()).toBe(false);
    await page.click("#keys");
    await page.click("#help-close");
    expect(await page.locator("#help").isVisible()).toBe(false);
  });
});

it("shows the full log of a failed check once it is expanded", async () => {
  const { page } = await openWork();
  await page.getByText("14 earlier lines").click();
  const [log = ""] = await page.locator(".check").first().locator("pre").allTextContents();
  const rest = await page.locator(".check").first().locator("pre").last().textContent();
  expect(`${log}\n${rest}`).toBe(failedLog);
  expect(await page.locator(".check pre").first().isVisible()).toBe(true);
});

it("shows all text with at least the contrast of WCAG AA", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await openWork({ colorScheme });
    await page.keyboard.press("o");
    const poor = await page.evaluate(`(() => {
      const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
      const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
      const behind = (one) => { for (let box = one; box; box = box.parentElement) { const colour = rgb(getComputedStyle(box).backgroundColor); if (colour[3] === 255) return colour; } return rgb("white"); };
      const found = [];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const one = node.parentElement;
        if (node.data.trim() === "" || !one.checkVisibility({ opacityProperty: true })) continue;
        const [a, b] = [light(rgb(getComputedStyle(one).color)), light(behind(one))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) found.push(one.className + ": " + node.data.trim().slice(0, 30) + " " + contrast.toFixed(2));
      }
      return found;
    })()`);
    expect(poor).toEqual([]);
  }
});

it("renders all 2000 entries of a session, and lists them in the sidebar", async () => {
  const { page } = await browser.open(longSession(2000), {
    viewport: { width: 1280, height: 900 },
  });
  await drawn(page);
  const { leafId, entries } = longSession(2000);
  const parents = new Map(entries.map(({ id, parentId }) => [id, parentId]));
  let length = 0;
  for (let at = leafId; at !== null; at = parents.get(at) ?? null) length += 1;
  expect(await page.locator("#entries [data-entry]").count()).toBe(length);
  expect(await page.locator("#rows li").count()).toBe(entries.length);
});
