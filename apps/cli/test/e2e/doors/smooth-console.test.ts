import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { floorTask, longestTask } from "../../support/browser-trace.ts";
import { consoleHost, openConsole } from "../../support/console-page.ts";
import { FrameClient } from "../../support/frame-client.ts";
import { longSession } from "../../support/long-session.ts";

it("stays smooth with 200 sessions and a conversation of 5000 entries", async () => {
  const files = { "long.jsonl": longSession(5_000) };
  const { link, url, place, tokenFile } = await consoleHost({
    files,
    scenario: [{ repeat: true, content: "Hi." }],
  });
  const client = await FrameClient.connect(url, readFileSync(tokenFile, "utf8").trim());
  const open = (id: number, params: object = {}) =>
    client.send({ id, type: "open_session", ...params });
  open(1, { sessionPath: `${place.folder}/long.jsonl` });
  for (let id = 2; id <= 200; id += 1) open(id);
  const answered = () => client.frames.filter(({ command }) => command === "open_session").length;
  await expect.poll(answered).toBe(200);
  const { page, complaints } = await openConsole("about:blank");
  const shown = () => page.locator(".message").count();
  const floor = await floorTask(page);
  const longest = await longestTask(page, async () => {
    await page.goto(link);
    await expect.poll(() => page.locator(".row").count()).toBe(200);
    const costs = await page.locator(".row .cost").allTextContents();
    await page
      .locator(".row")
      .nth(costs.findIndex((text) => text !== "$0"))
      .click();
    await page.getByText("Message 4999 with").waitFor();
    expect(await shown()).toBeLessThan(100);
    for (let times = 0; times < 5; times += 1) {
      const before = await shown();
      await page.locator(".conversation").evaluate((view) => view.scrollTo(0, 0));
      await expect.poll(shown).toBeGreaterThan(before);
    }
    expect(await shown()).toBeLessThan(600);
    await page.getByLabel("Message", { exact: true }).fill("And now?");
    await page.keyboard.press("Enter");
    await page.locator(".message.assistant", { hasText: "Hi." }).waitFor();
  });
  // 50 ms on a quiet machine, where `floor` is 10 ms.
  expect(longest).toBeLessThan(5 * floor);
  expect(complaints).toEqual([]);
});
