import { execFile } from "node:child_process";
import { onTestFinished } from "vitest";
import { makePlace, type PlaceSetup } from "./place.ts";
import { binPath } from "./start-host.ts";

// Reads what the program writes to its terminal, both streams, until it ends.
const program = `
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    sys.stdout.buffer.write(piece)
os.waitpid(child, 0)
`;

/** Everything that a host writes to the terminal it runs in. */
export async function outputInTerminal(setup: PlaceSetup): Promise<string> {
  const place = makePlace(setup);
  onTestFinished(() => place.remove());
  const { cwd, variables: env } = place;
  const words = ["-c", program, process.execPath, binPath, ...place.arguments];
  return await new Promise((resolve, reject) => {
    execFile("python3", words, { cwd, env, timeout: 20_000 }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
  });
}
