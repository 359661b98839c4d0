/** The minimum that a program can do with a session file: read it and parse each line. */
import { readFileSync } from "node:fs";

let entries = 0;
for (const line of readFileSync(process.argv[2] ?? "", "utf8").split("\n")) {
  if (line !== "" && JSON.parse(line) !== null) entries += 1;
}
process.stdout.write(
  `${JSON.stringify({ type: "response", command: "get_state", success: true, entries })}\n`,
);
