// Takes the screenshots of docs/console.md with the built host: npx -y pnpm@12 docs:images
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { browserLaunch } from "../../../scripts/testing/chromium.ts";

const call = (name: string, args: object) => ({ type: "toolCall", name, arguments: args });
const says = (mark: string, turns: readonly (object | string)[]) =>
  turns.map((content, at) => ({
    when: { lastUserIncludes: mark, ...(at === 0 ? { hasToolResults: false } : {}) },
    content,
  }));

const before =
  "export function isWeekend(date: Date): boolean {\n  const day = date.getDay();\n  return day === 0 || day === 6;\n}\n";
const edit = call("edit", {
  path: "src/dates.ts",
  oldText: "const day = date.getDay();",
  newText:
    "// The day in UTC: the machine's own zone is not that of the data.\n  const day = date.getUTCDay();",
});
const reading = [{ type: "text", text: "The test fails in the evening. I read the code first." }];
const found =
  "`isWeekend` asks for the day in the zone of the **machine**, and the test has dates in UTC. West of Greenwich, a Saturday morning is still Friday.\n\n- `src/dates.ts` should use `getUTCDay()`\n- the test then holds everywhere";
const scenario = [
  ...says("flaky", [
    [...reading, call("read", { path: "src/dates.ts" })],
    [{ type: "text", text: found }, edit],
    "Done: `isWeekend` counts in UTC now.",
  ]),
  ...says("parser", [
    [call("grep", { pattern: "isWeekend", path: "." })],
    "There is **one** caller, the calendar:\n\n```ts\nconst closed = isWeekend(opening);\n```\n\nIt passes dates in UTC, so the change is safe.",
  ]),
  ...says("<audit>", [[call("bash", { command: "sleep 120" })], "Nothing found."]),
  ...says("<notes>", [[call("ls", { path: "." })], "They are written."]),
  ...says("releases", [
    [call("bash", { command: "echo server ready; sleep 600", background: true })],
    [
      { type: "text", text: "Two of them look while the server runs." },
      call("task", {
        tasks: [
          { id: "audit", task: "<audit>", description: "audit of dependencies" },
          { id: "notes", task: "<notes>", description: "release notes" },
        ],
      }),
    ],
    "Ready.",
  ]),
  { repeat: true, content: "Done." },
];

const folder = mkdtempSync(join(tmpdir(), "tau-images-"));
const project = join(folder, "work", "calendar");
mkdirSync(join(project, "src"), { recursive: true });
writeFileSync(join(project, "src", "dates.ts"), before);
writeFileSync(join(folder, "scenario.json"), JSON.stringify(scenario));
const git = (...words: string[]) => execFileSync("git", words, { cwd: project });
git("init", "-q");
git("add", ".");
git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Begin");

const program = fileURLToPath(new URL("../bin/tau.js", import.meta.url));
const words = ["--mode", "rpc", "--sessions", "--listen", "127.0.0.1:0", "--console"];
const model = ["--provider", "scripted", "--model", join(folder, "scenario.json")];
const rules = ["--permission-mode", "ask"];
const host = spawn(process.execPath, [program, ...words, ...model, ...rules], {
  cwd: project,
  env: { ...process.env, HOME: folder, PI_CODING_AGENT_DIR: join(folder, "agent") },
  stdio: ["ignore", "pipe", "inherit"],
});
const [line] = (await once(host.stdout, "data")) as [Buffer];
const { console: link } = JSON.parse(String(line)) as { console: string };
const browser = await chromium.launch(browserLaunch());

async function open(options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  return context.newPage();
}

async function start(page: Page, message: string): Promise<void> {
  await page.keyboard.press("n");
  await page.getByLabel("First message").fill(message);
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator(".message.user", { hasText: message }).first().waitFor();
}

/** Waits until all animations have ended. */
async function shoot(page: Page, name: string): Promise<void> {
  await page.mouse.move(680, 500);
  await page.waitForTimeout(700);
  const path = fileURLToPath(new URL(`../../../docs/images/console-${name}.png`, import.meta.url));
  await page.screenshot({ path });
}

const desktop = { viewport: { width: 1360, height: 860 } };
const page = await open(desktop);
await page.goto(link);
await page.locator("#new").waitFor();
await start(page, "Who calls the parser of dates?");
await page.getByText("so the change is safe").waitFor();
await page.locator(".row .facts", { hasText: "idle" }).waitFor();
await shoot(page, "idle");
await start(page, "Prepare the releases of May");
const allow = page.locator(".question .allow");
for (const what of ["sleep 600", "sleep 120"]) {
  await page.locator(".question", { hasText: what }).waitFor();
  await allow.click();
}
await page.locator(".jobs li").waitFor();
await page.locator(".tree .doing", { hasText: "bash" }).waitFor();
await page.emulateMedia({ colorScheme: "dark" });
await shoot(page, "live");
await page.emulateMedia({ colorScheme: "light" });
await start(page, "Fix the flaky test of dates");
await page.locator(".question ins").first().waitFor();
await shoot(page, "approval");
await page.emulateMedia({ colorScheme: "dark" });
await shoot(page, "dark");
await page.setViewportSize({ width: 390, height: 844 });
await shoot(page, "phone-dark");
await page.emulateMedia({ colorScheme: "light" });
await shoot(page, "phone");
await page.setViewportSize(desktop.viewport);
await allow.click();
await page.getByText("counts in UTC now").waitFor();
await page.locator("#stop").waitFor({ state: "detached" });
await page.getByRole("button", { name: "Rewind" }).click();
await page.locator(".rewind li button", { hasText: "flaky" }).click();
await page.locator(".preview").waitFor();
await shoot(page, "rewind");
await browser.close();
host.kill();
await once(host, "exit");
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
