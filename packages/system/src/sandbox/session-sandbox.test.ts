import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import type { EnclosedCommand } from "../processes/sandbox.ts";
import { runShellCommand } from "../processes/shell-command.ts";
import { bubblewrapIsMissing } from "./__fixtures__/has-bubblewrap.ts";
import { SandboxedPlace } from "./__fixtures__/sandboxed-place.ts";

const ok = { kind: "exited", exitCode: 0 };

describeWith(bubblewrapIsMissing)("a command in the sandbox", () => {
  it("works in the project as it does outside", async () => {
    await using place = await new SandboxedPlace().enter();
    const identity = "-c user.name=a -c user.email=b@example.com";
    const line = `echo two > new.txt && git add -A && git ${identity} commit -qm second && git log --format=%s && pwd && cat new.txt`;
    expect(await place.run(line)).toEqual({
      outcome: ok,
      output: `second\nfirst\n${place.project}\ntwo\n`,
    });
    // Placeholders for missing files do not get into the commit, and are removed.
    expect(place.git("show", "--format=", "--name-only")).toBe("new.txt\n");
    expect(readdirSync(place.project).sort()).toEqual([".git", "file.txt", "new.txt"]);
    expect(readdirSync(join(place.project, ".git"))).not.toContain("commondir");
  });

  it("keeps its exit code, its signal and its working folder", async () => {
    await using place = await new SandboxedPlace().enter();
    expect((await place.run("exit 3")).outcome).toEqual({ kind: "exited", exitCode: 3 });
    expect((await place.run("kill -9 $$")).outcome).toEqual({ kind: "exited", exitCode: 137 });
    expect((await place.run("sleep 630", 100)).outcome).toEqual({ kind: "timed_out" });
  });

  it("has no capabilities, cannot gain any, and inherits only its three streams", async () => {
    await using place = await new SandboxedPlace().enter();
    const { output } = await place.run(
      "grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; ls /proc/self/fd",
    );
    expect(output).toMatch(/CapEff:\s+0000000000000000\nNoNewPrivs:\s+1\n0\n1\n2\n3\n$/);
  });

  it("has a temporary folder that later commands and the file tools can see", async () => {
    await using place = await new SandboxedPlace().enter();
    await place.run("echo kept > /tmp/a; echo shared > /dev/shm/b");
    expect((await place.run("cat /tmp/a /dev/shm/b; echo $TMPDIR")).output).toBe(
      "kept\nshared\n/tmp\n",
    );
    const { sandbox } = place;
    expect(readFileSync(sandbox?.hostPath("/tmp/a") ?? "", "utf8")).toBe("kept\n");
    expect(sandbox?.hostPath(join(place.project, "x"))).toBe(join(place.project, "x"));
  });

  it("writes only where the settings allow it, and nowhere with readOnly", async () => {
    await using place = await new SandboxedPlace().enter({ write: ["../../outside"] });
    expect((await place.run("echo x > ../../outside/new")).outcome).toEqual(ok);
    await using strict = await new SandboxedPlace().enter({ mode: "readOnly" });
    expect((await strict.run("echo x > new; echo y > /tmp/y && cat /tmp/y")).output).toMatch(
      /Read-only file system\ny\n$/,
    );
  });

  it("keeps placeholders for missing files while two commands overlap", async () => {
    await using place = await new SandboxedPlace().enter();
    const long = place.run("sleep 1; mkdir .pi/x || echo still closed");
    await place.run("true");
    expect((await long).output).toContain("still closed");
    expect(existsSync(join(place.project, ".pi"))).toBe(false);
  });

  it("removes the placeholders of a killed host", async () => {
    await using place = new SandboxedPlace();
    const notes = join(place.agentDirectory, "sandbox");
    mkdirSync(notes);
    mkdirSync(join(place.project, ".pi"));
    // No process has this number.
    const left = [{ path: join(place.project, ".pi") }];
    writeFileSync(join(notes, `4194305-aaaa@${hostname()}.json`), JSON.stringify(left));
    await place.enter();
    await place.run("true");
    expect(existsSync(join(place.project, ".pi"))).toBe(false);
  });

  it("removes its folders at the end", async () => {
    await using place = await new SandboxedPlace().enter();
    await place.run("echo x > /tmp/x");
    await place.sandbox?.close();
    expect(readdirSync(place.temporaryDirectory)).toEqual([]);
  });

  it("reports a missing working folder", async () => {
    await using place = await new SandboxedPlace().enter();
    const { rmSync } = await import("node:fs");
    rmSync(place.project, { recursive: true });
    await expect(place.run("true")).rejects.toMatchObject({ code: "cwd_missing" });
  });
});

/** A socket that disappears before the sandbox planned with it is set up; the next plan does not include it. */
async function listenOnce(place: SandboxedPlace, folder = place.outside): Promise<string> {
  const path = join(folder, "short-lived.sock");
  const socket = createServer().listen(path);
  await once(socket, "listening");
  changeEnclosed(place, async (enclosed) => {
    if (socket.listening) await new Promise((resolve) => socket.close(resolve));
    return enclosed;
  });
  return path;
}

function changeEnclosed(
  { sandbox }: SandboxedPlace,
  change: (enclosed: EnclosedCommand) => Promise<EnclosedCommand>,
): void {
  const enclose = sandbox?.enclose.bind(sandbox);
  if (sandbox === undefined || enclose === undefined) return;
  sandbox.enclose = async (command) => change(await enclose(command));
}

/** Makes it impossible to set up the sandbox. */
function breakMounts(place: SandboxedPlace): void {
  changeEnclosed(place, async ({ args, ...rest }) => ({
    ...rest,
    args: ["--bind", "/nowhere", "/usr", ...args],
  }));
}

/** Runs a command that would outlive this host. */
async function runKept({ tools }: SandboxedPlace, command: string, signal?: AbortSignal) {
  let output = "";
  const process = await tools.workspace.spawn({
    ...{ command, signal, session: "s1", epoch: 1, commandId: "c1", keepMs: 60_000 },
    onOutput: (chunk) => {
      output += Buffer.from(chunk).toString();
    },
  });
  return { exit: await process.done, output };
}

describeWith(bubblewrapIsMissing)("a sandbox that cannot be set up as planned", () => {
  it("retries without running the command twice, and shows nothing of it", async () => {
    await using place = await new SandboxedPlace().enter();
    await listenOnce(place);
    expect(await place.run("echo run >> log; cat log; echo error >&2; exit 1")).toEqual({
      output: "run\nerror\n",
      outcome: { kind: "exited", exitCode: 1 },
    });
    // The failed attempt leaves nothing behind.
    expect(readdirSync(place.project).sort()).toEqual([".git", "file.txt", "log"]);
  });

  it("starts while a program keeps opening and closing sockets", async () => {
    await using place = await new SandboxedPlace().enter();
    const { sandbox } = place;
    const enclose = sandbox?.enclose.bind(sandbox);
    if (sandbox === undefined || enclose === undefined) throw new Error("no sandbox");
    // In another process, because sockets on which the host itself listens always stay closed.
    const code = `let server;
      process.on("message", (path) => {
        if (path) server = require("net").createServer().listen(path, () => process.send("made"));
        else server.close(() => process.send("closed"));
      });`;
    const program = spawn(process.execPath, ["-e", code], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    onTestFinished(() => void program.kill());
    const tell = async (path: string) => {
      program.send(path);
      await once(program, "message");
    };
    let tries = 0;
    sandbox.enclose = async (command) => {
      tries += 1;
      await tell(join(place.outside, `${tries}.sock`));
      const enclosed = await enclose(command);
      await tell("");
      return enclosed;
    };
    expect(await place.run("echo started")).toEqual({ output: "started\n", outcome: ok });
    expect(tries).toBe(2);
  });

  it("retries without starting a kept command twice, and shows nothing of it", async () => {
    await using place = await new SandboxedPlace().enter();
    await listenOnce(place);
    const line = "echo run >> log; cat log; echo 'bwrap: mine' >&2; exit 1";
    expect(await runKept(place, line)).toEqual({
      output: "run\nbwrap: mine\n",
      exit: { exitCode: 1 },
    });
    expect(readdirSync(place.project).sort()).toEqual([".git", "file.txt", "log"]);
  });

  it("ends a kept command that is killed before it runs", async () => {
    await using place = await new SandboxedPlace().enter();
    breakMounts(place);
    const controller = new AbortController();
    const ended = runKept(place, "touch never", controller.signal);
    setTimeout(() => controller.abort(), 100);
    expect((await ended).exit).toEqual({ exitCode: null, signal: "SIGTERM" });
  });

  it("leaves nothing in place of a socket of the project", async () => {
    await using place = await new SandboxedPlace().enter();
    const path = await listenOnce(place, place.project);
    expect((await place.run("true")).outcome).toEqual(ok);
    expect(existsSync(path)).toBe(false);
  });

  it("fails with an explanation if it can never be set up", async () => {
    await using place = await new SandboxedPlace().enter();
    breakMounts(place);
    const error = {
      code: "sandbox_unavailable",
      message: expect.stringMatching(/in \d+ tries: Can't find source path \/nowhere/),
    };
    await expect(place.run("touch never")).rejects.toMatchObject(error);
    await expect(runKept(place, "touch never")).rejects.toMatchObject(error);
    expect(readdirSync(place.project).sort()).toEqual([".git", "file.txt"]);
  });

  it("stops retrying at the timeout and on abort", async () => {
    await using place = await new SandboxedPlace().enter();
    breakMounts(place);
    const started = performance.now();
    expect((await place.run("touch never", 100)).outcome).toEqual({ kind: "timed_out" });
    const run = (signal: AbortSignal) =>
      runShellCommand(place.tools, { command: "true", signal, onOutput: () => undefined });
    expect(await run(AbortSignal.timeout(100))).toEqual({ kind: "aborted" });
    expect(performance.now() - started).toBeLessThan(1_500);
  });

  it("does not mistake a command's own error for a failed start", async () => {
    await using place = await new SandboxedPlace().enter();
    const line = "echo run >> log; echo 'bwrap: mine' >&2; echo more >&2; exit 1";
    expect(await place.run(line)).toEqual({
      output: "bwrap: mine\nmore\n",
      outcome: { kind: "exited", exitCode: 1 },
    });
    expect(readFileSync(join(place.project, "log"), "utf8")).toBe("run\n");
  });

  it("keeps the output of a command if the sandbox cannot be taken down", async () => {
    await using place = await new SandboxedPlace().enter();
    changeEnclosed(place, async ({ release, ...rest }) => ({
      ...rest,
      release: async () => {
        await release();
        throw new Error("it is busy");
      },
    }));
    const { output, outcome } = await place.run("echo done");
    expect(output).toMatch(/done\n\n\[The sandbox could not be taken down: it is busy\]\n$/);
    expect(outcome).toEqual(ok);
  });
});

describeWith(bubblewrapIsMissing)("the environment in the sandbox", () => {
  it("passes on variables whose names no shell could write", async () => {
    await using place = new SandboxedPlace();
    place.environment["my.var"] = "one";
    place.environment["a-b"] = "two";
    await place.enter();
    const line = `${process.execPath} -p 'process.env["my.var"] + process.env["a-b"]'`;
    expect((await place.run(line)).output).toBe("onetwo\n");
  });
});

const serverCode = `require("http").createServer((request, response) => response.end("hello " + request.headers.host))
  .listen(0, "127.0.0.1", function () { console.log(this.address().port); })`;

/** A server in a separate process: the ports of this one are always closed. */
async function serveElsewhere(): Promise<{ port: number; end: () => void }> {
  const child = spawn(process.execPath, ["-e", serverCode], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [port] = await once(child.stdout, "data");
  return { port: Number(port), end: () => child.kill("SIGKILL") };
}

/** Gets an address in the sandbox, through the proxy or, without one, directly. */
const get = (url: string) =>
  `${process.execPath} -e '
const proxy = new URL(process.env.http_proxy || "${url}");
require("http").get({ host: proxy.hostname, port: proxy.port, path: process.env.http_proxy ? "${url}" : "/", headers: { host: new URL("${url}").host } }, (answer) => {
  answer.on("data", (d) => console.log(answer.statusCode, String(d)));
}).on("error", (e) => console.log(e.message));'`;

describeWith(bubblewrapIsMissing)("the network in the sandbox", () => {
  it("keeps a command's NODE_OPTIONS from the forwarder in front of it", async () => {
    await using place = new SandboxedPlace();
    place.environment.NODE_OPTIONS = "--import=/nowhere/tracing.mjs";
    await place.enter({ network: ["example.com"] });
    const line = "echo $NODE_OPTIONS; env | grep -c INSIDE";
    expect((await place.run(line)).output).toBe("--import=/nowhere/tracing.mjs\n0\n");
  });

  it("reaches the listed domains, and says that the sandbox refused all others", async () => {
    const { port, end } = await serveElsewhere();
    await using place = await new SandboxedPlace().enter({ network: ["localhost"] });
    expect((await place.run(get(`http://LOCALHOST.:${port}/`))).output).toContain("200 hello");
    const refused = (await place.run(get("http://example.com/"))).output;
    expect(refused).toMatch(/403 The sandbox does not let example\.com be reached/);
    expect((await place.run(get(`http://127.0.0.1:${port}/`))).output).toContain("403");
    end();
  });

  it("keeps the host's own ports and sockets closed, even if all of the network is allowed", async () => {
    const { port: other, end } = await serveElsewhere();
    await using place = await new SandboxedPlace().enter({ network: "all" });
    expect((await place.run(get(`http://127.0.0.1:${other}/`))).output).toContain("200 hello");
    const path = join(place.outside, "host.sock");
    const socket = createServer((_, response) => response.end("hello")).listen(path);
    await once(socket, "listening");
    const line = `${process.execPath} -e 'require("http").get({ socketPath: "${path}" }, () => console.log("reached")).on("error", (e) => console.log(e.code))'`;
    expect((await place.run(line)).output).not.toContain("reached");
    const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    for (const network of ["all", ["localhost", "127.0.0.1"]] as const) {
      await using closed = await new SandboxedPlace().enter({ network });
      for (const host of ["localhost", "127.0.0.1"]) {
        const { output } = await closed.run(get(`http://${host}:${port}/`));
        expect(output).not.toContain("hello");
      }
      expect((await closed.run(get(`http://127.0.0.1:${other}/`))).output).toContain("200 hello");
    }
    server.close();
    socket.close();
    end();
  });
});

describeWith(bubblewrapIsMissing)("file tools beside the sandbox", () => {
  it("read and write the same paths as commands, following links", async () => {
    await using place = await new SandboxedPlace().enter({ denyRead: ["~/private"] });
    const { sandbox } = place;
    mkdirSync(join(place.home, "private"));
    writeFileSync(join(place.home, "private", "key"), "k");
    symlinkSync(join(place.home, "private"), join(place.project, "link"));
    symlinkSync(join(place.outside, "new"), join(place.project, "dangling"));
    symlinkSync("/proc/self/root", join(place.project, "root"));
    const unreadable = [
      join(place.home, "private", "key"),
      join(place.project, "link", "key"),
      join(place.agentDirectory, "auth.json"),
      "/proc/self/environ",
      `/proc/${process.pid}/fd/0`,
      join(place.project, "root", "etc", "passwd"),
      "/dev/fd/0",
    ];
    for (const path of unreadable) expect(sandbox?.mayRead(path), path).toBe(false);
    for (const path of [
      join(place.outside, "file"),
      "/etc/passwd",
      join(place.project, "file.txt"),
    ]) {
      expect(sandbox?.mayRead(path), path).toBe(true);
    }
    const unwritable = [
      join(place.outside, "file"),
      join(place.project, "dangling"),
      join(place.project, ".git", "config"),
      join(place.project, ".git", "hooks", "pre-commit"),
      join(place.project, ".git", "modules", "x", "config"),
      join(place.project, ".pi", "settings.json"),
      join(place.project, ".mcp.json"),
      join(place.home, ".bashrc"),
    ];
    for (const path of unwritable) {
      expect(() => sandbox?.refuseWrite(path, path), path).toThrow(/sandbox.*\//);
    }
    sandbox?.refuseWrite(join(place.project, "src", "new.ts"), "src/new.ts");
    sandbox?.refuseWrite(sandbox.hostPath("/tmp/new"), "/tmp/new");
  });
});
