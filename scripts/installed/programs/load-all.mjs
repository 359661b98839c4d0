// Loads every module of a built package, including those that are normally loaded on first use, to detect
// missing dependencies or missing Node.js features. A command runs meanwhile and must not end earlier.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.env.LOAD_ALL;
// The exec server is a separate program: loaded here, it would serve this process.
const files = readdirSync(folder).filter(
  (file) => file.endsWith(".js") && file !== "exec-server.js",
);
for (const file of files) await import(pathToFileURL(join(folder, file)).href);
process.stderr.write(`loaded ${files.length}\n`);
