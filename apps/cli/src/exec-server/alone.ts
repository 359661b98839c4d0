// Must come first: the other modules use what Node 20 lacks.
import "./node-20.ts";
import { createLocalWorkspace } from "@tau-agent/system";
import { readExecServerOptions, readWords } from "./exec-server-options.ts";
import { serveExec } from "./serve-exec.ts";

function refuse(option: string, reason: string): never {
  process.stderr.write(`exec-server: error: Invalid option ${option}: ${reason}\n`);
  process.exit(2);
}

const words = readWords(process.argv.slice(2), refuse);
void serveExec(readExecServerOptions(words, process.cwd(), refuse), createLocalWorkspace);
