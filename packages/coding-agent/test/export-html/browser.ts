import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { browserLaunch } from "../../../../scripts/testing/chromium.ts";
import { type ExportSource, exportHtmlToFile } from "../../../export-html/src/export-html.ts";

type PageOptions = NonNullable<Parameters<typeof chromium.launchPersistentContext>[1]>;

/** An open page, with the resources that it tried to load and its errors. */
export interface OpenPage {
  readonly page: Page;
  readonly requests: readonly string[];
  readonly complaints: readonly string[];
}

/** A real browser with an empty profile, and a folder for the pages that it opens. */
export class TestBrowser {
  readonly directory = mkdtempSync(join(tmpdir(), "tau-browser-"));
  readonly #contexts: BrowserContext[] = [];

  /** Exports a session and opens the page. */
  async open(source: ExportSource, options: PageOptions = {}): Promise<OpenPage> {
    const name = String(this.#contexts.length);
    const path = join(this.directory, `${name}.html`);
    await exportHtmlToFile(source, path);
    const context = await chromium.launchPersistentContext(join(this.directory, name), {
      ...browserLaunch(),
      ...options,
    });
    this.#contexts.push(context);
    const page = await context.newPage();
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (line) => complaints.push(line.text()));
    page.on("dialog", (dialog) => complaints.push(`dialog ${dialog.message()}`));
    await page.goto(pathToFileURL(path).href);
    return { page, requests, complaints };
  }

  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
