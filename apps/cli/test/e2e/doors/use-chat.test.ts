import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { listeningHost } from "../../support/listening-host.ts";
import { openBrowser, servePage } from "../../support/serve-page.ts";

const scenario = [
  {
    content: [
      { type: "text" as const, text: "Let me look." },
      { type: "toolCall" as const, name: "bash", arguments: { command: "echo seen" } },
    ],
  },
  { content: "It says seen." },
];

const entry = fileURLToPath(new URL("__fixtures__/use-chat-page.mjs", import.meta.url));

it("lets a page with useChat prompt and approve without a server of its own", async () => {
  const origin = await servePage(entry);
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
  const browser = await openBrowser();
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
