import { readCommand } from "./commands/read-command.ts";
import { LineReading } from "./line/line-reading.ts";
import { NotUnderstood } from "./scan/not-understood.ts";
import { scanLine } from "./scan/scan-line.ts";
import type { ScannedCommand, ScannedRedirection } from "./scan/scanned-line.ts";

/** Nobody types a longer line; one that writes a large file with a here-document is not worth the time. */
const maxLength = 1_000_000;
/** The limit for `sh -c` inside `sh -c`: deeper nesting is an attempt to hide something. */
const maxDepth = 8;

export function readLine(line: string): LineReading {
  const reading = new LineReading();
  new LineReader(reading).readText(line);
  return reading;
}

/** Walks through the commands of a line and reports them and the files they write. */
class LineReader {
  readonly #reading: LineReading;
  #depth = 0;

  constructor(reading: LineReading) {
    this.#reading = reading;
  }

  readText(text: string): void {
    const problem = this.#problemOf(text);
    this.#reading.fail(problem);
    if (problem !== undefined) return;
    this.#depth += 1;
    try {
      const { commands, hasBackground } = scanLine(text);
      if (hasBackground) this.#reading.traits.add("background");
      for (const command of commands) this.#command(command);
    } catch (error) {
      if (!(error instanceof NotUnderstood)) throw error;
      this.#reading.fail(error.message);
    }
    this.#depth -= 1;
  }

  #problemOf(text: string): string | undefined {
    if (text.length > maxLength) return "it is too long";
    if (text.includes("\0")) return "it holds a null character";
    return this.#depth === maxDepth ? "it nests too many shells" : undefined;
  }

  #command({ words, redirections, hasAssignments }: ScannedCommand): void {
    for (const redirection of redirections) this.#redirection(redirection);
    if (hasAssignments) this.#reading.traits.add("assignment");
    if (words.length === 0) return;
    readCommand({ words }, { reading: this.#reading, readText: this.readText.bind(this) });
  }

  #redirection({ operator, target }: ScannedRedirection): void {
    const { text, isLiteral, hasTilde } = target;
    const isNamed = !hasTilde || text === "~" || text.startsWith("~/");
    if (!isLiteral || !isNamed) {
      this.#reading.fail("it redirects to a path that only the shell knows");
    } else if (operator.includes(">")) {
      if (isOpenAlready(text, operator)) return;
      this.#reading.write(text.startsWith("~") && !hasTilde ? `./${text}` : text);
    } else if (/^\/dev\/(?:tcp|udp)\//.test(text)) {
      this.#reading.fail("it reads from the network");
    }
  }
}

/** Nothing is written to `/dev/null`, or the target is a file that is already open. */
function isOpenAlready(text: string, operator: string): boolean {
  if (operator === ">&") return true;
  return /^\/dev\/(?:null|stdout|stderr|fd\/\d+)$/.test(text);
}
