import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it, onTestFinished } from "vitest";
import { bubblewrapIsMissing } from "../../../../../packages/system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import {
  serveSecrets,
  shows,
} from "../../../../../packages/system/src/sandbox/__fixtures__/secret-programs.ts";
import { VALUE } from "../../../../../packages/system/src/sandbox/network/__fixtures__/secret-proxy.ts";
import { describeWith } from "../../../../../scripts/testing/describe-with.ts";
import { nextLike } from "../../support/next-like.ts";
import {
  call,
  git,
  processesWith,
  repositoryPlace,
  worker,
} from "../../support/repository-place.ts";
import { startHost } from "../../support/start-host.ts";
import { elsewhere, toolSuite } from "../../support/tool-suite.ts";

const file = fileURLToPath(new URL("../../../dist/exec-server.js", import.meta.url));
const serverCommand = [execPath, file];

type Settings = Record<string, unknown>;

/** A host with a sandbox in the user's settings and with its tools on this machine or behind an exec server. */
function hostIn(
  cwd: string,
  scenario: Parameters<typeof repositoryPlace>[0],
  {
    sandbox = {},
    command = serverCommand,
    isHere = false,
    variables = {},
    own,
    extension,
    ...more
  }: Settings & {
    sandbox?: object;
    variables?: Record<string, string>;
    /** A shell command that one of the user's servers runs on the host's machine. */
    own?: string;
    /** A shell command that one of the user's extensions runs with `pi.exec`. */
    extension?: string;
    command?: readonly string[];
    isHere?: boolean;
  } = {},
) {
  const settings = { sandbox: { mode: "workspace", ...sandbox }, ...more };
  const place = repositoryPlace(scenario, settings);
  if (own !== undefined) {
    const mcpServers = { own: { command: "sh", args: ["-c", own] } };
    writeFileSync(join(place.folder, "agent/mcp.json"), JSON.stringify({ mcpServers }));
  }
  if (extension !== undefined) {
    mkdirSync(join(place.folder, "agent/extensions"), { recursive: true });
    const source = `export default (pi) => pi.on("session_start", async () => {
      await pi.exec("sh", ["-c", ${JSON.stringify(extension)}]);
    });`;
    writeFileSync(join(place.folder, "agent/extensions/looks.ts"), source);
  }
  const where = isHere ? ["--cwd", cwd] : ["--workspace", JSON.stringify({ command, cwd })];
  return startHost(
    {},
    {
      place: {
        ...place,
        variables: { ...place.variables, ...variables },
        arguments: [...place.arguments, ...where],
      },
    },
  );
}

async function resultsOf(host: ReturnType<typeof startHost>): Promise<string[]> {
  host.send({ id: "p", type: "prompt", message: "Go" });
  await nextLike(host, { type: "prompt_result", id: "p" });
  host.send({ id: "m", type: "get_messages" });
  const { data } = await nextLike(host, { id: "m", type: "response" });
  const { messages } = data as { messages: { role: string; content: { text: string }[] }[] };
  return messages
    .filter(({ role }) => role === "toolResult")
    .map(({ content }) => content[0]?.text ?? "");
}

const each = (...calls: (readonly [string, Record<string, unknown>])[]) =>
  turn(calls.map(([name, args]) => toolCall(name, args)));
const bash = (command: string) => ["bash", { command }] as const;

/** Accesses that a sandbox denies or allows, through file tools and commands. */
const limits = [
  each(
    ["write", { path: ".git/hooks/post-checkout", content: "evil" }],
    ["write", { path: ".pi/settings.json", content: "evil" }],
    ["write", { path: "/var/tmp/tau-outside/file", content: "evil" }],
    ["write", { path: "way/file", content: "evil" }],
    ["read", { path: "closed/key" }],
    ["read", { path: "to-key" }],
    ["read", { path: "/proc/self/environ" }],
    ["ls", {}],
    ["ls", { path: "closed" }],
    ["grep", { pattern: "the-secret" }],
    ["find", { pattern: "**/key" }],
    ["edit", { path: "closed/key", edits: [{ oldText: "the-secret", newText: "x" }] }],
  ),
  each(
    ["write", { path: "/tmp/private.txt", content: "private\n" }],
    bash("cat /tmp/private.txt; echo more >> /tmp/private.txt"),
    ["read", { path: "/tmp/private.txt" }],
    bash("cat closed/key"),
    bash("echo evil > .git/hooks/x"),
    bash("echo fine > fine.txt; cat fine.txt; kill -0 1 && echo $$ | wc -l"),
  ),
  turn("Done."),
];

function limited(): string {
  const folder = elsewhere();
  git(folder, "init", "-q");
  mkdirSync(join(folder, "closed"));
  writeFileSync(join(folder, "closed/key"), "the-secret");
  symlinkSync("closed/key", join(folder, "to-key"));
  symlinkSync("/etc", join(folder, "way"));
  return folder;
}

/** The contents of all readable files below folders. */
function textsIn(...folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")),
  );
}

describeWith(bubblewrapIsMissing)("a session in a sandbox behind an exec server", () => {
  it("produces the same results as one on this machine", async () => {
    for (const [scenario, place, more] of [
      [toolSuite, elsewhere, {}],
      [limits, limited, {}],
      [limits, limited, { durability: "effects" }],
    ] as const) {
      const [here, there] = [place(), place()];
      const sandbox = { denyRead: ["closed"] };
      const expected = await resultsOf(
        hostIn(here, [...scenario], { sandbox, isHere: true, ...more }),
      );
      const found = await resultsOf(hostIn(there, [...scenario], { sandbox, ...more }));
      const plain = (texts: string[], folder: string) =>
        texts.map((text) =>
          text.replaceAll(folder, "<cwd>").replaceAll(/tau-sandbox-[^/]+/g, "<private>"),
        );
      expect(plain(found, there)).toEqual(plain(expected, here));
      expect(existsSync(join(there, ".pi"))).toBe(false);
      expect(found.join("\n")).not.toContain("the-secret");
    }
  });

  it("keeps jobs, verification, servers and the user's commands inside", async () => {
    const there = limited();
    // The sandbox has few processes, and none of them is this one.
    const look = (name: string) =>
      `ls -d /proc/[0-9]* | wc -l > ${name}; cat /proc/${process.pid}/stat >> ${name} 2>&1`;
    writeFileSync(
      join(there, ".mcp.json"),
      JSON.stringify({
        mcpServers: { theirs: { command: "sh", args: ["-c", look("server.txt")] } },
      }),
    );
    const verify = {
      commands: [
        { name: "inside", command: `! test -e /proc/${process.pid}/stat && cat task.txt` },
      ],
    };
    git(there, "add", "-A");
    git(there, "commit", "-qm", "first");
    const host = hostIn(
      there,
      [
        ...worker("<w1>", call("bash", { command: look("task.txt") })),
        {
          when: { lastUserIncludes: "start", hasToolResults: false },
          content: [
            toolCall("bash", { command: look("job.txt"), background: true }),
            toolCall("write", { path: "a.c", content: "int a;" }),
            toolCall("task", { task: "<w1>", isolated: true, verify }),
          ],
        },
        { when: { lastUserIncludes: "start", hasToolResults: true }, content: "start done" },
      ],
      {
        // The "other" machine is this one.
        sandbox: { denyRead: ["closed"], write: [there] },
        own: `cd ${there}; ${look("own.txt")}`,
        extension: look("exec.txt"),
        diagnostics: { entries: [{ match: "*.c", command: look("check.txt") }] },
        "task.verification.enabled": true,
        "rewind.enabled": true,
        defaultProjectTrust: "always",
      },
    );
    host.send({ id: "b", type: "bash", command: look("person.txt") });
    await nextLike(host, { id: "b", type: "response", success: true });
    host.send({ type: "prompt", message: "start", id: "p" });
    const end = await nextLike(host, { type: "subagent_verification_end" });
    expect(end, JSON.stringify(end)).toMatchObject({ status: "passed" });
    await nextLike(host, { type: "prompt_result", status: "completed" });
    for (const name of [
      "person.txt",
      "job.txt",
      "task.txt",
      "server.txt",
      "own.txt",
      "exec.txt",
      "check.txt",
    ]) {
      const path = join(there, name);
      await expect
        .poll(() => existsSync(path) && readFileSync(path, "utf8").split("\n").length, {
          message: name,
        })
        .toBe(3);
      const [count, said] = readFileSync(path, "utf8").split("\n");
      expect(Number(count), name).toBeLessThan(12);
      expect(said, name).toContain("No such file");
    }
    // The host's records contain nothing of the unreadable file.
    host.send({ id: "c", type: "bash", command: "grep -rls the-secret ~/.cache/tau; true" });
    expect(await nextLike(host, { id: "c", type: "response" })).toMatchObject({
      data: { output: "" },
    });
    host.send({ type: "list_checkpoints", id: "l" });
    const { data } = await nextLike(host, { type: "response", id: "l" });
    const { checkpoints } = data as { checkpoints: { entryId: string }[] };
    host.send({ type: "rewind", entryId: checkpoints[0]?.entryId, id: "r" });
    expect(await nextLike(host, { type: "response", id: "r" })).toMatchObject({ success: true });
    expect(existsSync(join(there, "task.txt"))).toBe(false);
    expect(readFileSync(join(there, "closed/key"), "utf8")).toBe("the-secret");
  });

  it.each([true, false])("verifies in a sandbox around the tree, here: %s", async (isHere) => {
    const there = limited();
    git(there, "add", "-A");
    git(there, "commit", "-qm", "first");
    const command = `touch ${there}/reached; touch built.txt && ! cat closed/key && ! touch .git/hooks/x`;
    const verify = { commands: [{ name: "build", command }] };
    const host = hostIn(
      there,
      [
        ...worker("<w1>", call("write", { path: "made.txt", content: "made" })),
        ...worker("start", call("task", { task: "<w1>", isolated: true, verify })),
      ],
      { isHere, sandbox: { denyRead: ["closed"] }, "task.verification.enabled": true },
    );
    host.send({ type: "prompt", message: "start", id: "p" });
    const end = await nextLike(host, { type: "tool_execution_end", toolName: "task" });
    expect(JSON.stringify(end)).toContain("Verification: passed");
    await nextLike(host, { type: "prompt_result", status: "completed" });
    expect(
      ["made.txt", "built.txt", "reached"].map((name) => existsSync(join(there, name))),
    ).toEqual([true, false, false]);
  });

  it("uses a secret in commands, jobs, subagents and servers without revealing it", async () => {
    const [there, outside] = [elsewhere(), elsewhere()];
    const server = await serveSecrets(outside);
    onTestFinished(server.stop);
    const asks = (name: string) =>
      `curl -sS --max-time 60 -v -H "Authorization: Bearer $TOKEN" https://${server.host}/${name} > ${name}.txt 2>&1; cat ${name}.txt`;
    const servers = { theirs: { command: "sh", args: ["-c", asks("server")] } };
    writeFileSync(join(there, ".mcp.json"), JSON.stringify({ mcpServers: servers }));
    const host = hostIn(
      there,
      [
        ...worker("<w1>", call("bash", { command: asks("task") })),
        {
          when: { lastUserIncludes: "start", hasToolResults: false },
          content: [
            toolCall("bash", { command: `${asks("command")}; env; cat /proc/*/environ` }),
            toolCall("bash", { command: asks("job"), background: true }),
            toolCall("task", { task: "<w1>" }),
          ],
        },
        { when: { lastUserIncludes: "start", hasToolResults: true }, content: "start done" },
      ],
      {
        sandbox: {
          secrets: [{ env: "TOKEN", value: "$REAL", hosts: [server.host] }],
          upstreamCertificates: server.authority,
        },
        variables: { REAL: VALUE },
        defaultProjectTrust: "always",
      },
    );
    host.send({ type: "prompt", message: "start", id: "p" });
    await nextLike(host, { type: "prompt_result", status: "completed" });
    for (const name of ["command", "job", "task", "server"]) {
      const said = () => readFileSync(join(there, `${name}.txt`), "utf8");
      await expect.poll(said, { message: name }).toMatch(/"said":"Bearer tau-secret-[0-9a-f]{32}"/);
    }
    expect(new Set(server.seen)).toEqual(new Set([`Bearer ${VALUE}`]));
    const { folder } = host.place;
    await host.finish();
    const all = [host.stdout, host.stderr, ...textsIn(there, folder)].join("\n");
    expect(all).toContain("tau-secret-");
    expect(shows(all)).toEqual([]);
  });

  it("loses a command that uses the host's network when the connection breaks", async () => {
    const there = limited();
    const mark = join(there, "server.mjs");
    symlinkSync(file, mark);
    const host = hostIn(there, [each(bash("touch started; sleep 720")), turn("Done.")], {
      command: [execPath, mark],
      sandbox: { network: ["example.com"] },
      durability: "effects",
    });
    host.send({ id: "p", type: "prompt", message: "Go" });
    await expect.poll(() => existsSync(join(there, "started"))).toBe(true);
    for (const pid of processesWith(`${execPath}\0${mark}`)) process.kill(pid, "SIGKILL");
    const end = await nextLike(host, { type: "tool_execution_end" });
    expect(JSON.stringify(end)).toContain("workspace lost");
    await nextLike(host, { type: "prompt_result", id: "p" });
  });

  it("is sandboxed again after its carrier was killed", async () => {
    const there = limited();
    const mark = join(there, "server.mjs");
    symlinkSync(file, mark);
    const commands = (name: string) => [
      {
        when: { lastUserIncludes: name, hasToolResults: false },
        content: call("bash", { command: "echo evil > .git/hooks/x; ls -d /proc/[0-9]* | wc -l" }),
      },
      { when: { lastUserIncludes: name, hasToolResults: true }, content: `${name} done` },
    ];
    const host = hostIn(there, [...commands("first"), ...commands("second")], {
      command: [execPath, mark],
    });
    for (const message of ["first", "second"]) {
      host.send({ id: message, type: "prompt", message });
      const end = await nextLike(host, { type: "tool_execution_end" });
      expect(JSON.stringify(end)).toMatch(/Read-only file system/);
      await nextLike(host, { type: "prompt_result", id: message });
      if (message === "second") break;
      const servers = processesWith(`${execPath}\0${mark}`);
      expect(servers).toHaveLength(1);
      for (const pid of servers) process.kill(pid, "SIGKILL");
      await nextLike(host, { type: "workspace_status", status: "lost" });
    }
    expect(existsSync(join(there, ".git/hooks/x"))).toBe(false);
  });
});

it.skipIf(process.platform !== "linux")(
  "does not pass the variable of a secret to %s",
  async () => {
    const there = elsewhere();
    const secrets = [{ env: "TOKEN", value: "$REAL", hosts: ["localhost:1"] }];
    const spy = ["sh", "-c", `env > ${join(there, "seen.txt")}; exec "$@"`, "sh"];
    const host = hostIn(there, [turn("Done.")], {
      sandbox: { secrets },
      command: [...spy, ...serverCommand],
      variables: { REAL: "the-value" },
    });
    await resultsOf(host);
    const seen = readFileSync(join(there, "seen.txt"), "utf8");
    expect(seen).toContain("PATH=");
    expect(seen).not.toContain("the-value");
  },
);

it.skipIf(process.platform !== "linux")(
  "runs no command if bubblewrap is missing on the other machine, and says what to do",
  async () => {
    const there = elsewhere();
    const bin = join(there, "bin");
    mkdirSync(bin);
    for (const name of ["bash", "sh", "git"]) symlinkSync(`/usr/bin/${name}`, join(bin, name));
    const host = hostIn(there, [each(bash("touch ran")), turn("Done.")], {
      command: ["env", `PATH=${bin}`, ...serverCommand],
    });
    const [said] = await resultsOf(host);
    expect(said).toMatch(
      /sandbox is not available.*bubblewrap is not installed.*apt install bubblewrap/,
    );
    expect(existsSync(join(there, "ran"))).toBe(false);
  },
);

it.skipIf(process.platform !== "linux")(
  "opens no session behind an exec server without sandbox support",
  async () => {
    const there = elsewhere();
    const older = ["sh", "-c", `"$@" | sed -u 's/"sandbox":true/"sandbox":false/'`, "sh"];
    const host = hostIn(there, [turn("Done.")], { command: [...older, ...serverCommand] });
    const { code } = await host.finish();
    expect(code).toBe(1);
    expect(host.stderr).toContain("exec-server of this version");
  },
);
