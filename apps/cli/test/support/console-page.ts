import type { BrowserContextOptions, Page } from "playwright-core";
import { nextLike } from "./next-like.ts";
import { makePlace, type PlaceSetup } from "./place.ts";
import { openBrowser } from "./serve-page.ts";
import { startHost } from "./start-host.ts";

/** A host with many sessions and a console. */
export async function consoleHost(
  setup: PlaceSetup = {},
  more: readonly string[] = [],
  place = makePlace(setup),
) {
  const listen = ["--sessions", "--listen", "127.0.0.1:0", "--console", ...more];
  const host = startHost(setup, {
    place: { ...place, arguments: [...place.arguments, ...listen] },
  });
  const listening = await nextLike(host, { type: "listening" });
  const { url, console: link, tokenFile } = listening as Record<string, string>;
  return {
    host,
    place,
    url: url ?? "",
    http: (url ?? "").replace("ws:", "http:"),
    link: link ?? "",
    tokenFile: tokenFile ?? "",
  };
}

/** Opens the console in a browser; collects the errors of the page. */
export async function openConsole(link: string, options: BrowserContextOptions = {}) {
  const browser = await openBrowser();
  const page = await (await browser.newContext(options)).newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(link);
  return { page, complaints };
}

/** Starts a session with a first prompt. */
export async function startSession(page: Page, message: string): Promise<void> {
  await page.locator("#new").waitFor();
  await page.keyboard.press("n");
  await page.getByLabel("First message").fill(message);
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator(".message.user", { hasText: message }).first().waitFor();
}
