#!/usr/bin/env node
// Plain JavaScript that any Node can parse: it must be able to say that the Node is too old.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `tau-worker: error: Node.js 22.19 or newer is needed; this is ${process.versions.node}. Install a newer Node.js and try again.\n`,
  );
  process.exitCode = 1;
} else {
  const { main } = await import("../dist/main.js");
  await main(process.argv.slice(2));
}
