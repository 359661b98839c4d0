import { defineConfig } from "tsup";
import { plainBuild } from "../../tsup.shared.ts";

export default defineConfig({ ...plainBuild, entry: ["src/index.ts"] });
