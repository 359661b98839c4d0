import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";

const { resolve } = createRequire(import.meta.url);

/** The program of a published server. */
export function programOf(name: "everything" | "filesystem" | "memory"): string {
  return join(
    dirname(resolve(`@modelcontextprotocol/server-${name}/package.json`)),
    "dist/index.js",
  );
}

/** The program of the MCP project's own tests. */
export function conformanceProgram(): string {
  return join(dirname(resolve("@modelcontextprotocol/conformance/package.json")), "dist/index.js");
}

/** A published server that listens on its own port. */
export class ListeningServer {
  readonly #child: ChildProcess;
  readonly port: number;

  static async start(transport: "streamableHttp" | "sse"): Promise<ListeningServer> {
    const port = await freePort();
    const child = spawn(process.execPath, [programOf("everything"), transport], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    await new Promise<void>((ready, fail) => {
      child.once("exit", () => fail(new Error("the server has ended")));
      child.stderr?.on("data", (chunk: Buffer) => {
        if (/listening|running/i.test(String(chunk))) ready();
      });
    });
    return new ListeningServer(child, port);
  }

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }
}

function freePort(): Promise<number> {
  return new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => found(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}
