import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { dataFolder } from "../transcripts/data-folder.ts";
import type { TranscriptSetup } from "../transcripts/transcript.ts";

export interface Place {
  readonly folder: string;
  readonly cwd: string;
  readonly arguments: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly remove: () => void;
}

/** How a host finds its model: arguments, and files by path within the place's folder. */
export interface ModelSource {
  readonly arguments: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

const inherited = [
  ...["PATH", "LANG", "TMPDIR", "TEMP", "SystemRoot", "ComSpec", "PATHEXT"],
  // A host that runs on Node.js gets the same options as this process.
  "NODE_OPTIONS",
];

/** Whether the host needs a model; some transcripts configure their own, or none. */
function needsModel({ arguments: given = [], files = {} }: Partial<TranscriptSetup>): boolean {
  return !given.includes("--model") && files["agent/models.json"] === undefined;
}

/** A new folder with a home, an agent directory and a project, according to a transcript. */
export function makePlace(
  setup: Partial<TranscriptSetup> & { readonly dialect?: string },
  modelFor: (folder: string) => ModelSource,
): Place {
  const folder = mkdtempSync(join(tmpdir(), "tau-host-"));
  const cwd = join(folder, "project");
  const model = needsModel(setup) ? modelFor(folder) : { arguments: [], files: {} };
  const inFolder = (text: string) => text.replaceAll("{{folder}}", folder);
  const files = { "project/notes.txt": "one\ntwo\n", ...model.files, ...setup.files };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const name of setup.extensions ?? []) {
    mkdirSync(join(folder, "agent/extensions"), { recursive: true });
    const source = fileURLToPath(new URL(`extensions/${name}`, dataFolder));
    copyFileSync(source, join(folder, "agent/extensions", name));
  }
  if (setup.git) makeRepository(cwd);
  const { dialect = "pi" } = setup;
  return {
    folder,
    cwd,
    arguments: [...model.arguments, ...(setup.arguments ?? []).map(inFolder)],
    variables: {
      ...Object.fromEntries(
        inherited.flatMap((name) => {
          const value = process.env[name];
          return value === undefined ? [] : [[name, value]];
        }),
      ),
      HOME: folder,
      USERPROFILE: folder,
      PI_CODING_AGENT_DIR: join(folder, "agent"),
      ...(dialect === "pi" ? {} : { PI_RPC_PROTOCOL: dialect }),
      ...setup.environment,
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

function makeRepository(cwd: string): void {
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...words], {
      cwd,
      stdio: "ignore",
    });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
}
