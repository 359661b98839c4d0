import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrowserContextOptions, chromium } from "playwright-core";
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
  /** Hosts outlive the server. */
  const killHosts = () => {
    const notes = globSync(join(folder, "chats", "*", "host.json"));
    for (const note of notes) {
      try {
        process.kill(JSON.parse(readFileSync(note, "utf8")).pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
  };
  onTestFinished(async () => {
    await browser.close();
    await kill();
    killHosts();
    rmSync(folder, { recursive: true, force: true });
  });
  /** Kills the server, and starts it again at the same address. */
  const restart = async () => {
    await kill();
    ({ server, url } = await start());
  };
  /** Each user has a browser profile of their own. */
  const open = async (options: BrowserContextOptions = {}) => {
    const page = await (await browser.newContext(options)).newPage();
    await page.goto(url);
    return page;
  };
  const has = (name: string) => existsSync(join(folder, name));
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  return { open, restart, killHosts, has, read, write, hasBuild: () => has("build") };
}

it("asks a user with buttons, keeps users apart, and cancels", async () => {
  const { open, hasBuild } = await startChat();
  const [ada, grace] = [await open(), await open()];
  await ada.getByLabel("Message").fill("Clean up");
  await ada.getByRole("button", { name: "Send" }).click();
  await ada.locator("pre", { hasText: "rm -rf build" }).waitFor();
  expect(hasBuild()).toBe(true);
  expect(await grace.locator("#log").textContent()).toBe("");
  // A reloaded page asks again.
  await ada.reload();
  await ada.getByRole("button", { name: "Allow" }).click();
  await expect.poll(hasBuild, { timeout: 10_000 }).toBe(false);
  await ada.locator(".question").waitFor({ state: "detached" });
  await ada.getByText("The folder is clean.").waitFor();
  await ada.getByText(/^\$0\./).waitFor();
  await grace.getByLabel("Message").fill("Clean up");
  await grace.getByRole("button", { name: "Send" }).click();
  await grace.locator("pre", { hasText: "rm -rf build" }).waitFor();
  await grace.getByRole("button", { name: "Cancel" }).click();
  await grace.getByText("(aborted)").waitFor();
  expect(await grace.locator(".question").count()).toBe(0);
});

it("shows the conversation again after a reload", async () => {
  const page = await (await startChat()).open();
  await page.getByText("Scripted model").waitFor();
  await page.getByLabel("Message").fill("Clean up");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByText("I left everything as it is.").waitFor();
  await page.reload();
  await page.getByText("I left everything as it is.").waitFor();
  const texts = await page.locator("#log > *").allTextContents();
  expect(texts.map((text) => text.trim())).toEqual([
    "Clean up",
    "Let me clean up.",
    "bash ls && rm -rf build",
    "I left everything as it is.",
  ]);
  await page.locator(".tool.failed").waitFor();
});

it("shows what a file would become, and asks once where the answer is always", async () => {
  const { open, read, write } = await startChat();
  write("NOTES.md", "# Notes\n\n- Full of builds.\n");
  const page = await open();
  const send = async () => {
    await page.getByLabel("Message").fill("Make a note of it");
    await page.getByLabel("Message").press("Enter");
  };
  await send();
  await page.locator(".question del", { hasText: "-- Full of builds." }).waitFor();
  await page.locator(".question ins", { hasText: "+- The folder is clean." }).waitFor();
  expect(await page.locator(".question").textContent()).not.toContain("+++");
  await page.getByRole("button", { name: "Always" }).click();
  await page.getByText("It is in NOTES.md.").waitFor();
  expect(read("NOTES.md")).toBe("# Notes\n\n- The folder is clean.\n");
  await send();
  await expect.poll(() => page.getByText("It is in NOTES.md.").count()).toBe(2);
});

it("fits a phone, and keeps the input in sight", async () => {
  const page = await (await startChat()).open({ viewport: { width: 360, height: 640 } });
  for (let times = 1; times <= 3; times += 1) {
    await page.getByLabel("Message").fill("Clean up");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("button", { name: "Deny" }).click();
    await expect.poll(() => page.getByText("I left everything").count()).toBe(times);
  }
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeGreaterThan(640);
  await page.evaluate(() => scrollTo(0, 0));
  const { y = 0, height = 0 } = (await page.getByLabel("Message").boundingBox()) ?? {};
  expect(y + height).toBeLessThanOrEqual(640);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  const [mine, reply] = await Promise.all(
    [".user", ".assistant"].map((kind) => page.locator(kind).first().boundingBox()),
  );
  expect(mine?.x).toBeGreaterThan(reply?.x ?? 360);
});

it("takes one of two answers and own words on a phone", async () => {
  const page = await (await startChat()).open({ viewport: { width: 360, height: 640 } });
  await page.getByLabel("Message").fill("Which folder?");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("What may go?").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.reload();
  await page.getByLabel("Old builds").check();
  await page.getByLabel("Own words").fill("but not those of today");
  const box = await page.getByLabel("Old builds").locator("..").boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(44);
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("As you say: What may go?").waitFor();
  // The answer is Markdown.
  const item = page.locator(".assistant li", { hasText: "Old builds" });
  expect(await item.textContent()).toBe("Old buildsbut not those of today");
  expect(await page.locator(".question").count()).toBe(0);
});

it("has at most 270 lines", () => {
  const lines = ["web-chat.ts", "web-chat.html"].map((name) => {
    const code = readFileSync(fileURLToPath(new URL(name, import.meta.url)), "utf8");
    return code.trimEnd().split("\n").length;
  });
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(270);
});

it.each([
  ["its host lives", false],
  ["its host was killed, too", true],
])(
  "goes on with conversation and question after the server was killed: %s",
  async (_, isKilled) => {
    const { open, restart, killHosts, hasBuild } = await startChat();
    const page = await open();
    await page.getByLabel("Message").fill("Clean up");
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator("pre", { hasText: "rm -rf build" }).waitFor();
    if (isKilled) killHosts();
    await restart();
    await page.reload();
    await page.locator(".user", { hasText: "Clean up" }).waitFor();
    expect(hasBuild()).toBe(true);
    await page.getByRole("button", { name: "Allow" }).click();
    await expect.poll(hasBuild, { timeout: 10_000 }).toBe(false);
    await page.getByText("The folder is clean.").waitFor();
  },
);

it("does not start a queued message after a cancel", async () => {
  const project = projectOfPage("web-chat.md");
  const sleep = {
    type: "toolCall",
    name: "bash",
    arguments: { command: "touch begun; sleep 660" },
  };
  const script = [{ content: [sleep] }, { repeat: true, content: "Here I am." }];
  writeFileSync(join(project, "web-chat.json"), JSON.stringify(script));
  const { open, has } = await startChat(join(project, "web-chat.ts"));
  const page = await open();
  const send = async (text: string) => {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".user", { hasText: text }).waitFor();
  };
  await send("Clean up");
  await page.getByRole("button", { name: "Allow" }).click();
  await expect.poll(() => has("begun")).toBe(true);
  await send("And then?");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => page.getByText("(aborted)").count()).toBe(2);
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
  const edited = code.replace(/ *provider: "scripted",\n *model: .*\n/, "");
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
