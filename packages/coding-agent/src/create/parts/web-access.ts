import { proxyFinder } from "@tau-agent/models";
import { allowsHost, type FetchForeign, type WebAccess } from "@tau-agent/system";
import type { VisitedHosts } from "../../permissions/visited-hosts.ts";
import type { Surroundings } from "./session-draft.ts";

/** Access to addresses named by clients and the model; loads nothing until the first use. */
export function createWebAccess(
  {
    settings,
    environment,
    sandboxed,
  }: Pick<Surroundings, "settings" | "environment" | "sandboxed">,
  visited: () => VisitedHosts,
): WebAccess {
  const proxyFor = proxyFinder({ environment, setting: () => settings.get("httpProxy") });
  let made: FetchForeign | undefined;
  return {
    fetch: async (request) => {
      const { createFetchForeign } = await import("@tau-agent/system/fetch-foreign");
      made ??= createFetchForeign({ allow: () => settings.get("web.allow"), proxyFor });
      return made(request);
    },
    refusalOf: async (target, isNamed) => {
      const { mode, network } = sandboxed.policy ?? { mode: "off", network: "all" };
      if (mode !== "off" && network === "off") {
        return "the sandbox is without a network; the setting sandbox.network opens it";
      }
      if (mode !== "off" && typeof network !== "string" && !allowsHost(network, target.hostname)) {
        return `the sandbox does not let ${target.hostname} be reached; sandbox.network lists what may be`;
      }
      return isNamed ? undefined : visited().refusalOf("web_fetch", target);
    },
  };
}
