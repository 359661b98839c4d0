import { stripVTControlCharacters } from "node:util";
import { isJsonObject, parseObject } from "@tau-agent/rpc-protocol/plain";
import type { DiagnosticsFormat, FileProblem } from "@tau-agent/system";
import { plainMessage } from "./problem.ts";

type ReadLine = (line: string) => FileProblem | undefined;

/** The problems in a command's output, for all files; other lines are ignored. */
export function readOutput(output: string, format: DiagnosticsFormat = "gnu"): FileProblem[] {
  const read = readers[format];
  return stripVTControlCharacters(output)
    .split(/\r?\n/)
    .flatMap((line) => read(line) ?? []);
}

/**
 * `file:line:column: severity: message [code]`, and the variants of compilers, linters and shells: `a.sh: line 3:`. But
 * `bash: line 1:` refers to a command.
 */
const gnu =
  /^((?:[A-Za-z]:)?[^:\s][^:]*)(?::|(?<=\.\w+): line )(\d+)(?:[:.](\d+))?(?:-[\d.:]+)?:\s*(.+)$/;
const severity =
  /^(fatal error|error|warning|note|info|information|hint|style)\b\s*(?:\[([\w./-]+)\])?:?\s*/i;
/** The code precedes the message (ruff, pylint), or follows it in brackets (gcc, shellcheck). */
const codeBefore = /^([A-Z]{1,5}\d{2,5}):?\s+/;
const codeBehind = /\s*\[([\w@.+/-]+)\]$/;
/** `file(line,column): error TS2322: message`, or `file:line:column - error TS2322: message`. */
const tsc = /^(.+?)(?:\((\d+),(\d+)\):|:(\d+):(\d+) -) (error|warning|message) ([A-Z]+\d+): (.*)$/;

const readers: Readonly<Record<DiagnosticsFormat, ReadLine>> = {
  gnu(line) {
    const [, file = "", number, column, rest = ""] = gnu.exec(line) ?? [];
    if (number === undefined) return undefined;
    const [head = "", word, ownCode] = severity.exec(rest) ?? [];
    const said = rest.slice(head.length);
    const code = ownCode ?? codeBefore.exec(said)?.[1] ?? codeBehind.exec(said)?.[1];
    const message = said.replace(codeBefore, "").replace(codeBehind, "") || said;
    return problemOf({ file, line: number, column, severity: word, message, code });
  },
  tsc(line) {
    const [, file, line1, column1, line2, column2, word, code, message] = tsc.exec(line) ?? [];
    return problemOf({
      file,
      line: line1 ?? line2,
      column: column1 ?? column2,
      severity: word,
      message,
      code,
    });
  },
  "json-lines"(line) {
    const value = line.startsWith("{") ? parseObject(line) : undefined;
    return value && problemOf(value);
  },
};

function problemOf(found: unknown): FileProblem | undefined {
  if (!isJsonObject(found)) return undefined;
  const { file, message } = found;
  const line = Number(found.line ?? Number.NaN);
  const column = Number(found.column ?? Number.NaN);
  const isWhole = typeof file === "string" && file !== "" && typeof message === "string";
  if (!isWhole || !Number.isInteger(line) || line < 0) return undefined;
  const { code } = found;
  const word = severityOf(found.severity);
  return {
    file,
    line: Math.max(1, line),
    ...(Number.isInteger(column) && column > 0 && { column }),
    ...(word !== undefined && { severity: word }),
    message: plainMessage(message),
    ...((typeof code === "string" || typeof code === "number") && { code: String(code) }),
  };
}

function severityOf(word: unknown): FileProblem["severity"] {
  if (typeof word !== "string") return undefined;
  const name = word.toLowerCase();
  if (name.includes("error") || name === "fatal") return "error";
  if (name.startsWith("warn")) return "warning";
  return "information";
}
