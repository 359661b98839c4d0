// Relays between a host and the program after its options, which are JSON: {delayMs} delays each piece,
// {dieAfter} ends both sides after the program has sent so many lines, {half} does so after half of the next
// line, and {log} names a file that gets all lines as they are forwarded, with ">" before those to the
// program and "<" before those to the host.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [, , given, file, ...args] = process.argv;
const { delayMs = 0, dieAfter = Number.POSITIVE_INFINITY, half = false, log } = JSON.parse(given);
const program = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
const later = (act) => (delayMs === 0 ? act() : setTimeout(act, delayMs));

/** Incomplete lines, by direction. */
const rests = { ">": "", "<": "" };
function note(direction, bytes) {
  if (log === undefined) return;
  const lines = (rests[direction] + bytes).split("\n");
  rests[direction] = lines.pop();
  for (const line of lines) appendFileSync(log, `${direction}${line}\n`);
}

process.stdin.on("data", (bytes) => {
  note(">", bytes);
  later(() => program.stdin.write(bytes));
});
process.stdin.on("end", () => later(() => program.stdin.end()));

function die() {
  program.kill("SIGKILL");
  process.kill(process.pid, "SIGKILL");
}

let lines = 0;
program.stdout.on("data", (bytes) => {
  let from = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
    lines += 1;
    if (lines > dieAfter) {
      const middle = from + Math.ceil((end - from) / 2);
      process.stdout.write(bytes.subarray(0, half ? middle : from), die);
      program.stdout.destroy();
      return;
    }
    from = end + 1;
  }
  later(() => {
    note("<", bytes);
    process.stdout.write(bytes);
  });
});
program.stdout.on("end", () => later(() => process.exit()));
program.stdin.on("error", () => {});
