import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalWorkspace } from "@tau-agent/system";
import { expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../../../scripts/testing/describe-with.ts";
import { playSuite, type SuiteSetup } from "../../support/played-suite.ts";
import { binPath } from "../../support/start-host.ts";
import { FileTrace, straceIsMissing } from "../../support/trace-files.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-other-root-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * A program that connects to an exec server which the host did not start, and which opens nothing outside its roots.
 */
function execServerOf(there: string, home: string): readonly string[] {
  const socket = join(home, "socket");
  const roots = ["--root", there, "--root", home];
  const server = createServer((connection) => {
    const program = spawn(process.execPath, [binPath, "exec-server", ...roots], {
      env: { ...process.env, HOME: home },
      stdio: ["pipe", "pipe", "inherit"],
    });
    connection.pipe(program.stdin);
    program.stdout.pipe(connection);
    connection.on("close", () => program.kill());
  }).listen(socket);
  onTestFinished(() => void server.close());
  const relay =
    'const s = require("node:net").connect(process.argv[1]); process.stdin.pipe(s); s.pipe(process.stdout)';
  return [process.execPath, "-e", relay, socket];
}

const places: [string, (home: string) => Omit<SuiteSetup, "command">][] = [
  [
    "an exec server in another root",
    (home) => ({
      words: (there) => [
        "--workspace",
        JSON.stringify({ command: execServerOf(there, home), cwd: there }),
      ],
    }),
  ],
  [
    "its client",
    (home) => ({
      words: (there) => ["--workspace", JSON.stringify({ client: true, cwd: there })],
      workspace: (cwd) => createLocalWorkspace({ cwd, homeDirectory: home }),
    }),
  ],
];

async function traced(setup: Omit<SuiteSetup, "command">) {
  const trace = new FileTrace();
  const command = () => [...trace.words, process.execPath];
  const { there, place, told, client } = await playSuite({ ...setup, command });
  expect(told).toContain('"made": "made\\n"');
  await client.stop();
  const isBelow = (path: string, folder: string) => `${path}/`.startsWith(`${folder}/`);
  const agent = join(place.folder, "agent");
  const own = [
    join(agent, "sessions"),
    join(agent, "rewind/journals"),
    join(agent, "rewind"),
    "/dev/null",
  ];
  /** Node's compile cache, and the recordings of the tests. */
  const isOfTests = (path: string) => /\/(?:\.compile-cache|recordings-\w+)(?:\/|$)/.test(path);
  const calls = trace.read().filter(({ path }) => !isOfTests(path));
  return {
    project: calls.filter(({ path }) => isBelow(path, there)),
    opened: calls.filter(({ name, path }) => /^open|^exec/.test(name) && isBelow(path, place.cwd)),
    changed: calls.filter(
      ({ changes, path }) => changes && !own.some((each) => isBelow(path, each)),
    ),
  };
}

describeWith(straceIsMissing)("a traced host", () => {
  it.each(places)(
    "with a workspace behind %s opens no file of the project and writes only its session",
    async (_, setup) => {
      const { project, opened, changed } = await traced(setup(temporaryFolder()));
      expect(project).toEqual([]);
      // Nor anything in the host's own working directory.
      expect(opened).toEqual([]);
      expect(changed).toEqual([]);
    },
  );

  it("with its own machine as workspace opens and writes the project's files", {
    timeout: 180_000,
  }, async () => {
    const { project, changed } = await traced({ words: (there) => ["--cwd", there] });
    expect(project).not.toEqual([]);
    expect(changed).not.toEqual([]);
  });
});
