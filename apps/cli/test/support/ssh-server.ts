import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePort } from "../../../../packages/store-redis/test/free-port.ts";

/** `sshd` refuses to start unless it is called by its absolute path. */
const sshd = ["/usr/sbin/sshd", "/usr/bin/sshd"].find((path) => existsSync(path));

/** The reason to skip tests that need OpenSSH; undefined if both client and server are installed. */
export const sshIsMissing =
  sshd !== undefined && spawnSync("ssh", ["-V"]).status === 0
    ? undefined
    : "OpenSSH is not installed; scripts/install-system-tools.sh installs it where apt-get can";

/**
 * An SSH server for one test on a local port, with keys and a configuration that are removed after the test.
 *
 * @returns the `ssh` command that reaches it, without a remote command
 */
export async function startSshServer(): Promise<[string, ...string[]]> {
  const folder = mkdtempSync(join(tmpdir(), "tau-ssh-"));
  const at = (name: string) => join(folder, name);
  for (const name of ["host", "user"]) {
    spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
  }
  const port = await freePort();
  const settings = {
    ListenAddress: `127.0.0.1:${port}`,
    HostKey: at("host"),
    PidFile: at("pid"),
    AuthorizedKeysFile: at("user.pub"),
    // The folder is temporary, and others can write to its parent folder.
    StrictModes: "no",
    UsePAM: "no",
    PasswordAuthentication: "no",
    PermitRootLogin: "yes",
    // The login shell must not read the files of the user who runs the tests.
    SetEnv: `HOME=${folder}`,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  writeFileSync(at("config"), lines.join(""));
  // A server run by root requires this folder, which the system's own service creates.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
  const server = spawn(sshd ?? "sshd", ["-D", "-e", "-f", at("config")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  server.stderr.on("data", (chunk: Buffer) => {
    said += String(chunk);
  });
  onTestFinished(() => {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  while (!(await answers(port))) {
    if (server.exitCode !== null) throw new Error(`sshd ended: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const [type, key] = readFileSync(at("host.pub"), "utf8").split(" ");
  writeFileSync(at("known"), `[127.0.0.1]:${port} ${type} ${key}\n`);
  const options = [`UserKnownHostsFile=${at("known")}`, "IdentitiesOnly=yes", "BatchMode=yes"];
  const words = options.flatMap((option) => ["-o", option]);
  const { username } = userInfo();
  const place = ["-p", String(port), "-i", at("user"), `${username}@127.0.0.1`];
  return ["ssh", "-F", "none", "-T", ...words, ...place];
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.on("error", () => resolve(false));
    socket.on("data", (data) => {
      socket.destroy();
      resolve(String(data).startsWith("SSH-"));
    });
  });
}
