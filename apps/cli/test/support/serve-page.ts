import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { onTestFinished } from "vitest";
import { browserLaunch } from "../../../../scripts/testing/chromium.ts";

/** Serves a page whose only script is bundled from a file; returns the page's origin. */
export async function servePage(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    define: { "process.env.NODE_ENV": '"production"' },
    conditions: ["browser"],
    logLevel: "error",
  });
  const script = outputFiles[0]?.text ?? "";
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : '<body><script type="module" src="/page.js"></script></body>');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A browser that is closed when the test ends. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch(browserLaunch());
  onTestFinished(() => browser.close());
  return browser;
}
