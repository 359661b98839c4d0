import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Git, GitRequest } from "../../git/git.ts";

/**
 * Settings that define a repository or start something in the background, and the names of files
 * that git includes: the content of those is copied, and would count twice.
 */
const leftOut =
  /^(core\.(bare|worktree|repositoryformatversion|fsmonitor)|gc\.auto|maintenance\.auto|extensions\..*|include(if)?\..*)$/;

/** Of a repository's extensions those that its objects have, too. */
const objectExtensions = new Set(["extensions.objectformat", "extensions.partialclone"]);

/**
 * What counts of the configuration of a repository that nobody trusts: settings that say how files
 * are stored, who commits and where remotes are. None of them names a program.
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

/** Lists of patterns that may be read when they are plain files. */
const patternFiles = new Set(["core.attributesfile", "core.excludesfile"]);
const MAX_PATTERN_BYTES = 1024 * 1024;

const filterCommand = /^filter\.(.*)\.(?:clean|smudge|process)$/s;

interface Setting {
  /** Whether it is the repository's own and not the user's. */
  readonly isOwn: boolean;
  readonly origin: string;
  /** Section, subsection if any, name; with dots in between. */
  readonly key: string;
  /** Undefined where only the key stands, which means true. */
  readonly value: string | undefined;
}

export interface OwnSettings {
  readonly text: string;
  /** Filters with commands of the repository's own that were left out because it is not trusted. */
  readonly untrustedFilters: readonly string[];
}

/**
 * The `config` with which the repository `gitDir` works as the one in `request` does, although it
 * stands elsewhere: what counts there and does not count in `gitDir` by itself. Of a repository that
 * is not trusted only settings that cannot start a program count.
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
  // Included by a condition on the folder, some of the user's general settings count as well.
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

/** A setting that cannot start a program or hang, if it is one. */
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

/** Filters whose commands the repository itself defines, in other words than the user. */
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
    // What this host itself says for its own commands.
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
