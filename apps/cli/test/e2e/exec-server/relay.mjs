// Stands between a host and the program behind its options, which are JSON:
// {delayMs} holds each piece back, {dieAfter} ends both at once when the program has sent so many
// lines, {half} after half of the next one.
import { spawn } from "node:child_process";

const [, , given, file, ...args] = process.argv;
const { delayMs = 0, dieAfter = Number.POSITIVE_INFINITY, half = false } = JSON.parse(given);
const program = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
const later = (act) => (delayMs === 0 ? act() : setTimeout(act, delayMs));

process.stdin.on("data", (bytes) => later(() => program.stdin.write(bytes)));
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
  later(() => process.stdout.write(bytes));
});
program.stdout.on("end", () => later(() => process.exit()));
program.stdin.on("error", () => {});
