import type { Options } from "tsup";

/** How packages are built that bundle no other package; their declarations come from `tsc -b`. */
export const plainBuild: Options = {
  format: "esm",
  target: "node22",
  sourcemap: false,
  // Removes JavaScript of earlier builds, which would be published, and keeps what `tsc -b` wrote.
  clean: ["!**/*.d.ts", "!**/*.d.ts.map"],
  splitting: true,
};
