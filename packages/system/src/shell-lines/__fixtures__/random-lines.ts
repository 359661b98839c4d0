import fc from "fast-check";
import { hiddenCommands } from "./hidden-commands.ts";
import { shellLines } from "./shell-lines.ts";
import { typedLines } from "./typed-lines.ts";

/** Characters with a special meaning in bash, and a few that might have one. */
const marks = [
  ..." ;&|<>()[]{}$`'\"\\!#*?~=+-@%^:,./0129\n\t\r\f\v\u00a0é_aC".split(""),
  ...["$(", "${", "$((", "))", "$'", '$"', "<(", ">(", "<<", "<<-", "<<<", "&>", ">&", ">|", "<>", "&&", "||", "|&", ";;"],
  ...["\\\n", "\n\n", "${x", "}", "$x", "${x}", "$HOME", "$1", "$@", "$_", "$?", "$$", "$!", "@P}", ":-", ":=", "[$(touch C)]"],
  ...["$(touch C)", "`touch C`", "<(touch C)", "a[$(touch C)]", "'a[$(touch C)]'", "; touch C", "\ntouch C\n", "touch C"],
  ...["E", "<<E", "<<'E'", '<<"E"', "\nE\n", "<<\\E", "<<E'", "{fd}>", "2>&1", "9>", "3<&-", "=(", "+=(", "a=", "CI=1 ", "x=1 "],
];

/** Words with a meaning of their own, and programs that run others. */
const words = [
  ...["if", "then", "else", "fi", "for", "in", "do", "done", "while", "case", "esac", "select", "function", "time", "!", "[[", "]]"],
  ...["echo", "printf", "test", "[", "]", "cd", "exec", "command", "builtin", "eval", "set", "export", "declare", "read", "unset"],
  ...["env", "nice", "nohup", "timeout 5", "setsid", "xargs", "find . -exec", "{} +", "{} \\;", "sh -c", "bash -c", "bash", "sudo"],
  ...["ls", "cat", "git status", "rm", "touch C", "-v", "-n", "-c", "-e", "--", "-", "-I {}", "-x", "-eq 0", "-a", "a b", "C", "f", "%n"],
];

const known = [
  ...hiddenCommands,
  ...typedLines,
  ...Object.values(shellLines).flatMap((rows) => rows.map(({ line }) => line)),
];

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...marks) },
  { weight: 2, arbitrary: fc.constantFrom(...words).map((word) => ` ${word} `) },
  { weight: 1, arbitrary: fc.constantFrom(...words, ...known) },
);

const quotedPiece = fc
  .tuple(piece, fc.constantFrom("'", '"', "", "\\"))
  .map(([text, quote]) => (quote === "\\" ? `\\${text}` : `${quote}${text}${quote}`));

/** A known line with some parts replaced, perhaps nested in another line. */
const changed = fc
  .tuple(
    fc.constantFrom(...known),
    fc.array(fc.tuple(fc.nat(1000), fc.nat(2), quotedPiece), { minLength: 1, maxLength: 3 }),
  )
  .map(([line, changes]) => {
    let text = line;
    for (const [place, removed, added] of changes) {
      const at = place % (text.length + 1);
      text = text.slice(0, at) + added + text.slice(at + removed);
    }
    return text;
  });

/** Words of all kinds, in the order of a command. */
const composed = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...words) },
      { weight: 3, arbitrary: quotedPiece },
      { weight: 2, arbitrary: fc.constantFrom("&&", "||", ";", "|", "\n", "&", "> f", "2>&1", "< f") },
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(" "));

const single = fc.oneof({ weight: 3, arbitrary: changed }, { weight: 2, arbitrary: composed });

/** Lines that try to make the judge see something other than bash does. */
export const randomLine: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: single },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("bash -c", "sh -c", "env CI=1 bash -c", "xargs sh -c"), single)
      .map(([shell, line]) => `${shell} '${line.replaceAll("'", "'\\''")}'`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(single, fc.constantFrom("&&", ";", "|", "\n", "||"), single)
      .map(([left, operator, right]) => `${left} ${operator} ${right}`),
  },
);
