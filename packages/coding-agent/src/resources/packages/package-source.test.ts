import { expect, it } from "vitest";
import { parsePackageSource } from "./package-source.ts";

const folders = { root: "/agent", baseDirectory: "/base", homeDirectory: "/home/me" };
const parse = (source: string) => parsePackageSource(source, folders);

it.each([
  ["npm:pi-x", "npm:pi-x", "/agent/npm/node_modules/pi-x"],
  ["npm:@me/pi-x@1.2.3", "npm:@me/pi-x", "/agent/npm/node_modules/@me/pi-x"],
  ["git:github.com/me/x", "git:github.com/me/x", "/agent/git/github.com/me/x"],
  ["git:github.com/me/x@v1", "git:github.com/me/x", "/agent/git/github.com/me/x"],
  ["git:git@github.com:me/x.git@v1", "git:github.com/me/x", "/agent/git/github.com/me/x"],
  ["https://github.com/me/x.git", "git:github.com/me/x", "/agent/git/github.com/me/x"],
  ["git:https://github.com/me/x@main", "git:github.com/me/x", "/agent/git/github.com/me/x"],
  ["ssh://git@host.org:2222/me/x", "git:host.org/me/x", "/agent/git/host.org/me/x"],
  ["git:host.org/../../etc/x", "git:host.org/../../etc/x", "/agent/git/host.org/etc/x"],
  ["./pack", "/base/pack", "/base/pack"],
  ["~/pack", "/home/me/pack", "/home/me/pack"],
])("treats %s as one package wherever it is named", (source, identity, path) => {
  expect(parse(source)).toMatchObject({ identity, path });
});

it.each([
  ["npm:@me/x@1", "npm install --ignore-scripts --prefix /agent/npm -- @me/x@1"],
  [
    "git:github.com/me/x@v1",
    "git clone --branch v1 -- https://github.com/me/x /agent/git/github.com/me/x",
  ],
  ["https://h.org/me/x", "git clone -- https://h.org/me/x /agent/git/h.org/me/x"],
  ["git:git@h.org:me/x@v1", "git clone --branch v1 -- git@h.org:me/x /agent/git/h.org/me/x"],
  ["npm:x; rm -r ~", "npm install --ignore-scripts --prefix /agent/npm -- 'x; rm -r ~'"],
  ["npm:it's", `npm install --ignore-scripts --prefix /agent/npm -- 'it'\\''s'`],
  [
    "git:h.org/me/x@$(id)",
    "git clone --branch '$(id)' -- https://h.org/me/x /agent/git/h.org/me/x",
  ],
  ["/here", undefined],
])("gives the command that installs %s", (source, command) => {
  expect(parse(source).installCommand).toBe(command);
});
