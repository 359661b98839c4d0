import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer as createTcpServer, type Server } from "node:net";
import { createSocket } from "node:dgram";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxPolicy } from "../policy/sandbox-settings.ts";
import type { SandboxedPlace } from "./sandboxed-place.ts";

/** A way for a command to get out of the sandbox, or to have something done outside. */
export interface Escape {
  readonly policy?: (place: SandboxedPlace) => Partial<SandboxPolicy>;
  /** Prepares the place; the returned resource is disposed of with the test. */
  readonly prepare?: (place: SandboxedPlace, id: string) => Promise<(() => void) | undefined> | (() => void) | undefined;
  /** Lines of bash that run one after the other, each in a separate call. */
  readonly lines: (place: SandboxedPlace, id: string) => readonly string[];
  /** Whether the escape succeeded. */
  readonly worked: (place: SandboxedPlace, output: string, id: string) => boolean | Promise<boolean>;
}

const secret = "the-secret";
const sees = (_: SandboxedPlace, output: string) => output.includes(secret);
const isTouched = (place: SandboxedPlace) =>
  !existsSync(join(place.outside, "file")) || readFileSync(join(place.outside, "file"), "utf8") !== "untouched";
const hasNew = (place: SandboxedPlace) => existsSync(join(place.outside, "new"));

/** Lines that change the file outside. */
const touches = (line: (outside: string) => string, prepare?: Escape["prepare"]): Escape => ({
  ...(prepare && { prepare }),
  lines: (place) => [line(place.outside)],
  worked: isTouched,
});

/** Lines that make `new` outside. */
const makes = (line: (outside: string) => string): Escape => ({
  lines: (place) => [line(place.outside)],
  worked: hasNew,
});

/** Lines that leave a file in a folder of the machine; the file is removed afterwards. */
const plants = (folder: string): Escape => ({
  prepare: (_, id) => () => rmSync(join(folder, id), { force: true }),
  lines: (_, id) => [`echo x > ${join(folder, id)}`],
  worked: (_, __, id) => existsSync(join(folder, id)),
});

/** Lines that change what runs later in the project. */
const changes = (
  line: string,
  path: string,
  worked: (content: string) => boolean = (content) => content.includes("evil"),
  prepare?: Escape["prepare"],
): Escape => ({
  ...(prepare && { prepare }),
  lines: () => [line],
  worked: ({ project }) => {
    const file = join(project, path);
    return existsSync(file) && statSync(file).isFile() && worked(readFileSync(file, "utf8"));
  },
});

const reads = (line: (place: SandboxedPlace) => string, prepare?: Escape["prepare"]): Escape => ({
  ...(prepare && { prepare }),
  lines: (place) => [line(place)],
  worked: sees,
});

function keep(place: SandboxedPlace, name: string): undefined {
  mkdirSync(join(place.home, "private"), { recursive: true });
  writeFileSync(join(place.home, "private", name), secret);
}

const denied: Escape["policy"] = () => ({ denyRead: ["~/private"] });

/** A program of the user that runs beside the host, with a secret in its environment. */
function neighbour(place: SandboxedPlace, id: string): () => void {
  const child = spawn("sleep", ["60"], { env: { ID: id, SECRET: secret }, cwd: place.outside });
  writeFileSync(join(place.project, "pid"), String(child.pid));
  return () => child.kill("SIGKILL");
}

function isGone(place: SandboxedPlace): boolean {
  const pid = Number(readFileSync(join(place.project, "pid"), "utf8"));
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
}

async function listening(address: string | number): Promise<Server> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.end(secret);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (typeof address === "number") server.listen(address, "127.0.0.1", resolve);
    else server.listen(address, resolve);
  });
  return server;
}

const portFile = (place: SandboxedPlace) => join(place.project, "port");

async function withPort(place: SandboxedPlace): Promise<() => void> {
  const server = await listening(0);
  const address = server.address();
  writeFileSync(portFile(place), String(typeof address === "object" ? address?.port : ""));
  return () => server.close();
}

const connectTo = (path: string) =>
  `${process.execPath} -e 'require("net").connect(process.argv[1].replace("@", "\\0")).on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))' '${path}'`;

/** A socket in the file system, named in a variable as many programs do. */
const talks = (at: (place: SandboxedPlace, id: string) => string, variable?: string, prefix = ""): Escape => ({
  prepare: async (place, id) => {
    const path = at(place, id);
    const server = await listening(path.replace("@", "\0"));
    if (variable !== undefined) place.environment[variable] = prefix + path;
    return () => server.close();
  },
  lines: (place, id) => [connectTo(at(place, id))],
  worked: sees,
});

function bareProject(place: SandboxedPlace): undefined {
  rmSync(join(place.project, ".git"), { recursive: true });
  place.git("init", "--quiet", "--bare", ".");
}

/** Makes the project a repository whose settings run a program when the user inspects it. */
const runsGit = (line: string, prepare?: Escape["prepare"]): Escape => ({
  ...(prepare && { prepare }),
  lines: () => [`${line} && git config --file config core.fsmonitor "touch ../../outside/new; false"`],
  worked: (place) => {
    try {
      place.git("status");
    } catch {
      // The folder may not be a repository at all.
    }
    return hasNew(place);
  },
});

function addSubmodule(place: SandboxedPlace): undefined {
  const module = join(place.project, ".git", "modules", "lib", "x");
  mkdirSync(join(module, "hooks"), { recursive: true });
  writeFileSync(join(module, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(module, "config"), "[core]\n");
}

/** Escapes that every sandbox has to withstand. Each one works without a sandbox. */
export const escapes: Readonly<Record<string, Escape>> = {
  // Writing elsewhere
  "a redirection to an absolute path": touches((out) => `echo evil > ${out}/file`),
  "a redirection to a relative path": touches(() => "echo evil > ../../outside/file"),
  "a change of the folder": touches((out) => `cd ${out} && echo evil > file`),
  "a subshell in another folder": touches((out) => `(cd / && echo evil > ${out}/file)`),
  "a link to a file": touches((out) => `ln -s ${out}/file link && echo evil > link`),
  "a link to a folder": touches((out) => `ln -s ${out} link && echo evil > link/file`),
  "a dangling link": makes((out) => `ln -s ${out}/new link && echo evil > link`),
  "a chain of links": touches((out) => `ln -s ${out} a && ln -s a b && echo evil > b/../outside/file`),
  "a hard link": touches((out) => `ln ${out}/file hard && echo evil > hard`),
  "a move to the outside": makes((out) => `echo x > f && mv f ${out}/new`),
  "a copy to the outside": makes((out) => `echo x > f && cp f ${out}/new`),
  "a removal": touches((out) => `rm -f ${out}/file`),
  "a removal of the folder": touches((out) => `rm -rf ${out}`),
  "a rename outside": touches((out) => `mv ${out}/file ${out}/other`),
  "an exchange of the folder": touches((out) => `mv ${out} ${out}.old`),
  "tee": touches((out) => `echo evil | tee -a ${out}/file`),
  "dd": touches((out) => `echo evil | dd of=${out}/file`),
  "truncate": touches((out) => `truncate -s 0 ${out}/file`),
  "sed in place": touches((out) => `sed -i s/untouched/evil/ ${out}/file`),
  "perl": touches((out) => `perl -e 'open F, ">", "${out}/file"; print F "evil"'`),
  "Node": touches((out) => `${process.execPath} -e 'require("fs").writeFileSync("${out}/file", "evil")'`),
  "tar": makes((out) => `echo x > new && tar -cf - new | tar -C ${out} -xf -`),
  "git in another folder": makes((out) => `git init --quiet ${out}/new`),
  "a clone": makes((out) => `git clone --quiet . ${out}/new`),
  "a work tree": makes((out) => `git worktree add --quiet --detach ${out}/new`),
  "a folder": makes((out) => `mkdir ${out}/new`),
  "a pipe": makes((out) => `mkfifo ${out}/new`),
  "a link made outside": makes((out) => `ln -s /etc/passwd ${out}/new`),
  "a change of the mode": {
    lines: ({ outside }) => [`chmod 777 ${outside}/file`],
    worked: ({ outside }) => (statSync(join(outside, "file")).mode & 0o777) === 0o777,
  },
  "a change of the time": {
    lines: ({ outside }) => [`touch -d 2001-01-01 ${outside}/file`],
    worked: ({ outside }) => statSync(join(outside, "file")).mtime.getFullYear() === 2001,
  },
  "the shell's startup file": {
    lines: () => ["echo evil >> ~/.bashrc"],
    worked: ({ home }) => existsSync(join(home, ".bashrc")),
  },
  "the agent's settings": {
    lines: () => ["echo evil > ~/.pi/agent/settings.json"],
    worked: ({ agentDirectory }) => readFileSync(join(agentDirectory, "settings.json"), "utf8").includes("evil"),
  },
  "an extension of the agent": {
    lines: () => ["mkdir -p ~/.pi/agent/extensions && echo evil > ~/.pi/agent/extensions/x.ts"],
    worked: ({ agentDirectory }) => existsSync(join(agentDirectory, "extensions", "x.ts")),
  },
  "an exchange of the agent's folder": {
    lines: () => ["mv ~/.pi ~/.old && mkdir -p ~/.pi/agent"],
    worked: ({ home }) => existsSync(join(home, ".old")),
  },
  "the system's settings": plants("/etc"),
  "a program on the path": plants("/usr/local/bin"),
  "the other folder for temporary files": plants("/var/tmp"),
  "the folder for temporary files": plants("/tmp"),
  "shared memory": plants("/dev/shm"),

  // Code that runs later
  "a hook of git": changes("echo evil > .git/hooks/post-checkout", ".git/hooks/post-checkout"),
  "hooks that are not there": changes(
    "mkdir -p .git/hooks && echo evil > .git/hooks/post-checkout",
    ".git/hooks/post-checkout",
    undefined,
    ({ project }) => void rmSync(join(project, ".git", "hooks"), { recursive: true }),
  ),
  "exchanged hooks": changes(
    "mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/post-checkout",
    ".git/hooks/post-checkout",
  ),
  "a setting of git": changes("git config core.fsmonitor evil", ".git/config"),
  "a setting written by hand": changes("echo '[core]evil' >> .git/config", ".git/config"),
  "an alias of git": changes("git config alias.st '!evil'", ".git/config"),
  "a filter of git": changes("git config filter.x.clean evil", ".git/config"),
  "another folder for hooks": changes("git config core.hooksPath evil", ".git/config"),
  "hooks in the project": changes(
    "echo evil > githooks/pre-commit",
    "githooks/pre-commit",
    undefined,
    (place) => {
      mkdirSync(join(place.project, "githooks"));
      place.git("config", "core.hooksPath", "githooks");
      return undefined;
    },
  ),
  "hooks in the project that are not there": changes(
    "mkdir -p .husky/_ && echo evil > .husky/_/pre-commit",
    ".husky/_/pre-commit",
    undefined,
    (place) => void place.git("config", "core.hooksPath", ".husky/_"),
  ),
  "what husky's hooks run": changes(
    "echo evil > .husky/pre-commit",
    ".husky/pre-commit",
    undefined,
    (place) => {
      mkdirSync(join(place.project, ".husky", "_"), { recursive: true });
      place.git("config", "core.hooksPath", ".husky/_");
      return undefined;
    },
  ),
  "settings that git includes": changes(
    "echo evil >> .gitconfig",
    ".gitconfig",
    undefined,
    (place) => {
      writeFileSync(join(place.project, ".gitconfig"), "[alias]\n\tst = status\n");
      place.git("config", "include.path", "../.gitconfig");
      return undefined;
    },
  ),
  "a setting of a bare repository": changes(
    "git config core.fsmonitor evil",
    "config",
    undefined,
    bareProject,
  ),
  "a hook of a bare repository": changes(
    "mkdir -p hooks && echo evil > hooks/post-update",
    "hooks/post-update",
    undefined,
    bareProject,
  ),
  "a repository without .git": runsGit(
    "git init --quiet --bare . && git config core.bare false && git config core.worktree .",
    ({ project }) => void rmSync(join(project, ".git"), { recursive: true }),
  ),
  "a repository beside a broken one": runsGit(
    "mv .git/HEAD .git/objects .git/refs . && echo ref: refs/heads/main > HEAD && git config --file config core.repositoryformatversion 0 && git config --file config core.bare false && git config --file config core.worktree .",
  ),
  "settings of the work tree": changes("echo evil > .git/config.worktree", ".git/config.worktree"),
  "another common folder": changes("echo ../evil > .git/commondir", ".git/commondir"),
  "an exchanged repository": changes(
    "mv .git .old; git init --quiet && echo evil > .git/hooks/post-checkout",
    ".git/hooks/post-checkout",
  ),
  "a repository where there is none": changes(
    "git init --quiet && echo evil > .git/config",
    ".git/config",
    undefined,
    ({ project }) => void rmSync(join(project, ".git"), { recursive: true }),
  ),
  "an entry for a work tree": changes(
    "mkdir -p .git/worktrees/x && echo evil > .git/worktrees/x/gitdir",
    ".git/worktrees/x/gitdir",
  ),
  "settings of a submodule": changes(
    "echo evil >> .git/modules/lib/x/config",
    ".git/modules/lib/x/config",
    undefined,
    addSubmodule,
  ),
  "a hook of a submodule": changes(
    "echo evil > .git/modules/lib/x/hooks/post-checkout",
    ".git/modules/lib/x/hooks/post-checkout",
    undefined,
    addSubmodule,
  ),
  "an exchanged submodule": changes(
    "mv .git/modules/lib .git/modules/old; mkdir -p .git/modules/lib/x; echo evil > .git/modules/lib/x/config",
    ".git/modules/lib/x/config",
    undefined,
    addSubmodule,
  ),
  "a submodule that is not there": changes(
    "mkdir -p .git/modules/new && echo evil > .git/modules/new/config",
    ".git/modules/new/config",
  ),
  "a file that names the repository": changes(
    "echo 'gitdir: evil' > .git",
    ".git",
    undefined,
    ({ project, outside }) => {
      renameSync(join(project, ".git"), join(outside, "git"));
      writeFileSync(join(project, ".git"), `gitdir: ${outside}/git\n`);
      return undefined;
    },
  ),
  "a link to the repository": {
    prepare: ({ project, outside }) => {
      renameSync(join(project, ".git"), join(outside, "git"));
      symlinkSync(join(outside, "git"), join(project, ".git"));
      return undefined;
    },
    lines: () => ["rm .git && mkdir -p .git/hooks && echo evil > .git/hooks/post-checkout"],
    worked: ({ project, outside }) =>
      !lstatSync(join(project, ".git")).isSymbolicLink() ||
      readlinkSync(join(project, ".git")) !== join(outside, "git"),
  },
  "a link to hooks": changes(
    "rm .git/hooks && mkdir .git/hooks && echo evil > .git/hooks/post-checkout",
    ".git/hooks/post-checkout",
    undefined,
    ({ project }) => {
      renameSync(join(project, ".git", "hooks"), join(project, ".git", "own-hooks"));
      symlinkSync("own-hooks", join(project, ".git", "hooks"));
      return undefined;
    },
  ),
  "an extension of the project": changes(
    "mkdir -p .pi/extensions && echo evil > .pi/extensions/x.ts",
    ".pi/extensions/x.ts",
  ),
  "settings of the project": changes(
    "echo evil > .pi/settings.json",
    ".pi/settings.json",
    undefined,
    ({ project }) => void mkdirSync(join(project, ".pi")),
  ),
  "an exchange of the project's settings": changes(
    "mv .pi .old; mkdir .pi; echo evil > .pi/settings.json",
    ".pi/settings.json",
    undefined,
    ({ project }) => void mkdirSync(join(project, ".pi")),
  ),
  "an MCP server": changes("echo evil > .mcp.json", ".mcp.json"),
  "an exchanged MCP server": changes(
    "echo evil > x && mv -f x .mcp.json",
    ".mcp.json",
    undefined,
    ({ project }) => writeFileSync(join(project, ".mcp.json"), "{}") as undefined,
  ),

  // Reading
  "the keys": reads(({ agentDirectory }) => `cat ${agentDirectory}/auth.json`),
  "a copy of the keys": reads(() => "cp ~/.pi/agent/auth.json x; cat x"),
  "a link to the keys": reads(() => "ln -s ~/.pi/agent/auth.json x; cat x"),
  "a hard link to the keys": reads(() => "ln ~/.pi/agent/auth.json x; cat x"),
  "a search for the keys": reads(() => "grep -rh secret ~/.pi"),
  "an archive of the keys": reads(() => "tar -cf - -C ~ .pi | tar -xOf -"),
  "the keys by the root of another process": reads(
    ({ agentDirectory }) => `cat /proc/$PPID/root${agentDirectory}/auth.json`,
  ),
  "keys of models": reads(
    () => "cat ~/.pi/agent/models.json",
    ({ agentDirectory }) => writeFileSync(join(agentDirectory, "models.json"), secret) as undefined,
  ),
  "tokens for MCP servers": reads(
    () => "cat ~/.pi/agent/mcp.json",
    ({ agentDirectory }) => writeFileSync(join(agentDirectory, "mcp.json"), secret) as undefined,
  ),
  "keys of models that are kept elsewhere": reads(
    () => "cat ~/dotfiles/models.json",
    ({ agentDirectory, home }) => {
      mkdirSync(join(home, "dotfiles"));
      writeFileSync(join(home, "dotfiles", "models.json"), secret);
      symlinkSync(join(home, "dotfiles", "models.json"), join(agentDirectory, "models.json"));
      return undefined;
    },
  ),
  "keys of MCP servers": reads(
    () => "cat ~/.pi/agent/mcp-auth.json",
    ({ agentDirectory }) => writeFileSync(join(agentDirectory, "mcp-auth.json"), secret) as undefined,
  ),
  "the token of the listener": reads(
    () => "cat ~/.pi/agent/rpc-token",
    ({ agentDirectory }) => writeFileSync(join(agentDirectory, "rpc-token"), secret) as undefined,
  ),
  "the token of the listener in a file elsewhere": reads(
    () => "cat ~/tokens/listener",
    ({ home, keyFiles }) => {
      mkdirSync(join(home, "tokens"));
      writeFileSync(join(home, "tokens", "listener"), secret);
      keyFiles.push(join(home, "tokens", "listener"));
      return undefined;
    },
  ),
  "keys that are stored while it runs": {
    prepare: ({ agentDirectory }) => {
      rmSync(join(agentDirectory, "auth.json"));
      const timer = setTimeout(() => writeFileSync(join(agentDirectory, "auth.json"), secret), 300);
      return () => clearTimeout(timer);
    },
    lines: () => ["for i in 1 2 3 4 5 6 7 8 9 10; do cat ~/.pi/agent/auth.json 2>/dev/null; sleep 0.1; done"],
    worked: sees,
  },
  "a closed file": {
    policy: () => ({ denyRead: ["~/private/key"] }),
    prepare: (place) => keep(place, "key"),
    lines: () => ["cat ~/private/key"],
    worked: sees,
  },
  "a closed folder": {
    policy: denied,
    prepare: (place) => keep(place, "key"),
    lines: () => ["cat ~/private/*; grep -rh . ~/private"],
    worked: sees,
  },
  "a closed folder in the project that is renamed": {
    policy: () => ({ denyRead: ["config/private"] }),
    prepare: ({ project }) => {
      mkdirSync(join(project, "config", "private"), { recursive: true });
      writeFileSync(join(project, "config", "private", "key"), secret);
      return undefined;
    },
    lines: () => ["mv config other", "cat config/private/key other/private/key"],
    worked: sees,
  },
  "a closed file in the project that is linked": {
    policy: () => ({ denyRead: ["key"] }),
    prepare: ({ project }) => writeFileSync(join(project, "key"), secret) as undefined,
    lines: () => ["ln key other; mv key third; true", "cat other third"],
    worked: sees,
  },

  // Processes
  "a signal to a program outside": {
    prepare: neighbour,
    lines: () => ["kill -9 $(cat pid)"],
    worked: async (place) => {
      await sleep(50);
      return isGone(place);
    },
  },
  "the environment of a program outside": {
    prepare: neighbour,
    lines: () => ["tr '\\0' '\\n' < /proc/$(cat pid)/environ"],
    worked: sees,
  },
  "the folder of a program outside": {
    prepare: neighbour,
    lines: () => ["echo evil > /proc/$(cat pid)/cwd/file"],
    worked: isTouched,
  },
  "the memory of a program outside": {
    prepare: neighbour,
    lines: () => [
      `${process.execPath} -e '
const fs = require("fs");
const pid = fs.readFileSync("pid", "utf8");
const [, from] = /^(\\w+)-\\w+ .*\\[stack\\]/m.exec(fs.readFileSync("/proc/" + pid + "/maps", "utf8"));
const memory = fs.openSync("/proc/" + pid + "/mem", "r");
const bytes = Buffer.alloc(136 * 1024);
try { for (let at = 0; ; at += 4096) fs.readSync(memory, bytes, at, 4096, parseInt(from, 16) + at); } catch {}
console.log(bytes.toString("latin1").match(/the-secret/)?.[0]);'`,
    ],
    worked: sees,
  },
  "a list of all processes": {
    prepare: neighbour,
    lines: () => ['for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ; done 2>/dev/null'],
    worked: sees,
  },
  "a child that outlives its call": {
    lines: ({ project }) => [`(sleep 0.5; touch ${project}/late) >/dev/null 2>&1 &`],
    worked: async ({ project }) => {
      await sleep(1_000);
      return existsSync(join(project, "late"));
    },
  },
  "a child in a session of its own": {
    lines: ({ project }) => [`setsid -f sh -c 'sleep 0.5; touch ${project}/late' >/dev/null 2>&1 </dev/null`],
    worked: async ({ project }) => {
      await sleep(1_000);
      return existsSync(join(project, "late"));
    },
  },
  "a queue of messages": {
    lines: () => ["ipcmk -Q"],
    worked: (_, output) => {
      const id = /\d+$/.exec(output.trim())?.[0];
      if (id === undefined) return false;
      try {
        execFileSync("/usr/bin/ipcrm", ["-q", id], { stdio: "ignore" });
        return true;
      } catch {
        return false;
      }
    },
  },
  "namespaces of its own": {
    lines: ({ outside }) => [
      `unshare -Urm sh -c 'mount -o remount,rw /; mount -o remount,rw,bind ${outside}; umount -l ${outside}; echo evil > ${outside}/file'`,
    ],
    worked: isTouched,
  },
  "namespaces that take closed mounts away": {
    policy: denied,
    prepare: (place) => keep(place, "key"),
    lines: () => ["unshare -Urm sh -c 'umount -l ~/private; mount -o remount,rw ~/private; cat ~/private/key'"],
    worked: sees,
  },

  // The network
  "a port of this machine": {
    prepare: withPort,
    lines: () => ["exec 3<>/dev/tcp/127.0.0.1/$(cat port); cat <&3"],
    worked: sees,
  },
  "a datagram": {
    prepare: (place) =>
      new Promise((resolve) => {
        const socket = createSocket("udp4");
        socket.on("message", () => writeFileSync(join(place.outside, "new"), ""));
        socket.bind(0, "127.0.0.1", () => {
          writeFileSync(portFile(place), String(socket.address().port));
          resolve(() => socket.close());
        });
      }),
    lines: () => ["echo the-secret.example.com > /dev/udp/127.0.0.1/$(cat port); sleep 0.1"],
    worked: async (place) => {
      await sleep(100);
      return hasNew(place);
    },
  },
  "a socket in the home folder": talks(({ home }) => join(home, "s")),
  "a socket in the project": talks(({ project }) => join(project, "s")),
  "a socket in the folder for temporary files": talks((_, id) => `/tmp/${id}`),
  "a socket without a file": talks((_, id) => `@${id}`),
  "the SSH agent": talks(({ outside }) => join(outside, "agent"), "SSH_AUTH_SOCK"),
  "Docker": talks(({ outside }) => join(outside, "docker.sock"), "DOCKER_HOST", "unix://"),
  "the session bus": talks(({ outside }) => join(outside, "bus"), "DBUS_SESSION_BUS_ADDRESS", "unix:path="),
  "a socket in the runtime folder": talks((_, id) => `/run/${id}`, "XDG_RUNTIME_DIR"),
  "Docker with the network": {
    ...talks(({ outside }) => join(outside, "docker.sock"), "DOCKER_HOST", "unix://"),
    policy: () => ({ network: "all" }),
  },
  "a port beside the allowed domains": {
    policy: () => ({ network: ["example.com"] }),
    prepare: withPort,
    lines: () => ["exec 3<>/dev/tcp/127.0.0.1/$(cat port); cat <&3"],
    worked: sees,
  },
  "a socket beside the allowed domains": {
    ...talks(({ home }) => join(home, "s")),
    policy: () => ({ network: ["example.com"] }),
  },
  "an address in place of a domain": {
    policy: () => ({ network: ["*.0.0.1", "localhost.example.com"] }),
    prepare: withPort,
    lines: () => [
      `${process.execPath} -e '
const port = require("fs").readFileSync("port", "utf8");
const proxy = process.env.http_proxy && new URL(process.env.http_proxy);
const socket = require("net").connect(proxy ? proxy.port : port, "127.0.0.1", () => socket.write(proxy ? "CONNECT 127.0.0.1:" + port + " HTTP/1.1\\r\\n\\r\\n" : ""));
socket.on("data", (d) => console.log(String(d)));'`,
    ],
    worked: sees,
  },

  // With mode readOnly
  "a file in the project": {
    policy: () => ({ mode: "readOnly" }),
    lines: () => ["echo evil > file.txt"],
    worked: ({ project }) => readFileSync(join(project, "file.txt"), "utf8").includes("evil"),
  },
  "a commit in the project": {
    policy: () => ({ mode: "readOnly" }),
    lines: () => ["git -c user.name=a -c user.email=b commit --quiet --allow-empty -m evil"],
    worked: (place) => place.git("log", "-1").includes("evil"),
  },
};

/** An id for what a command leaves in a shared place. */
export function escapeId(): string {
  return `tau-escape-${randomUUID().slice(0, 8)}`;
}

