/** Set up around a whole run: creates the folder for recordings and validates them at the end. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { noteOtherFailure } from "../../../../scripts/testing/failed-files.ts";
import { RunFolder } from "../../../../scripts/testing/run-folder.ts";
import { showNode } from "../../../../scripts/testing/visible-node.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder in which tests record what they send and receive. */
    recordings: string;
  }
}

export default function checkRun(project: TestProject): () => Promise<void> {
  const folder = new RunFolder();
  showNode();
  const root = mkdtempSync(join(folder.path, "recordings-"));
  for (const name of ["recording", "preload"]) writeAsJavaScript(name, root);
  project.provide("recordings", root);
  return async () => {
    // The runner only shows errors that occur here.
    const { exitCode } = process;
    process.exitCode = 1;
    // Loaded late, because it needs the vocabulary and a validator.
    const { checkRecordings } = await import("./check-recordings.ts");
    const { describeOutcome, silentFiles } = await import("./describe-outcome.ts");
    const start = performance.now();
    const outcome = checkRecordings(root);
    const files = project.vitest.state.getTestModules().map((module) => ({
      path: module.moduleId,
      isComplete: [...module.children.allTests()].every((test) => test.result().state === "passed"),
    }));
    const { summary, problems } = describeOutcome(outcome, silentFiles(outcome, files));
    const { logger } = project.vitest;
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    if (outcome.counts.size > 0) logger.log(`${summary}\n   in ${seconds} s\n`);
    if (problems.length === 0) {
      process.exitCode = exitCode;
      return;
    }
    noteOtherFailure();
    folder.keep();
    logger.error(`${problems.join("\n\n")}\n\nThe recordings are in ${root}\n`);
  };
}

/** Compiled to JavaScript, which Node loads fastest: every process of every test loads it. */
function writeAsJavaScript(name: string, folder: string): void {
  const source = readFileSync(new URL(`${name}.ts`, import.meta.url), "utf8");
  const { emitWarning } = process;
  process.emitWarning = () => {};
  const code = stripTypeScriptTypes(source).replaceAll(/(from "\.\/\w+)\.ts"/g, '$1.mjs"');
  process.emitWarning = emitWarning;
  writeFileSync(join(folder, `${name}.mjs`), code);
}
