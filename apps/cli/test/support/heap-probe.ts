import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The contents of a heap. */
export interface HeapContents {
  /** The number of objects and closures. */
  readonly objects: number;
  readonly strings: ReadonlySet<string>;
}

/** Measures the memory of a host after a garbage collection. */
export class HeapProbe {
  readonly #file: string;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), "tau-heap-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    this.#file = join(folder, "heap");
  }

  /** The arguments that start Node so that its memory can be inspected. */
  get command(): string[] {
    const file = JSON.stringify(this.#file);
    const code = `
      import { renameSync, writeFileSync } from "node:fs";
      import { writeHeapSnapshot } from "node:v8";
      const collected = (answer) => () => {
        gc();
        // The second collection frees what finalizers released.
        setTimeout(() => {
          gc();
          answer(${file} + "-part");
          renameSync(${file} + "-part", ${file});
        }, 100);
      };
      process.on("SIGUSR2", collected((part) => {
        const { heapUsed, external } = process.memoryUsage();
        writeFileSync(part, String(heapUsed + external));
      }));
      process.on("SIGURG", collected((part) => writeHeapSnapshot(part)));`;
    const module = `data:text/javascript,${encodeURIComponent(code)}`;
    return [process.execPath, "--expose-gc", "--import", module];
  }

  /** The number of bytes in use. */
  async read(pid: number | undefined): Promise<number> {
    return Number(await this.#answer(pid, "SIGUSR2"));
  }

  async contents(pid: number | undefined): Promise<HeapContents> {
    const { snapshot, nodes, strings } = JSON.parse(await this.#answer(pid, "SIGURG")) as Snapshot;
    const { node_fields: fields, node_types: types } = snapshot.meta;
    const counted = ["object", "closure"].map((type) => types[0].indexOf(type));
    let objects = 0;
    for (let at = 0; at < nodes.length; at += fields.length) {
      if (counted.includes(nodes[at] ?? -1)) objects += 1;
    }
    return { objects, strings: new Set(strings) };
  }

  async #answer(pid: number | undefined, signal: NodeJS.Signals): Promise<string> {
    if (pid === undefined) throw new Error("there is no host");
    process.kill(pid, signal);
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (!existsSync(this.#file)) continue;
      const text = readFileSync(this.#file, "utf8");
      renameSync(this.#file, `${this.#file}-read`);
      return text;
    }
  }
}

/** In V8's format, the first number of each node is its type. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[]];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}
