import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const conditions = ["@tau-agent/source", "node", "import", "module", "default"];
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Tests that each do something for which a run must fail. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  root: path("."),
  test: {
    include: ["*.check.ts"],
    globalSetup: path("../check-run.ts"),
    setupFiles: [
      path("../record-tests.ts"),
      path("../../../../../packages/ai/test/no-refusals.ts"),
    ],
  },
});
