import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/** Writes the licences of all bundled packages to `file`, as they ask for. */
export function licences(file: string): Plugin {
  return {
    name: "licences",
    setup(build) {
      build.initialOptions.metafile = true;
      build.onEnd(({ metafile }) => {
        const inputs = Object.keys(metafile?.inputs ?? {});
        const folders = new Set(inputs.flatMap((input) => packageOf(input) ?? []));
        const texts = [...folders].map(licenceOf).sort();
        writeFileSync(file, [...new Set(texts)].join(`\n${"-".repeat(80)}\n\n`));
      });
    },
  };
}

/** The folder of the package that a file belongs to; undefined for one of ours. */
function packageOf(path: string): string | undefined {
  const [folder] =
    /^.*\/node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(path.replace(/^[a-z]+:/, "")) ?? [];
  return folder;
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((entry) => /^(licen[cs]e|notice)/i.test(entry));
  const texts = files
    .filter((entry) => existsSync(join(folder, entry)))
    .map((entry) => readFileSync(join(folder, entry), "utf8"));
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
}
