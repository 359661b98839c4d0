import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type PublishedPackage, publishedPackages, root } from "./published-packages.ts";

export interface PackedPackage extends PublishedPackage {
  readonly archive: string;
}

/** Packs all packages for npm into `destination`, the way pnpm publishes them. */
export function packPackages(destination: string, env: NodeJS.ProcessEnv): PackedPackage[] {
  const packages = publishedPackages();
  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`);
  const words = ["--recursive", ...filters, "pack", "--pack-destination", destination];
  execFileSync("pnpm", words, { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] });
  return packages.map((one) => {
    const name = one.manifest.name.replace("@", "").replace("/", "-");
    return { ...one, archive: join(destination, `${name}-${one.manifest.version}.tgz`) };
  });
}
