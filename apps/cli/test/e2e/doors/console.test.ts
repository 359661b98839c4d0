import { writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hostileTexts } from "../../../../../packages/markup/src/__fixtures__/hostile-texts.ts";
import { consoleHost, openConsole, startSession } from "../../support/console-page.ts";
import { FrameClient } from "../../support/frame-client.ts";

const call = (name: string, args: Record<string, unknown>) => ({
  type: "toolCall" as const,
  name,
  arguments: args,
});
const write = call("write", { path: "made.txt", content: "made\n" });
const json = { "content-type": "application/json" };
const codeOf = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get("code");

const redeem = (http: string, code: unknown, headers: Record<string, string> = {}) =>
  fetch(`${http}/console/session`, {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify({ code }),
  });

/** A request sent by a page whose host name was redirected to this address. */
function statusFor(http: string, path: string, headers: Record<string, string>): Promise<number> {
  const { hostname, port } = new URL(http);
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("access to the console", () => {
  it("is granted once per code, and to no page of another origin", async () => {
    const { http, link, url } = await consoleHost();
    const code = codeOf(link);
    expect(Buffer.from(code ?? "", "base64url")).toHaveLength(16);
    for (const wrong of ["x", "", 5, undefined, `${code}x`]) {
      expect((await redeem(http, wrong)).status).toBe(401);
    }
    expect((await redeem(http, code, { origin: "https://evil.example" })).status).toBe(403);
    const given = await redeem(http, code);
    expect(given.status).toBe(200);
    expect(given.headers.get("set-cookie")).toBeNull();
    expect((await redeem(http, code)).status).toBe(401);
    const { token } = (await given.json()) as { token: string };
    const post = (headers: Record<string, string>) =>
      fetch(`${http}/rpc`, { method: "POST", headers: { ...json, ...headers }, body: "{}" });
    const authorization = `Bearer ${token}`;
    expect((await post({ authorization })).status).toBe(200);
    expect((await post({ authorization, origin: http })).status).toBe(200);
    // A page on another port of the same machine has another origin.
    expect((await post({ authorization, origin: "http://127.0.0.1:1" })).status).toBe(403);
    expect((await post({ authorization, origin: "null" })).status).toBe(403);
    expect((await post({ cookie: `token=${token}` })).status).toBe(401);
    await FrameClient.connect(url, token);
  });

  it("is refused under a foreign host name (DNS rebinding)", async () => {
    const { http, link } = await consoleHost({}, ["--console-host", "tau.example"]);
    const { host } = new URL(http);
    for (const path of ["/console", "/console/app.js", "/healthz", "/rpc", "/sessions/x/events"]) {
      expect(await statusFor(http, path, { host: "evil.example" })).toBe(421);
      expect(await statusFor(http, path, { host: `evil.example:${new URL(http).port}` })).toBe(421);
    }
    expect(await statusFor(http, "/console", { host })).toBe(200);
    expect(await statusFor(http, "/console", { host: "tau.example" })).toBe(200);
    expect(await statusFor(http, "/console/../../package.json", { host })).toBe(401);
    const upgrade = { host: "evil.example", connection: "upgrade", upgrade: "websocket" };
    expect(await statusFor(http, "/rpc", upgrade)).toBe(421);
    expect(new URL(link).search).toBe("");
  });

  it("sets a policy that lets nothing else run, load or frame the page", async () => {
    const { http } = await consoleHost();
    const { headers } = await fetch(`${http}/console`);
    const { host } = new URL(http);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
        `connect-src 'self' ws://${host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });
});

describe("the console", () => {
  it("starts a session, asks with the diff in place, steers, stops and rewinds", async () => {
    const scenario = [
      { content: [write] },
      { content: [call("bash", { command: "sleep 660" })] },
      { repeat: true, content: "Here I am." },
    ];
    const { link, place } = await consoleHost({
      scenario,
      arguments: ["--permission-mode", "ask"],
    });
    const { page, complaints } = await openConsole(link);
    await page.getByText("No session is open yet.").waitFor();
    expect(page.url()).not.toContain("code");
    await startSession(page, "Make it");
    await page.locator(".question ins", { hasText: "+made" }).waitFor();
    await page.locator(".row", { hasText: "waits for you" }).waitFor();
    // After a reload, the page asks again.
    await page.reload();
    await page.locator(".row").click();
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await page.locator(".question pre", { hasText: "sleep 660" }).waitFor();
    await page.locator(".question .allow").click();
    await page.locator(".question").waitFor({ state: "detached" });
    await page.getByLabel("Message", { exact: true }).fill("And then?");
    await page.getByRole("button", { name: "Steer" }).click();
    await page.locator(".queue", { hasText: "And then?" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator("#stop").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Rewind" }).click();
    await page.locator(".rewind li button", { hasText: "Make it" }).click();
    await page.locator(".preview .deleted", { hasText: "made.txt" }).waitFor();
    await page.locator(".rewind .main").click();
    await page.locator(".message.user").waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
    place.remove();
  });

  it("works with the keyboard alone, and raises a budget", async () => {
    const scenario = [
      { content: [call("bash", { command: "echo one" })] },
      { content: [call("bash", { command: "echo two" })] },
      { repeat: true, content: "Both are there." },
    ];
    const settings = { "task.budget.maxToolCalls": 1, "task.budget.onExceeded": "ask" };
    const { link } = await consoleHost({
      scenario,
      files: { "agent/settings.json": JSON.stringify(settings) },
    });
    const { page } = await openConsole(link);
    await startSession(page, "Count");
    const stopped = page.locator(".question", { hasText: "of 1 used" });
    await stopped.waitFor();
    await page.keyboard.press("a");
    await page.getByText("Both are there.").waitFor();
    await page.keyboard.press("?");
    await page.getByLabel("Keys").waitFor();
    await page.keyboard.press("Escape");
    await page.getByLabel("Keys").waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await page.getByText("Choose a session.").waitFor();
    await page.keyboard.press("j");
    await page.getByText("Both are there.").waitFor();
  });

  it("shows that an answered session no longer waits, and keeps typed text", async () => {
    const scenario = [
      { content: [call("bash", { command: "echo one" })] },
      { content: [call("bash", { command: "while [ ! -e go ]; do sleep 0.1; done" })] },
      { repeat: true, content: "Both are there." },
    ];
    const { link, place } = await consoleHost({
      scenario,
      arguments: ["--permission-mode", "ask"],
    });
    const { page } = await openConsole(link);
    await startSession(page, "Wait");
    await page.locator(".question", { hasText: "echo one" }).waitFor();
    await page.keyboard.press("n");
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("TEXTAREA");
    await page.getByLabel("Folder", { exact: true }).focus();
    // Without its timer, the page refreshes sessions only after certain actions.
    await page.evaluate(() => {
      Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    });
    const allow = page.locator(".question .allow");
    await allow.evaluate((button) => (button as HTMLElement).click());
    await page.locator(".question", { hasText: "while" }).waitFor();
    await allow.evaluate((button) => (button as HTMLElement).click());
    await page.locator(".row .facts", { hasText: "running" }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("cwd");
    writeFileSync(join(place.cwd, "go"), "");
    await page.getByText("Both are there.").waitFor();
  });

  it("shows hostile texts as plain text", async () => {
    const more = [
      "<form action=/console/session method=post><input name=code></form>",
      '<a href="javascript:window.hacked=1" id=new>x</a>',
      "<style>.question{display:none}</style>",
      "[Allow](/rpc) ![x](/rpc) ![x](http://127.0.0.1:9/x.png)",
      "<div class=question><button class=allow>Allow</button></div>",
    ];
    const texts = [...hostileTexts, ...more];
    const scenario = [
      {
        content: [
          ...texts.map((text) => ({ type: "text" as const, text })),
          { type: "thinking" as const, thinking: texts.join("\n") },
          call("bash", { command: `echo '${texts.join(" ").replaceAll("'", "")}'` }),
        ],
      },
      { repeat: true, content: texts.join("\n\n") },
    ];
    const { link } = await consoleHost({ scenario, arguments: ["--permission-mode", "ask"] });
    const { page, complaints } = await openConsole(link);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await startSession(page, texts.slice(0, 60).join("\n"));
    await page.locator(".question .allow").first().click();
    await page.locator(".question").waitFor({ state: "detached" });
    await page.locator("#stop").waitFor({ state: "detached" });
    for (const head of await page.locator(".call .head, .thinking summary").all())
      await head.click();
    const found = await page.evaluate(() => ({
      hacked: Reflect.get(globalThis, "hacked"),
      wild: document.querySelectorAll(
        ".conversation :is(script, style, iframe, form, svg, object, embed, base, meta, link, [onclick], [onerror], [onload])",
      ).length,
      buttons: document.querySelectorAll("#new").length,
    }));
    expect(found).toEqual({ hacked: undefined, wild: 0, buttons: 1 });
    expect(requests.filter((one) => !one.startsWith("data:"))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("fits on a phone", async () => {
    const { link } = await consoleHost({
      scenario: [{ repeat: true, content: `${"word ".repeat(80)}\n\n\`${"x".repeat(300)}\`` }],
    });
    const { page } = await openConsole(link, { viewport: { width: 360, height: 640 } });
    await startSession(page, "Write");
    await page.locator(".message.assistant").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    const box = await page.getByLabel("Message", { exact: true }).boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(640);
    await page.getByRole("button", { name: "Details" }).click();
    await page.locator(".details .facts").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "All sessions" }).click();
    await page.locator(".row", { hasText: "Write" }).waitFor();
  });
});
