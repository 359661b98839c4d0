import { execFile } from "node:child_process";
import { onTestFinished } from "vitest";
import { makePlace, type PlaceSetup } from "./place.ts";
import { binPath } from "./start-host.ts";

// Types the answers into the program's terminal and returns all its output, from both streams.
const program = `
import json, os, pty, sys
answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
unanswered = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    sys.stdout.buffer.write(piece)
    unanswered += piece
    if answers and answers[0][0].encode() in unanswered:
        os.write(terminal, answers.pop(0)[1].encode())
        unanswered = b""
os.waitpid(child, 0)
`;

/** A subcommand run by a simulated user, and what the user types after certain output. */
interface Dialogue {
  readonly words: readonly string[];
  readonly answers: readonly (readonly [after: string, typed: string])[];
}

/** Everything that a host or subcommand writes to its terminal. */
export async function outputInTerminal(setup: PlaceSetup, dialogue?: Dialogue): Promise<string> {
  const place = makePlace(setup);
  onTestFinished(() => place.remove());
  const { cwd, variables: env } = place;
  const { words: given = place.arguments, answers = [] } = dialogue ?? {};
  const words = ["-c", program, JSON.stringify(answers), process.execPath, binPath, ...given];
  return await new Promise((resolve, reject) => {
    execFile("python3", words, { cwd, env, timeout: 20_000 }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
  });
}
