// Stands between a host and the program behind its options, which are JSON:
// {delayMs} holds each piece back, {dieAfter} ends both at once when the program has sent so many
// lines, {half} after half of the next one, {log} names a file of all lines: ">" before those to the program,
// "<" before those to the host, when they leave.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [, , given, file, ...args] = process.argv;
const { delayMs = 0, dieAfter = Number.POSITIVE_INFINITY, half = false, log } = JSON.parse(given);
const program = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
const later = (act) => (delayMs === 0 ? act() : setTimeout(act, delayMs));

/** Ends of lines that are still to come, by direction. */
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
