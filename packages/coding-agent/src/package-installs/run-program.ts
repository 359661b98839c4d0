import { spawn } from "node:child_process";
import { delimiter, isAbsolute } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { hasProcessGroups, ProcessRegistry } from "@tau-agent/system";

/** Runs a program without a shell, and returns its output. */
export type RunProgram = (
  program: string,
  words: readonly string[],
  options?: { readonly cwd?: string },
) => Promise<string>;

/** How many lines of a program's error output are shown. */
const MAX_LINES = 2;

/**
 * Runs programs with these variables. They end with this process, even if it is killed: a surviving npm would interfere
 * with the next one.
 *
 * @throws {SessionError} `package_failed` with the program's last words
 */
export function programRunner(variables: Readonly<Record<string, string | undefined>>): RunProgram {
  const given = Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return (program, words, { cwd } = {}) =>
    new Promise((resolve, reject) => {
      const fail = (reason: string) =>
        reject(new SessionError("package_failed", { program, reason }));
      const processes = new ProcessRegistry({ systemRoot: variables.SystemRoot });
      const { variables: env } = processes.prepare({
        ...given,
        GIT_TERMINAL_PROMPT: "0",
        GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
        GIT_LFS_SKIP_SMUDGE: "1",
        // Otherwise a package's manifest would choose which npm runs.
        COREPACK_ENABLE_PROJECT_SPEC: "0",
        // A program in the folder must not be found instead.
        PATH: (variables.PATH ?? "").split(delimiter).filter(isAbsolute).join(delimiter),
      });
      // Git may have to ask for a key's passphrase, which only a process in the terminal's session can do.
      const detached = hasProcessGroups && program !== "git";
      const stdio = ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"];
      const child = spawn(program, words, { cwd, env, detached, stdio });
      if (detached && child.pid !== undefined) processes.add(child.pid);
      let stdout = "";
      let stderr = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr = (stderr + text).slice(-10_000);
      });
      child.on("error", (error: NodeJS.ErrnoException) => {
        processes.killAll();
        fail(error.code === "ENOENT" ? `${program} is not installed` : error.message);
      });
      child.on("close", (code, signal) => {
        processes.killAll();
        if (code === 0) resolve(stdout);
        else fail(lastWords(stderr) || `it ended with ${signal ?? `exit code ${code}`}`);
      });
    });
}

function lastWords(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.replace(/^npm (?:error|ERR!)\s*/, "").trim())
    .filter(
      (line) =>
        line !== "" && !/complete log|^\/|^npm warn|^(?:code|syscall|path|dest|errno) /i.test(line),
    );
  return lines.slice(0, MAX_LINES).join(" ");
}
