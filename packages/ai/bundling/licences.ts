import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

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

/** The folder of the package that a file belongs to; undefined for our own packages. */
function packageOf(path: string): string | undefined {
  const [folder] =
    /^.*\/node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(path.replace(/^[a-z]+:/, "")) ?? [];
  return folder;
}

function licenceOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { name, version, license } = manifest;
  const files = readdirSync(folder).filter((entry) => /^(licen[cs]e|notice)/i.test(entry));
  const texts = files
    .filter((entry) => existsSync(join(folder, entry)))
    .map((entry) => readFileSync(join(folder, entry), "utf8"));
  const all = texts.length > 0 ? texts : [statedLicence(manifest)];
  return [`${name} ${version} (${license})`, ...all].join("\n\n");
}

/** For a package that names its licence only in package.json: its author and the text of that licence. */
function statedLicence({ name, license, author }: Record<string, unknown>): string {
  const { name: person = author } = Object(author);
  const holder = `Copyright (c) ${String(person ?? `the authors of ${name}`).replace(/\s*<.*/, "")}`;
  if (license === "MIT") return [holder, mitTerms()].join("\n\n");
  // The file already contains the licence text, for other packages under the same licence.
  if (license === "Apache-2.0") return `${holder}\nhttps://www.apache.org/licenses/LICENSE-2.0`;
  throw new Error(
    `${name} has no file of its licence, which is ${license}: add the text of that here.`,
  );
}

function mitTerms(): string {
  const ours = readFileSync(new URL("../../../LICENSE", import.meta.url), "utf8");
  return ours.slice(ours.indexOf("Permission is hereby granted"));
}
