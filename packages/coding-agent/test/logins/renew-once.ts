import { createModelRegistry } from "@tau-agent/models";
import { ProcessRegistry } from "@tau-agent/system";

/** Prints a provider's key as a host resolves it: `node renew-once.ts <agent directory> <provider>`. */

const [, , agentDirectory = "", provider = ""] = process.argv;
const { keys } = createModelRegistry({
  agentDirectory,
  environment: {},
  processes: new ProcessRegistry(),
  catalog: { providers: () => ({}), models: async () => [] },
});
const { key } = await keys.require(provider);
process.stdout.write(String(key));
