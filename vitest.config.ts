import { defineConfig } from "vitest/config";

// Sources, not builds: `@tau-agent/source` is the condition every package exports first.
const conditions = ["@tau-agent/source", "node", "import", "module", "default"];
const shared = { resolve: { conditions }, ssr: { resolve: { conditions } } };

export default defineConfig({
  test: {
    projects: [
      {
        ...shared,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts"],
        },
      },
      {
        ...shared,
        test: {
          name: "integration",
          include: ["packages/*/test/**/*.test.ts", "apps/cli/test/*.test.ts"],
          testTimeout: 20_000,
        },
      },
      {
        ...shared,
        // Against the built host: `pnpm test` builds first.
        test: {
          name: "e2e",
          include: ["apps/cli/test/e2e/**/*.test.ts", "docs/examples/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
