import { afterEach, beforeEach, expect, it } from "vitest";
import { demoSession } from "../../../export-html/src/__fixtures__/demo-session.ts";
import { longSession } from "../../../export-html/src/__fixtures__/long-session.ts";
import { call, SessionBuilder } from "../../../export-html/src/__fixtures__/session-builder.ts";
import { hostileTexts } from "../../../markup/src/__fixtures__/hostile-texts.ts";
import { TestBrowser } from "./browser.ts";

let browser: TestBrowser;
beforeEach(() => {
  browser = new TestBrowser();
});
afterEach(() => browser.close());

it("runs no script from the session and loads nothing", async () => {
  expect(new Set(hostileTexts).size).toBeGreaterThanOrEqual(200);
  const session = new SessionBuilder();
  for (const text of hostileTexts) {
    const prompt = session.user(text);
    session.assistant([
      { type: "text", text },
      { type: "thinking", thinking: text },
      call(text, "bash", { command: text }),
    ]);
    session.result(text, "bash", { text });
    session.add("label", { targetId: prompt, label: text });
    session.add(text, { text });
  }
  const source = session.source({ name: hostileTexts[1], systemPrompt: hostileTexts[1] });
  const { page, requests, complaints } = await browser.open(source);
  await page.click("#unfold");
  await page.click("[data-filter=all]");
  await page.fill("#query", "window.hacked");
  await page.press("#query", "Enter");
  for (const link of await page.$$("main a[target=_blank]")) {
    expect(await link.getAttribute("href")).toMatch(/^(https?|mailto):/);
  }
  const state = await page.evaluate(`({
    hacked: window.hacked,
    scripts: document.scripts.length,
    foreign: document.querySelectorAll("iframe, object, embed, base, form, svg, math").length,
    listeners: [...document.querySelectorAll("*")].filter((one) => one.getAttributeNames().some((name) => name.startsWith("on"))).length,
  })`);
  expect(state).toEqual({ hacked: undefined, scripts: 3, foreign: 0, listeners: 0 });
  expect(requests.filter((url) => !url.startsWith("data:"))).toEqual([page.url()]);
  expect(complaints).toEqual([]);
});

it("shows any branch of the tree, and the way back", async () => {
  const { page, complaints } = await browser.open(demoSession(), {
    viewport: { width: 1300, height: 900 },
  });
  const shown = () => page.textContent("#entries");
  expect(await page.locator("#rows .leaf").textContent()).toContain("It shows a gradient");
  expect(await shown()).not.toContain("the libraryless way");
  await page.click("#rows button:has-text('Shall I replace')");
  expect(await shown()).toContain("the libraryless way");
  expect(await shown()).not.toContain("still refuses anything else");
  expect(await page.isVisible("#elsewhere-note")).toBe(true);
  await page.click("#back");
  expect(await shown()).toContain("still refuses anything else");
  expect(await shown()).not.toContain("the libraryless way");
  expect(await page.isVisible("#elsewhere-note")).toBe(false);
  await page.click("[aria-label='Next branch']");
  expect(await shown()).toContain("the libraryless way");
  await page.click("[data-filter=prompts]");
  expect(await page.isVisible("#rows li.user")).toBe(true);
  expect(await page.isVisible("#rows li.summary")).toBe(true);
  expect(await page.isVisible("#rows li.bash")).toBe(false);
  expect(complaints).toEqual([]);
});

it("marks the entry being read in the tree, even if the tree omits the entry", async () => {
  const { page, complaints } = await browser.open(demoSession(), {
    viewport: { width: 1300, height: 500 },
  });
  const current = () => page.textContent("#rows [aria-current]");
  await expect.poll(current).toContain("parseDuration");
  const reach = (selector: string) =>
    page.evaluate(
      `{ const top = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().top; scrollBy(0, top - 80); }`,
    );
  await reach("#entries .result");
  await expect.poll(current).toBe("read: src/duration.ts");
  await reach("#entries .entry.summary");
  await expect.poll(current).toContain("Branch: Using a library");
  await page.evaluate("scrollTo(0, 0)");
  await expect.poll(current).toContain("parseDuration");
  // A clicked entry stays marked, although the page ends before it can reach the top.
  await page.click("#rows .leaf button");
  await page.waitForTimeout(300);
  expect(await current()).toContain("It shows a gradient");
  expect(complaints).toEqual([]);
});

it("searches all branches, counts the matches, and moves between them by keyboard", async () => {
  const { page, complaints } = await browser.open(demoSession());
  await page.keyboard.press("/");
  await page.keyboard.type("Parser");
  await page.keyboard.press("Enter");
  const [, all] = ((await page.textContent("#count")) ?? "").split(" / ");
  expect(Number(all)).toBeGreaterThan(4);
  const seen = new Set<string>();
  for (let at = 0; at < Number(all); at += 1) {
    seen.add((await page.textContent("#count")) ?? "");
    await page.keyboard.press("Enter");
  }
  expect(seen.size).toBe(Number(all));
  await page.fill("#query", "libraryless");
  await page.press("#query", "Enter");
  expect(await page.textContent("#count")).toBe("1 / 1");
  expect(await page.textContent("#entries")).toContain("the libraryless way");
  const painted = `[...(CSS.highlights.get("now") ?? [])].map(String)`;
  expect(await page.evaluate(painted)).toEqual(["libraryless"]);
  await page.fill("#query", "defaults.json");
  await page.press("#query", "Enter");
  expect(await page.evaluate(painted)).toEqual(["defaults.json"]);
  await page.fill("#query", "nowhere at all");
  await page.press("#query", "Enter");
  expect(await page.textContent("#count")).toBe("none");
  expect(complaints).toEqual([]);
});

it("follows the system's light or dark theme, and switches on request", async () => {
  const { page } = await browser.open(demoSession(), { colorScheme: "dark" });
  const brightness = async () => {
    const color = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    return Number(/\d+/.exec(color)?.[0]);
  };
  expect(await brightness()).toBeLessThan(60);
  await page.keyboard.press("t");
  expect(await brightness()).toBeGreaterThan(200);
  // The browser stores the choice asynchronously.
  const afterReload = () => page.reload().then(brightness);
  await expect.poll(afterReload).toBeGreaterThan(200);
});

it("fits a phone without scrolling sideways", async () => {
  const { page } = await browser.open(demoSession(), { viewport: { width: 360, height: 700 } });
  await page.click("#unfold");
  const width = () => page.evaluate("document.documentElement.scrollWidth");
  expect(await width()).toBe(360);
  await page.click("#menu");
  expect(await page.isVisible("#tree")).toBe(true);
  expect(await width()).toBe(360);
  await page.click("#rows button:has-text('Good. And what')");
  expect(await page.isVisible("#tree")).toBe(false);
  await page.fill("#query", "parseDuration");
  await page.press("#query", "Enter");
  expect((await page.locator("#query").boundingBox())?.width).toBeGreaterThan(120);
  expect(await width()).toBe(360);
});

it("goes from entry to entry and opens everything by keyboard", async () => {
  const { page, complaints } = await browser.open(demoSession());
  const focused = () => page.evaluate<string>("document.activeElement.dataset.entry");
  await page.keyboard.press("j");
  const first = Number(await focused());
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  expect(Number(await focused())).toBeGreaterThan(first);
  for (let press = 0; press < 30; press += 1) await page.keyboard.press("k");
  expect(await focused()).toBe("0");
  await page.keyboard.press("o");
  expect(await page.locator("#entries details:not([open])").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("shows the current branch when scripts are disabled", async () => {
  const { page } = await browser.open(demoSession(), { javaScriptEnabled: false });
  const text = await page.textContent("main");
  expect(text).toContain("still refuses anything else");
  expect(text).not.toContain("the libraryless way");
  expect(await page.locator(".bar").isVisible()).toBe(false);
});

it("opens and searches 5000 entries quickly", async () => {
  const { page, complaints } = await browser.open(longSession(5000));
  const timing = await page.evaluate<number>(
    "performance.getEntriesByType('navigation')[0].loadEventEnd",
  );
  expect(timing).toBeLessThan(6000);
  const start = performance.now();
  await page.fill("#query", "some output of a program");
  await page.press("#query", "Enter");
  expect(await page.textContent("#count")).toMatch(/^[12] \/ \d{5}$/);
  expect(performance.now() - start).toBeLessThan(6000);
  expect(complaints).toEqual([]);
});
