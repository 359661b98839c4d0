import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { showingProgress } from "./progress.ts";
import { protectTerminal } from "./terminal.ts";

async function shownFor(isTTY: boolean, ms: number): Promise<string> {
  let shown = "";
  const stream = {
    isTTY,
    write: (text: string | Uint8Array) => {
      shown += String(text);
      return true;
    },
  };
  expect(await showingProgress("Installing it", () => sleep(ms, "done"), stream)).toBe("done");
  return shown;
}

it("shows one line if there is no terminal", async () => {
  expect(await shownFor(false, 1200)).toBe("tau: Installing it …\n");
});

it("shows a spinner on a terminal and clears it", async () => {
  const shown = await shownFor(true, 700);
  expect(shown).toContain("⠋ Installing it … 0 s");
  expect(shown).toContain("⠙ Installing it … 0 s");
  expect(shown.endsWith("\r\u001b[K")).toBe(true);
});

it("controls the protected terminal of a command, while the text shown cannot", async () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true }) as unknown as NodeJS.WriteStream;
  protectTerminal(stream);
  await showingProgress("Installing \u001b[2Jit", () => sleep(500), stream);
  const shown = String((stream as unknown as PassThrough).read());
  expect(shown).toContain("\r\u001b[K⠋ Installing \\u001b[2Jit … 0 s\r\u001b[K⠙");
  expect(shown.endsWith("\r\u001b[K")).toBe(true);
});

it.each([true, false])("shows nothing for work that ends at once", async (isTTY) => {
  expect(await shownFor(isTTY, 20)).toBe("");
});

it("clears the line when the work fails", async () => {
  const stream = { isTTY: true, write: () => true };
  const failing = () => sleep(5).then(() => Promise.reject(new TypeError("no")));
  await expect(showingProgress("x", failing, stream)).rejects.toThrow("no");
});
