import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TranscriptSetup } from "./transcript.ts";

/** Folders and arguments of one host over a scripted model. */
export interface Place {
  readonly folder: string;
  readonly cwd: string;
  readonly arguments: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly remove: () => void;
}

const conformanceFile = (path: string) =>
  fileURLToPath(new URL(`../conformance/${path}`, import.meta.url));

export function makePlace(setup: Partial<TranscriptSetup> = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), "tau-host-"));
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "notes.txt"), "one\ntwo\n");
  for (const [path, text] of Object.entries(setup.files ?? {})) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const name of setup.extensions ?? []) {
    mkdirSync(join(folder, "agent/extensions"), { recursive: true });
    copyFileSync(conformanceFile(`extensions/${name}`), join(folder, "agent/extensions", name));
  }
  const given = setup.arguments ?? [];
  const scenario = join(folder, "scenario.json");
  writeFileSync(scenario, JSON.stringify(setup.scenario ?? []));
  const model = setup.model === undefined ? scenario : conformanceFile(`models/${setup.model}`);
  const isScripted = !given.includes("--model") && setup.files?.["agent/models.json"] === undefined;
  const scripted = isScripted ? ["--provider", "scripted", "--model", model] : [];
  const mode = given.includes("--mode") || given.includes("-p") ? [] : ["--mode", "rpc"];
  return {
    folder,
    cwd,
    arguments: [...mode, ...scripted, ...given],
    variables: {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      PI_CODING_AGENT_DIR: join(folder, "agent"),
      ...setup.environment,
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
