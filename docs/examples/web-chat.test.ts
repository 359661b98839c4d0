import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { browserLaunch } from "../../scripts/testing/chromium.ts";

const program = fileURLToPath(new URL("web-chat.ts", import.meta.url));

/** The example on a free port, in a folder with something to delete. */
async function startChat(path = program) {
  const folder = mkdtempSync(join(tmpdir(), "tau-web-chat-"));
  mkdirSync(join(folder, "build"));
  const server = spawn(process.execPath, [path], {
    cwd: folder,
    env: { ...process.env, PORT: "0", PI_CODING_AGENT_DIR: join(folder, "agent") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const browser = await chromium.launch(browserLaunch());
  onTestFinished(async () => {
    await browser.close();
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const [chunk] = (await once(server.stdout, "data")) as [Buffer];
  const url = chunk.toString().trim();
  /** Each user has a browser profile of their own. */
  const open = async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(url);
    return page;
  };
  return { open, hasBuild: () => existsSync(join(folder, "build")) };
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

it("shows why there is no answer", async () => {
  const copy = mkdtempSync(join(tmpdir(), "tau-web-chat-"));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  // As a user copies it: without the script that answers in the clone.
  for (const name of ["web-chat.ts", "web-chat.html"]) {
    cpSync(join(dirname(program), name), join(copy, name));
  }
  writeFileSync(join(copy, "package.json"), '{ "type": "module" }');
  symlinkSync(join(dirname(program), "node_modules"), join(copy, "node_modules"), "junction");
  const page = await (await startChat(join(copy, "web-chat.ts"))).open();
  await page.getByLabel("Message").fill("Clean up");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/^\((error|refused)\) .*web-chat\.json/).waitFor();
});
