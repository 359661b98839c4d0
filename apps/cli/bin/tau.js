#!/usr/bin/env node
// Plain JavaScript that any Node can parse: it must be able to say that the Node is too old.
import module from "node:module";
import { fileURLToPath } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `tau: error: Node.js 22.19 or newer is needed; this is ${process.versions.node}. Install a newer Node.js and try again.\n`,
  );
  process.exitCode = 1;
} else {
  keepCompiledCode();
  await import("../dist/cli.js");
}

/**
 * Next to the program, else in Node's own place: compiling again would double the start-up time.
 */
function keepCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE !== undefined || module.enableCompileCache === undefined)
    return;
  const beside = fileURLToPath(new URL("../.compile-cache", import.meta.url));
  const { status } = module.enableCompileCache(beside);
  if (status === module.constants.compileCacheStatus.FAILED) module.enableCompileCache();
}
