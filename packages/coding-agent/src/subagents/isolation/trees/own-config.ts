import { join } from "node:path";
import type { Git } from "../repository/git.ts";
import type { Repository } from "../repository/repository.ts";

/**
 * Settings not to copy: those that define a repository or start background work, and the names of
 * included files, whose content is copied already.
 */
const leftOut =
  /^(core\.(bare|worktree|repositoryformatversion|fsmonitor)|gc\.auto|maintenance\.auto|extensions\..*|include(if)?\..*)$/;

/** Repository extensions that also apply to its objects. */
const objectExtensions = new Set(["extensions.objectformat", "extensions.partialclone"]);

interface Setting {
  /** The file that sets it. */
  readonly origin: string;
  /** Section, subsection if any, name; with dots in between. */
  readonly key: string;
  /** Undefined if only the key is given, which means true. */
  readonly value: string | undefined;
}

/**
 * The text of a `config` that makes the repository `gitDir` behave like the caller's although it is
 * elsewhere: all settings that apply there but would not apply here.
 */
export async function ownConfig(
  git: Git,
  { root: cwd, location, commonDir }: Repository,
  gitDir: string,
): Promise<string> {
  const all = await readSettings(git, { cwd, location });
  const own = { gitDir, workTree: cwd };
  const general = new Set((await readSettings(git, { cwd, location: own })).map(originOf));
  // `includeIf` can make further files of the user apply to this folder.
  const special = all.filter((setting) => !general.has(originOf(setting)));
  const extensions = all.filter(({ key }) => objectExtensions.has(key));
  const lines = [
    ...linesOf("core.repositoryformatversion", extensions.length > 0 ? "1" : "0"),
    ...linesOf("core.bare", "false"),
    ...extensions.flatMap(({ key, value }) => linesOf(key, value)),
  ];
  if (!all.some(({ key }) => key === "core.hookspath")) {
    lines.push(...linesOf("core.hooksPath", join(commonDir, "hooks")));
  }
  for (const { key, value } of special) {
    if (!leftOut.test(key)) lines.push(...linesOf(key, value));
  }
  // Nothing may work on in a tree that is about to be removed.
  lines.push(...linesOf("core.fsmonitor", "false"), ...linesOf("gc.auto", "0"));
  lines.push(...linesOf("maintenance.auto", "false"));
  return `${lines.join("\n")}\n`;
}

const originOf = ({ origin }: Setting): string => origin;

async function readSettings(git: Git, request: Parameters<Git["run"]>[1]): Promise<Setting[]> {
  const output = await git.run(["config", "--list", "--show-origin", "-z"], request);
  const parts = output.split("\0");
  const settings: Setting[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [origin = "", entry = ""] = [parts[index], parts[index + 1]];
    // What this host itself says for its own commands.
    if (origin.startsWith("command line")) continue;
    const end = entry.indexOf("\n");
    const [key, value] = end < 0 ? [entry] : [entry.slice(0, end), entry.slice(end + 1)];
    settings.push({ origin, key: key ?? "", value });
  }
  return settings;
}

function linesOf(key: string, value: string | undefined): string[] {
  const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
  const section = key.slice(0, first);
  const subsection = first === last ? "" : ` ${quoted(key.slice(first + 1, last))}`;
  const name = key.slice(last + 1);
  return [
    `[${section}${subsection}]`,
    `\t${name}${value === undefined ? "" : ` = ${quoted(value)}`}`,
  ];
}

function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return `"${escaped.replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
}
