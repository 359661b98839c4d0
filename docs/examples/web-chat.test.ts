import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { browserLaunch } from "../../scripts/testing/chromium.ts";
import { projectOfPage } from "./project-of-page.ts";

const program = fileURLToPath(new URL("web-chat.ts", import.meta.url));

/** The example on a free port, in a folder with something to delete. */
async function startChat(path = program) {
  const folder = mkdtempSync(join(tmpdir(), "tau-web-chat-"));
  mkdirSync(join(folder, "build"));
  const browser = await chromium.launch(browserLaunch());
  let port = "0";
  const start = async () => {
    const server = spawn(process.execPath, [path], {
      cwd: folder,
      env: { ...process.env, PORT: port, CHAT_FOLDER: join(folder, "chats"), HOME: folder },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [chunk] = (await once(server.stdout, "data")) as [Buffer];
    const url = chunk.toString().trim();
    port = new URL(url).port;
    return { server, url };
  };
  let { server, url } = await start();
  const kill = async () => {
    server.kill("SIGKILL");
    await once(server, "exit");
  };
  onTestFinished(async () => {
    await browser.close();
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  /** Kills the server with what it runs, and starts it again at the same address. */
  const restart = async () => {
    await kill();
    ({ server, url } = await start());
  };
  /** Each user has a browser profile of their own. */
  const open = async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(url);
    return page;
  };
  const has = (name: string) => existsSync(join(folder, name));
  return { open, restart, has, hasBuild: () => has("build") };
}

it("asks a user with buttons, keeps users apart, and cancels", async () => {
  const { open, hasBuild } = await startChat();
  const [ada, grace] = [await open(), await open()];
  await ada.getByLabel("Message").fill("Clean up");
  await ada.getByRole("button", { name: "Send" }).click();
  await ada.getByText("rm -rf build").waitFor();
  expect(hasBuild()).toBe(true);
  expect(await grace.locator("#log").textContent()).toBe("");
  // A reloaded page asks again.
  await ada.reload();
  await ada.getByRole("button", { name: "Allow" }).click();
  await expect.poll(hasBuild, { timeout: 10_000 }).toBe(false);
  await ada.locator(".question").waitFor({ state: "detached" });
  await ada.getByText("The folder is clean.").waitFor();
  await ada.getByText(/Cost so far: \$/).waitFor();
  await grace.getByLabel("Message").fill("Clean up");
  await grace.getByRole("button", { name: "Send" }).click();
  await grace.getByText("rm -rf build").waitFor();
  await grace.getByRole("button", { name: "Cancel" }).click();
  await grace.getByText("(aborted)").waitFor();
  expect(await grace.locator(".question").count()).toBe(0);
});

it("shows the conversation again after a reload", async () => {
  const page = await (await startChat()).open();
  await page.getByText("Model: Scripted model").waitFor();
  await page.getByLabel("Message").fill("Clean up");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByText("(completed)").waitFor();
  await page.reload();
  await page.getByText("I left everything as it is.").waitFor();
  expect(await page.locator("#log > *").allTextContents()).toEqual([
    "You: Clean up",
    "Let me clean up.",
    "[bash]",
    "I left everything as it is.",
  ]);
});

it("goes on with conversation and question after the server was killed", async () => {
  const { open, restart, hasBuild } = await startChat();
  const page = await open();
  await page.getByLabel("Message").fill("Clean up");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("rm -rf build").waitFor();
  await restart();
  await page.reload();
  await page.getByText("You: Clean up").waitFor();
  expect(hasBuild()).toBe(true);
  await page.getByRole("button", { name: "Allow" }).click();
  await expect.poll(hasBuild, { timeout: 10_000 }).toBe(false);
  await page.getByText("The folder is clean.").waitFor();
});

it("does not start a queued message after a cancel", async () => {
  const project = projectOfPage("web-chat.md");
  const sleep = { type: "toolCall", name: "bash", arguments: { command: "touch begun; sleep 60" } };
  const script = [{ content: [sleep] }, { repeat: true, content: "Here I am." }];
  writeFileSync(join(project, "web-chat.json"), JSON.stringify(script));
  const { open, has } = await startChat(join(project, "web-chat.ts"));
  const page = await open();
  const send = async (text: string) => {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(`You: ${text}`).waitFor();
  };
  await send("Clean up");
  await page.getByRole("button", { name: "Allow" }).click();
  await expect.poll(() => has("begun"), { timeout: 10_000 }).toBe(true);
  await send("And then?");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => page.getByText("(aborted)").count(), { timeout: 10_000 }).toBe(2);
  expect(await page.getByText("Here I am.").count()).toBe(0);
});

it("runs from the files of its page alone, and shows why there is no answer", async () => {
  const project = projectOfPage("web-chat.md");
  rmSync(join(project, "web-chat.json"));
  const page = await (await startChat(join(project, "web-chat.ts"))).open();
  await page.getByLabel("Message").fill("Clean up");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/^\((error|refused)\) .*web-chat\.json/).waitFor();
});

it("compiles with a real model, and leaves nothing unused", async () => {
  const project = projectOfPage("web-chat.md");
  const path = join(project, "web-chat.ts");
  const code = readFileSync(path, "utf8");
  const edited = code.replace(
    / *provider: "scripted",\n *model: .*\n/,
    "environment: process.env, findLocalServers: true,\n",
  );
  expect(edited).not.toContain("scripted");
  writeFileSync(path, edited);
  const types = fileURLToPath(new URL("../../node_modules/@types", import.meta.url));
  const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
  const words = ["--noEmit", "--strict", "--noUnusedLocals", "--skipLibCheck"];
  const target = ["--module", "nodenext", "--target", "es2024", "--types", "node"];
  const done = spawnSync(process.execPath, [tsc, ...words, ...target, "--typeRoots", types, path], {
    cwd: project,
    encoding: "utf8",
  });
  expect(done).toMatchObject({ status: 0, stdout: "" });
});
