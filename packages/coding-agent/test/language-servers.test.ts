import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { type DiagnosticsEntry, SettingsStore } from "@tau-agent/system";
import { expect, it } from "vitest";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../src/create/__fixtures__/test-session.ts";

const require = createRequire(import.meta.url);
const inPackage = (name: string, file: string) =>
  join(dirname(require.resolve(`${name}/package.json`)), file);
const compiler = dirname(
  createRequire(join(import.meta.dirname, "../../../docs/examples/package.json")).resolve(
    "typescript-5/package.json",
  ),
);
const node = (...words: string[]) => [process.execPath, ...words];

interface Case {
  readonly entry: DiagnosticsEntry;
  readonly file: string;
  /** The file before the change, with an old problem. */
  readonly before: string;
  readonly edit: readonly [string, string];
  /** Matches the new problem, but not the old one. */
  readonly fresh: RegExp;
  readonly more?: Record<string, string>;
}

const cases: Record<string, Case> = {
  "typescript-language-server": {
    entry: {
      match: "**/*.ts",
      server: node(inPackage("typescript-language-server", "lib/cli.mjs"), "--stdio"),
    },
    file: "src/a.ts",
    before: 'import { name } from "./b.ts";\nconst old: number = "old";\nexport const size = 1;\n',
    edit: ["size = 1", "size: number = name"],
    fresh: /src\/a\.ts:3:\d+: error 2322 Type 'string' is not assignable to type 'number'\.$/,
    more: {
      "src/b.ts": 'export const name = "b";\n',
      "tsconfig.json":
        '{"compilerOptions": {"strict": true, "noEmit": true, "allowImportingTsExtensions": true, "module": "nodenext", "types": []}}',
    },
  },
  pyright: {
    entry: { match: "*.py", server: node(inPackage("pyright", "langserver.index.js"), "--stdio") },
    file: "a.py",
    before: 'old: int = "old"\nsize = 1\n',
    edit: ["size = 1", 'size: int = "new"'],
    fresh:
      /a\.py:2:\d+: error reportAssignmentType Type "Literal\['new'\]" is not assignable to declared type "int"/,
  },
  "bash-language-server": {
    entry: {
      match: "*.sh",
      server: [
        "env",
        "ENABLE_SOURCE_ERROR_DIAGNOSTICS=true",
        ...node(inPackage("bash-language-server", "out/cli.js"), "start"),
      ],
    },
    file: "a.sh",
    before: "echo one\n",
    edit: ["echo one", '. "$unknown"'],
    fresh: /a\.sh:1:\d+: information Source command could not be analyzed/,
  },
  "yaml-language-server": {
    entry: {
      match: "*.yaml",
      server: node(inPackage("yaml-language-server", "bin/yaml-language-server"), "--stdio"),
    },
    file: "a.yaml",
    before: "one: 1\n",
    edit: ["one: 1", "one: 1\none: 2"],
    fresh: /a\.yaml:\d+:\d+: error .*unique.*/i,
  },
};

it.each(Object.entries(cases))(
  "%s reports new problems and no others",
  async (_name, { entry, file, before, edit, fresh, more = {} }) => {
    const places = placesIn(temporaryFolder());
    for (const [name, text] of Object.entries({ ...more, [file]: before })) {
      mkdirSync(dirname(join(places.cwd, name)), { recursive: true });
      writeFileSync(join(places.cwd, name), text);
    }
    mkdirSync(join(places.cwd, "node_modules"));
    symlinkSync(compiler, join(places.cwd, "node_modules/typescript"));
    const call = (oldText: string, newText: string) =>
      turn(toolCall("edit", { path: file, oldText, newText }));
    const { session } = await createTestSession([call(...edit), call(edit[1], edit[0]), "done"], {
      ...places,
      environment: { PATH: process.env.PATH, HOME: places.homeDirectory },
      settings: SettingsStore.inMemory({
        "diagnostics.entries": [entry],
        diagnosticsTimeoutMs: 100_000,
      }),
    });
    await session.prompt("go");
    const [broken, mended] = session.messages
      .filter((message): message is ToolResultMessage => message.role === "toolResult")
      .map(({ content, details }) => ({ text: contentText(content, "\n"), details }));
    expect(session.diagnostics.filter(({ code }) => code === "diagnostics_failed")).toEqual([]);
    const said = broken?.text.split("\n\nNew problems:\n")[1] ?? "";
    expect(said).toMatch(fresh);
    expect(said).not.toMatch(/\bold\b/);
    expect(broken?.details).toMatchObject({ diagnostics: { baseline: true } });
    expect(mended?.text).not.toContain("New problems");
    expect(mended?.details).toMatchObject({ diagnostics: { new: [], baseline: true } });
  },
);
