import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { consoleHost, openConsole, startSession } from "../../support/console-page.ts";
import { FrameClient } from "../../support/frame-client.ts";
import { loginPlace } from "../../support/login-place.ts";
import { longSession } from "../../support/long-session.ts";
import { makePlace } from "../../support/place.ts";
import { call, worker } from "../../support/repository-place.ts";
import { binPath } from "../../support/start-host.ts";

const server = fileURLToPath(
  new URL("../../../../../packages/mcp/src/__fixtures__/stdio-server.ts", import.meta.url),
);
const stores = new URL(
  "../../../../../packages/coding-agent/dist/session-store.js",
  import.meta.url,
);

it("lists sessions on disk and opens one", async () => {
  const { link } = await consoleHost({
    files: { "agent/sessions/--x--/2026-01-01T00-00-00-000Z_long.jsonl": longSession(4) },
  });
  const { page, complaints } = await openConsole(link);
  await page.getByText("Saved sessions").click();
  await page.locator(".saved .row", { hasText: "Message **0**" }).click();
  await page.getByText("Message 3 with").waitFor();
  // The session is open now.
  await page.locator(".saved .row").waitFor({ state: "detached" });
  expect(await page.locator(".sessions > ul .row").count()).toBe(1);
  expect(complaints).toEqual([]);
});

it("lists the sessions of the host's store and opens one", async () => {
  const place = makePlace({ scenario: [{ repeat: true, content: "It is kept." }] });
  const store = join(place.folder, "store.mjs");
  const kept = JSON.stringify(join(place.folder, "kept"));
  writeFileSync(
    store,
    `import { FileSessionStore } from ${JSON.stringify(stores.href)};
     export default () => new FileSessionStore({ directory: ${kept} });`,
  );
  const inStore = ["--store", store, "--project-key", "shop"];
  const words = [binPath, ...place.arguments.slice(2), ...inStore, "-p", "Keep this"];
  execFileSync(process.execPath, words, { cwd: place.cwd, env: place.variables });
  const { link } = await consoleHost({}, inStore, place);
  const { page, complaints } = await openConsole(link);
  await page.getByText("Saved sessions").click();
  const saved = page.locator(".saved .row", { hasText: "Keep this" });
  await saved.click();
  await page.getByText("It is kept.").waitFor();
  // The session is open now.
  await saved.waitFor({ state: "detached" });
  expect(await page.locator(".sessions > ul .row").count()).toBe(1);
  expect(complaints).toEqual([]);
});

it("answers the forms of MCP servers, and opens pages only after showing their address", async () => {
  const requestedSchema = {
    type: "object",
    properties: {
      name: { type: "string", title: "Your name" },
      size: { type: "string", enum: ["small", "large"] },
      count: { type: "integer", minimum: 1 },
      sure: { type: "boolean" },
    },
    required: ["name", "count"],
  };
  const form = { message: "<b>Who</b> are you?", requestedSchema };
  const url = "http://127.0.0.1:9/a?b=c";
  const pageOf = { mode: "url", message: "Sign in", url, elicitationId: "e" };
  const tools = [{ name: "ask", inputSchema: { type: "object" } }];
  const asks = { command: process.execPath, args: [server, JSON.stringify({ tools })] };
  const { link } = await consoleHost({
    scenario: [
      { content: call("mcp__asks__ask", form) },
      { content: call("mcp__asks__ask", pageOf) },
      { repeat: true, content: "Thank you." },
    ],
    files: { "agent/mcp.json": JSON.stringify({ mcpServers: { asks } }) },
  });
  const { page } = await openConsole(link);
  await startSession(page, "Ask me");
  const card = page.locator(".question");
  await card.getByText("<b>Who</b> are you?").waitFor();
  const send = card.getByRole("button", { name: "Send" });
  expect(await send.isDisabled()).toBe(true);
  await card.getByLabel("Your name").fill("Ada");
  await card.getByLabel("size").selectOption("large");
  await card.getByLabel("count").fill("2");
  await card.getByLabel("sure").check();
  await send.click();
  await card.locator("code", { hasText: url }).waitFor();
  expect(await card.getByRole("link", { name: "Open" }).getAttribute("rel")).toContain("noopener");
  await card.getByRole("button", { name: "Decline" }).click();
  await page.getByText("Thank you.").waitFor();
  const heads = page.locator(".call .head");
  for (const head of await heads.all()) await head.click();
  const outputs = await page.locator(".call .output").allTextContents();
  expect(outputs[0]).toContain('{"name":"Ada","size":"large","count":2,"sure":true}');
  expect(outputs[1]).toContain('"action":"decline"');
});

it("shows subagents, jobs and dialogs of extensions", async () => {
  const job = { command: "echo begun; sleep 600", background: true };
  const extension = `
    export default function (pi) {
      pi.registerCommand("choose", { handler: async (_, ctx) => {
        const chosen = await ctx.ui.select("Which one?", ["red", "blue"]);
        const isSure = await ctx.ui.confirm("Sure?", chosen);
        const word = await ctx.ui.input("Say it");
        ctx.ui.notify(chosen + " " + isSure + " " + word);
        pi.setSessionName(chosen + " " + isSure + " " + word);
      } });
    }`;
  const { link } = await consoleHost({
    scenario: [
      ...worker("<inner>", call("bash", { command: "echo inner" })),
      ...worker("delegate", call("task", { task: "<inner>", description: "looks inside" })),
      ...worker("background", call("bash", job)),
      { repeat: true, content: "Elsewhere." },
    ],
    files: { "agent/extensions/choose.ts": extension },
  });
  const { page } = await openConsole(link);
  await startSession(page, "delegate");
  await page.getByText("delegate done").waitFor();
  await page.locator(".tree li", { hasText: "looks inside" }).locator(".state.done").waitFor();
  const send = async (text: string): Promise<void> => {
    await page.getByLabel("Message", { exact: true }).fill(text);
    await page.keyboard.press("Enter");
  };
  await send("background");
  await page.locator(".jobs li", { hasText: "sleep 600" }).waitFor();
  // A page that is opened later shows both.
  await page.reload();
  await page.locator(".row").click();
  await page.locator(".jobs li", { hasText: "sleep 600" }).waitFor();
  await page.locator(".tree li .state.done").waitFor();
  await send("/choose");
  const card = page.locator(".question");
  await card.getByRole("button", { name: "blue" }).waitFor();
  await page.keyboard.press("Escape");
  await startSession(page, "another");
  await page.getByText("Elsewhere.").waitFor();
  expect(await card.count()).toBe(0);
  await page.locator('.sessions > ul .row[aria-current="false"]').click();
  await card.getByRole("button", { name: "blue" }).click();
  await card.getByText("Sure?").waitFor();
  await card.getByRole("button", { name: "Yes" }).click();
  await card.getByLabel("Say it").fill("now");
  await card.getByRole("button", { name: "Answer" }).click();
  await page.locator("h2", { hasText: "blue true now" }).waitFor();
});

it("moves with j and k among the sessions that the filter leaves", async () => {
  const { link, url, place, tokenFile } = await consoleHost();
  const client = await FrameClient.connect(url, readFileSync(tokenFile, "utf8").trim());
  for (let id = 0; id < 10; id += 1) {
    const cwd = join(place.folder, id % 2 === 0 ? `even-${id}` : `odd-${id}`);
    mkdirSync(cwd);
    client.send({ id, type: "open_session", cwd });
  }
  const { page, complaints } = await openConsole(link);
  const rows = page.locator(".sessions > ul .row");
  await expect.poll(() => rows.count()).toBe(10);
  await page.getByLabel("Filter sessions").fill("odd");
  await expect.poll(() => rows.count()).toBe(5);
  await page.keyboard.press("Escape");
  const isShown = (at: number) => rows.nth(at).and(page.locator('[aria-current="true"]')).waitFor();
  for (const at of [0, 1, 2, 3, 4, 4]) {
    await page.keyboard.press("j");
    await isShown(at);
  }
  await page.keyboard.press("k");
  await isShown(3);
  expect(complaints).toEqual([]);
});

it("shows a login page with its code, and reports when the page is not opened", async () => {
  // The server's library logs advice for production use.
  for (const level of ["warn", "info"] as const) vi.spyOn(console, level).mockReturnValue();
  const { place } = await loginPlace();
  const { link, url, tokenFile } = await consoleHost({}, [], place);
  const client = await FrameClient.connect(url, readFileSync(tokenFile, "utf8").trim());
  client.send({ type: "open_session", id: "open" });
  const answerTo = async (id: string) => {
    const found = () => client.frames.find((frame) => frame.id === id);
    await expect.poll(found).toBeDefined();
    return found();
  };
  const { sessionId } = Object((await answerTo("open"))?.data) as { sessionId: string };
  const { page, complaints } = await openConsole(link);
  await page.locator(".row").click();
  await page.getByText("Nothing has been said yet.").waitFor();
  client.send({ type: "login", id: "login", provider: "github-copilot", sessionId });
  const card = page.locator(".question", { hasText: "needs a page opened" });
  await card.getByText("Code to type in there").waitFor();
  expect(await card.getByRole("link", { name: "Open" }).getAttribute("href")).toMatch(/^http/);
  await card.getByRole("button", { name: "Cancel" }).click();
  expect(await answerTo("login")).toMatchObject({ success: false, code: "login_failed" });
  expect(complaints).toEqual([]);
});
