// Loads each module of a built package, those that wait for their first use too: what one of them lacks
// of a package or of Node.js shows here. A command runs meanwhile, and must not end before.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.env.LOAD_ALL;
// The exec server is a program of its own: it would serve this process.
const files = readdirSync(folder).filter(
  (file) => file.endsWith(".js") && file !== "exec-server.js",
);
for (const file of files) await import(pathToFileURL(join(folder, file)).href);
process.stderr.write(`loaded ${files.length}\n`);
