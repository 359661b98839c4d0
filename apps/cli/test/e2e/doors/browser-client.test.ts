import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { listeningHost } from "../../support/listening-host.ts";
import { openBrowser, servePage } from "../../support/serve-page.ts";

const scenario = [
  {
    content: [{ type: "toolCall" as const, name: "bash", arguments: { command: "echo seen" } }],
  },
  { content: "It says seen." },
];
const entry = fileURLToPath(new URL("__fixtures__/browser-client-page.mjs", import.meta.url));
type Call = (url: string, token: string) => Promise<unknown>;

it("opens, prompts and answers in a page, and is refused without a token or from a foreign origin", async () => {
  const [origin, stranger] = [await servePage(entry), await servePage(entry)];
  const { url, token } = await listeningHost({
    scenario,
    arguments: ["--allow-origin", origin, "--permission-mode", "ask"],
  });
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(origin);
  const call = (name: string, given: string) =>
    page.evaluate(
      ([called = "", ...values]) =>
        (Reflect.get(globalThis, called) as Call)(values[0] ?? "", values[1] ?? ""),
      [name, url, given],
    );
  expect(await call("run", token)).toEqual({
    status: "completed",
    text: "It says seen.",
    questions: ["bash"],
    calls: 1,
    sessions: 1,
  });
  expect(await call("refused", "wrong-token-of-some-length")).toBe("unauthorized");
  await page.goto(stranger);
  expect(await call("refused", token)).toMatch(/unreachable|refused/);
});
