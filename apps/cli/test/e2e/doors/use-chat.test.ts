import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { browserLaunch } from "../../../../../scripts/testing/chromium.ts";
import { listeningHost } from "../../support/listening-host.ts";

const scenario = [
  {
    content: [
      { type: "text", text: "Let me look." },
      { type: "toolCall", name: "bash", arguments: { command: "echo seen" } },
    ],
  },
  { content: "It says seen." },
];

async function servePage(): Promise<string> {
  const entry = fileURLToPath(new URL("__fixtures__/use-chat-page.mjs", import.meta.url));
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

it("lets a page with useChat prompt and approve, without a server of its own", async () => {
  const origin = await servePage();
  const { http, token } = await listeningHost({
    scenario,
    arguments: ["--allow-origin", origin, "--permission-mode", "ask"],
  });
  const opened = await fetch(`${http}/rpc`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ id: 1, type: "open_session" }),
  });
  const { data } = (await opened.json()) as { data: { sessionId: string } };
  const browser = await chromium.launch(browserLaunch());
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const api = `${http}/sessions/${data.sessionId}/prompt`;
  await page.goto(`${origin}/#${new URLSearchParams({ api, token })}`);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("bash: approval-requested").waitFor();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("It says seen.").waitFor();
  expect(await page.locator("section.assistant").count()).toBe(1);
  await page.getByText("bash: output-available").waitFor();
  await expect.poll(() => page.locator("output").textContent()).toBe("ready");
});
