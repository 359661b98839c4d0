import type { HostModules } from "../extensions/load/host-imports.ts";
import { completePlaces, type HostModulesOptions } from "./base/host-places.ts";
import type { Elsewhere } from "./coding-agent/tools.ts";

/**
 * The modules that replace imports of pi's packages and of TypeBox, by name. Each is loaded when an
 * extension imports it.
 */
export function createHostModules(options: HostModulesOptions): HostModules {
  const places = completePlaces(options);
  const ai = once(async () => (await import("./ai/ai.ts")).loadPiAi(places));
  const codingAgent = once(async () => {
    const { loadPiCodingAgent } = await import("./coding-agent/coding-agent.ts");
    return loadPiCodingAgent(places, () => all);
  });
  const modules: Record<string, () => Promise<object>> = {
    "pi-coding-agent": codingAgent,
    "pi-ai": ai,
    "pi-ai/oauth": once(async () => (await import("./ai/ai.ts")).loginFunctions()),
    "pi-agent-core": once(async () =>
      (await import("./agent/agent.ts")).loadPiAgent(codingAgent, ai),
    ),
    "pi-tui": once(async () => (await import("./terminal/index.ts")).terminalModule),
    "pi-utils": once(async () => (await import("./agent/agent.ts")).piUtilities()),
  };
  const scopes = ["@mariozechner", "@earendil-works", "@oh-my-pi"];
  const pi = scopes.flatMap((scope) =>
    Object.entries(modules).map(([name, load]) => [`${scope}/${name}`, load] as const),
  );
  const typebox = () => import("./base/typebox.ts");
  const all: HostModules = {
    ...Object.fromEntries(pi),
    "@tau-agent/coding-agent": codingAgent,
    "@tau-agent/ai": ai,
    "@tau-agent/agent": once(async () => import("@tau-agent/agent")),
    "@tau-agent/rpc-protocol": once(async () => import("@tau-agent/rpc-protocol")),
    "pi.tools": once(async () => {
      const { piTools } = await import("./coding-agent/tools.ts");
      return { toolsIn: (elsewhere: Elsewhere) => piTools(places, elsewhere) };
    }),
    "pi.packages": once(async () => (await places.loadPackages?.(all)) ?? {}),
    "pi.zod": once(async () => import("zod")),
    "pi.arktype": once(async () => (await import("./base/arktype.ts")).loadArktype()),
    typebox: once(async () => import("typebox")),
    "typebox/compile": once(async () => import("typebox/compile")),
    "typebox/value": once(async () => import("typebox/value")),
    "@sinclair/typebox": once(async () => (await typebox()).loadOldTypebox()),
    "@sinclair/typebox/compiler": once(async () => (await typebox()).loadOldTypeboxCompiler()),
    "@sinclair/typebox/compile": once(async () => import("typebox/compile")),
    "@sinclair/typebox/value": once(async () => (await typebox()).loadOldTypeboxValue()),
  };
  return all;
}

function once(load: () => Promise<object>): () => Promise<object> {
  let module: Promise<object> | undefined;
  return () => {
    module ??= load();
    return module;
  };
}
