import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PostgresServer } from "../../../packages/store-postgres/test/postgres-server.ts";

const program = join(import.meta.dirname, "dbos.ts");

test("has at most 80 lines", () => {
  expect(readFileSync(program, "utf8").split("\n").length).toBeLessThanOrEqual(81);
});

test("a workflow of DBOS goes on in another process, and each command runs once", async () => {
  const server = await PostgresServer.start();
  const folder = mkdtempSync(join(tmpdir(), "tau-dbos-"));
  const children: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const child of children) child.kill("SIGKILL");
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  const project = join(folder, "project");
  mkdirSync(project);
  const start = () => {
    const url = server.url.replace(/postgres$/, "dbos");
    const places = { HOME: folder, PI_CODING_AGENT_DIR: join(folder, "agent") };
    const child = spawn(process.execPath, [program, "job-1", "Write three lines."], {
      cwd: project,
      env: { ...process.env, ...places, DBOS_SYSTEM_DATABASE_URL: url },
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        said += String(chunk);
      });
    }
    return { child, said: () => said };
  };
  const lines = () => {
    const path = join(project, "lines.txt");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  const first = start();
  await expect.poll(lines, { message: first.said() }).toBe("one\ntwo\n");
  first.child.kill("SIGKILL");
  const second = start();
  await once(second.child, "exit");
  const result = { status: "completed", text: "Wrote three lines.", turns: 4 };
  expect(second.said()).toContain(JSON.stringify(result));
  expect(lines()).toBe("one\ntwo\nthree\n");
  const session = readFileSync(join(folder, "tau-jobs/job-1.jsonl"), "utf8");
  for (const line of ["one", "two", "three"]) {
    expect(session.split(`"text":"wrote ${line}\\n"`)).toHaveLength(2);
  }
});
