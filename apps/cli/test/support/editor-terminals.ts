import { type ChildProcess, spawn } from "node:child_process";
import type { client } from "@agentclientprotocol/sdk";

interface Terminal {
  readonly child: ChildProcess;
  readonly exit: Promise<{ exitCode: number | null; signal: string | null }>;
  output: string;
  isReleased: boolean;
}

/** Terminals of an editor that run real commands. */
export class EditorTerminals {
  readonly all = new Map<string, Terminal>();
  /** The requests, in order. */
  readonly asked: string[] = [];

  /** Handles the agent's terminal requests. */
  answer(app: ReturnType<typeof client>): void {
    const terminal = (id: string): Terminal => {
      const found = this.all.get(id);
      if (found === undefined || found.isReleased) throw new Error(`no terminal ${id}`);
      return found;
    };
    app
      .onRequest("terminal/create", ({ params }) => {
        this.asked.push("create");
        const { command, args = [], cwd, env = [] } = params;
        const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
        const child = spawn(command, args, {
          cwd: cwd ?? undefined,
          env: { ...process.env, ...variables },
          detached: true,
        });
        const exit = new Promise<Awaited<Terminal["exit"]>>((resolve) => {
          child.on("close", (exitCode, signal) => resolve({ exitCode, signal }));
        });
        const made: Terminal = { child, exit, output: "", isReleased: false };
        for (const stream of [child.stdout, child.stderr]) {
          stream?.on("data", (chunk: Buffer) => {
            made.output += chunk.toString();
          });
        }
        const terminalId = `terminal-${this.all.size + 1}`;
        this.all.set(terminalId, made);
        return { terminalId };
      })
      .onRequest("terminal/output", async ({ params }) => {
        this.asked.push("output");
        return { output: terminal(params.terminalId).output, truncated: false };
      })
      .onRequest("terminal/wait_for_exit", ({ params }) => {
        this.asked.push("wait");
        return terminal(params.terminalId).exit;
      })
      .onRequest("terminal/kill", ({ params }) => {
        this.asked.push("kill");
        kill(terminal(params.terminalId).child);
        return {};
      })
      .onRequest("terminal/release", ({ params }) => {
        this.asked.push("release");
        const released = terminal(params.terminalId);
        kill(released.child);
        released.isReleased = true;
        return {};
      });
  }
}

function kill({ pid, exitCode }: ChildProcess): void {
  try {
    if (pid !== undefined && exitCode === null) process.kill(-pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}
