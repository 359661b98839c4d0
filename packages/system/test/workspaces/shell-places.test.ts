import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import process, { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { freePort } from "../../../store-redis/test/free-port.ts";

const checker = fileURLToPath(new URL("check-place.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tau-places-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const enclosed = ["--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent"];
/** These tests kill process trees, so they run only where processes of the machine cannot be seen. */
const noEnclosure =
  spawnSync("bwrap", [...enclosed, "true"]).status === 0
    ? undefined
    : "bubblewrap, in whose process table it runs, is not installed or not allowed";

interface Answer {
  readonly limited: readonly string[];
  readonly results: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly limited?: string;
  }[];
}

/** Checks a workspace in a separate process table. */
function check(shell: readonly string[], within: readonly string[]): Promise<Answer> {
  const args = [
    ...enclosed,
    ...within,
    execPath,
    "--conditions=@tau-agent/source",
    checker,
    ...shell,
  ];
  return new Promise((resolve, reject) => {
    execFile("bwrap", args, { maxBuffer: 1 << 26, timeout: 250_000 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stderr}`));
      else resolve(JSON.parse(stdout) as Answer);
    });
  });
}

async function passes(shell: readonly string[], within: readonly string[] = []): Promise<void> {
  const { limited, results } = await check(shell, within);
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
  expect(results.length).toBeGreaterThan(100);
  // The only excused failures.
  expect(results.flatMap(({ limited: word }) => word ?? [])).toEqual(["modified-at-seconds"]);
  expect(limited.toSorted()).toEqual(["kill-tree", "modified-at-seconds", "within"]);
}

function program(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

describeWith(noEnclosure)("the shell form passes the checks", () => {
  test("over sh -c", () => passes(["sh", "-c"]));

  test("over a login shell that prints before it starts, on both streams", async () => {
    const noisy = program(
      "noisy",
      '#!/bin/sh\necho "Welcome!"; printf "no line end"\necho warning >&2\nset -x\nexec sh -c "$1"\n',
    );
    await passes([noisy]);
  });

  test("over docker exec -i: a separate environment, an argument list", async () => {
    const docker = program(
      "docker",
      '#!/bin/sh\n[ "$1 $2 $3" = "exec -i c" ] || exit 125\nshift 3\nexec env -i PATH="$PATH" HOME=/root "$@"\n',
    );
    await passes([docker, "exec", "-i", "c", "sh", "-c"]);
  });
});

for (const shell of ["bash", "fish", "tcsh", "zsh"]) {
  describeWith(noEnclosure ?? (has(shell) ? undefined : `${shell} is not installed`))(
    `the shell form behind ${shell}`,
    () => test("passes the checks", () => passes([shell, "-c"])),
  );
}

describeWith(noEnclosure ?? (has("busybox") ? undefined : "busybox is not installed"))(
  "the shell form in a root with busybox alone",
  () =>
    test("passes the checks", async () => {
      const bin = join(folder, "bin");
      for (const name of ["bin", "tmp"]) mkdirSync(join(folder, name));
      const busybox = spawnSync("sh", ["-c", "command -v busybox"], {
        encoding: "utf8",
      }).stdout.trim();
      copyFileSync(busybox, join(bin, "busybox"));
      for (const name of spawnSync(busybox, ["--list"], { encoding: "utf8" })
        .stdout.trim()
        .split("\n")) {
        if (name !== "busybox") symlinkSync("busybox", join(bin, name));
      }
      expect(readdirSync(bin)).not.toContain("node");
      const root = [
        "--ro-bind",
        bin,
        "/bin",
        "--bind",
        join(folder, "tmp"),
        "/tmp",
        "--tmpfs",
        "/root",
      ];
      const place = ["--ro-bind", "/proc", "/proc", "--dev", "/dev", "--clearenv"];
      const variables = ["--setenv", "PATH", "/bin", "--setenv", "HOME", "/root"];
      await passes(["bwrap", ...root, ...place, ...variables, "sh", "-c"]);
    }),
);

const sshd = ["/usr/sbin/sshd", "/usr/bin/sshd"].find((path) => existsSync(path));

describeWith(noEnclosure ?? (sshd && has("ssh") ? undefined : "OpenSSH is not installed"))(
  "the shell form over ssh -T",
  () =>
    test("passes the checks", async () => {
      const at = (name: string) => join(folder, name);
      for (const name of ["host", "user"]) {
        spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
      }
      const port = await freePort();
      const lines = {
        ListenAddress: `127.0.0.1:${port}`,
        HostKey: at("host"),
        PidFile: "none",
        AuthorizedKeysFile: at("user.pub"),
        StrictModes: "no",
        UsePAM: "no",
        PasswordAuthentication: "no",
        PermitRootLogin: "yes",
        MaxStartups: "100",
        Banner: at("banner"),
        // The login shell must not read files of the user who runs the tests.
        SetEnv: `HOME=${folder}`,
      };
      writeFileSync(at("banner"), "Authorized use only\n");
      const text = Object.entries(lines).map(([name, value]) => `${name} ${value}\n`);
      writeFileSync(at("config"), text.join(""));
      const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes"];
      const more = ["IdentitiesOnly=yes", "ConnectionAttempts=20"];
      const words = [...options, ...more].flatMap((option) => ["-o", option]);
      const { username } = userInfo();
      const ssh = ["ssh", "-F", "none", "-T", ...words, "-p", String(port), "-i", at("user")];
      // An SSH server run by root requires this folder.
      if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
      const server = `${sshd} -D -e -f "${at("config")}" 2>/dev/null & exec "$@"`;
      await passes([...ssh, `${username}@127.0.0.1`], ["sh", "-c", server, "sh"]);
    }),
);
