import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Tells how much memory a host has in use, after it has collected its garbage. */
export class HeapProbe {
  readonly #file: string;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), "tau-heap-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    this.#file = join(folder, "heap");
  }

  /** The words that start a Node whose memory can be asked for. */
  get command(): string[] {
    const file = JSON.stringify(this.#file);
    const code = `
      import { writeFileSync } from "node:fs";
      process.on("SIGUSR2", () => {
        gc();
        // What finalizers let go of is collected the second time.
        setTimeout(() => {
          gc();
          const { heapUsed, external } = process.memoryUsage();
          writeFileSync(${file}, String(heapUsed + external));
        }, 100);
      });`;
    const module = `data:text/javascript,${encodeURIComponent(code)}`;
    return [process.execPath, "--expose-gc", "--import", module];
  }

  /** Bytes in use. */
  async read(pid: number | undefined): Promise<number> {
    if (pid === undefined) throw new Error("there is no host");
    process.kill(pid, "SIGUSR2");
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const text = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
      if (text === "") continue;
      renameSync(this.#file, `${this.#file}-read`);
      return Number(text);
    }
  }
}
