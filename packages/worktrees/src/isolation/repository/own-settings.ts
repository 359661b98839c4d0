import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Git, GitRequest } from "../../git/git.ts";

/**
 * Settings that define a repository or start something in the background, and the names of included
 * files: their content is copied, so it would count twice.
 */
const leftOut =
  /^(core\.(bare|worktree|repositoryformatversion|fsmonitor)|gc\.auto|maintenance\.auto|extensions\..*|include(if)?\..*)$/;

/** The extensions of a repository that also apply to its objects. */
const objectExtensions = new Set(["extensions.objectformat", "extensions.partialclone"]);

/**
 * The settings of an untrusted repository that are used: how files are stored, who commits, and
 * where remotes are. None of them names a program.
 */
const harmless = [
  /^core\.(abbrev|autocrlf|bigfilethreshold|checkroundtripencoding|checkstat|commentchar|compression|eol)$/,
  /^core\.(filemode|ignorecase|logallrefupdates|longpaths|precomposeunicode|protecthfs|protectntfs)$/,
  /^core\.(quotepath|safecrlf|sparsecheckout|sparsecheckoutcone|symlinks|trustctime|whitespace)$/,
  /^(user|author|committer)\.(name|email)$/,
  /^(branch\..*\.(remote|merge|rebase|description)|remote\..*\.(url|pushurl|fetch|promisor|partialclonefilter))$/,
  /^(i18n\.(commitencoding|logoutputencoding)|index\.(sparse|version)|lfs\.repositoryformatversion)$/,
  /^(init\.defaultbranch|merge\.(conflictstyle|renames)|pull\.(rebase|ff)|push\.default|submodule\..*\.(url|active|branch))$/,
];

/** Pattern files that may be read if they are regular files. */
const patternFiles = new Set(["core.attributesfile", "core.excludesfile"]);
const MAX_PATTERN_BYTES = 1024 * 1024;

const filterCommand = /^filter\.(.*)\.(?:clean|smudge|process)$/s;

interface Setting {
  /** Whether the setting is the repository's own instead of the user's. */
  readonly isOwn: boolean;
  readonly origin: string;
  /** Section, optional subsection and name, separated by dots. */
  readonly key: string;
  /** Undefined for a key without a value, which means true. */
  readonly value: string | undefined;
}

export interface OwnSettings {
  readonly text: string;
  /** The repository's own filters with commands, which were left out because it is not trusted. */
  readonly untrustedFilters: readonly string[];
}

/**
 * The `config` with which the repository `gitDir`, in another place, works like the one in
 * `request`: all settings that apply there but would not apply in `gitDir`. From an untrusted
 * repository, it includes only settings that cannot start a program.
 */
export async function ownSettings(
  git: Git,
  request: GitRequest,
  options: { gitDir: string; commonDir: string; isTrusted: boolean },
): Promise<OwnSettings> {
  const { gitDir, commonDir, isTrusted } = options;
  const all = await readSettings(git, request);
  const elsewhere = { ...request, location: { gitDir, workTree: request.cwd } };
  const general = new Set((await readSettings(git, elsewhere)).map(originOf));
  // Some of the user's general settings belong to it, too, if a condition on the folder includes them.
  const special = all.filter((setting) => !general.has(originOf(setting)));
  const extensions = all.filter(({ key }) => objectExtensions.has(key));
  const lines = [
    ...linesOf("core.repositoryformatversion", extensions.length > 0 ? "1" : "0"),
    ...linesOf("core.bare", "false"),
    ...extensions.flatMap(({ key, value }) => linesOf(key, value)),
  ];
  if (isTrusted && !all.some(({ key }) => key === "core.hookspath")) {
    lines.push(...linesOf("core.hooksPath", join(commonDir, "hooks")));
  }
  for (const setting of special) {
    if (leftOut.test(setting.key)) continue;
    const isFree = isTrusted || !setting.isOwn;
    const taken = isFree ? setting : await harmlessPart(setting, git, request.cwd);
    if (taken !== undefined) lines.push(...linesOf(taken.key, taken.value));
  }
  // No background process may run in a tree that is about to be removed.
  lines.push(...linesOf("core.fsmonitor", "false"), ...linesOf("gc.auto", "0"));
  lines.push(...linesOf("maintenance.auto", "false"));
  const untrustedFilters = isTrusted ? [] : filtersOfItsOwn(all);
  return { text: `${lines.join("\n")}\n`, untrustedFilters };
}

const originOf = ({ origin }: Setting): string => origin;

/** The part of a setting that can neither start a program nor hang git, if any. */
async function harmlessPart(setting: Setting, git: Git, cwd: string): Promise<Setting | undefined> {
  const { key, value } = setting;
  if (harmless.some((pattern) => pattern.test(key))) return setting;
  if (!patternFiles.has(key) || value === undefined) return undefined;
  const { homeDirectory } = git.environment;
  const file = value.startsWith("~/") ? join(homeDirectory, value.slice(2)) : resolve(cwd, value);
  const found = await stat(file).catch(() => undefined);
  const isShort = found?.isFile() === true && found.size <= MAX_PATTERN_BYTES;
  return isShort ? { ...setting, value: file } : undefined;
}

/** Filters whose commands the repository defines differently from the user. */
function filtersOfItsOwn(all: readonly Setting[]): string[] {
  const users = new Map<string, string | undefined>();
  for (const { isOwn, key, value } of all) if (!isOwn) users.set(key, value);
  const names = all.flatMap(({ isOwn, key, value }) => {
    const [, name] = filterCommand.exec(key) ?? [];
    const isNew = isOwn && value !== "" && users.get(key) !== value;
    return name !== undefined && isNew ? [name] : [];
  });
  return [...new Set(names)];
}

async function readSettings(git: Git, request: GitRequest): Promise<Setting[]> {
  const args = ["config", "--list", "--show-scope", "--show-origin", "-z"];
  const parts = (await git.run(args, request)).split("\0");
  const settings: Setting[] = [];
  for (let index = 0; index + 2 < parts.length; index += 3) {
    const [scope = "", origin = "", entry = ""] = parts.slice(index, index + 3);
    // Settings that this host passes to its own commands.
    if (scope === "command") continue;
    const end = entry.indexOf("\n");
    const [key = "", value] = end < 0 ? [entry] : [entry.slice(0, end), entry.slice(end + 1)];
    settings.push({ isOwn: scope !== "system" && scope !== "global", origin, key, value });
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
