import { expect, it } from "vitest";
import { checkSetting } from "./check-setting.ts";

it.each([
  ["permissions.mode", "aks", /permissions\.mode: expected one of .*"ask".*got "aks"/],
  ["permissions.rules", [{ tool: "bash", action: "alow" }], /permissions\.rules\[0\]/],
  ["permissions.timeoutMs", -1, /permissions\.timeoutMs: expected a whole number/],
  ["sandbox.mode", "workspce", /sandbox\.mode: expected one of .*"workspace".*got "workspce"/],
  ["sandbox.network", "some", /sandbox\.network: expected "off"/],
  ["sandbox.write", "here", /sandbox\.write: expected a list of paths/],
  ["httpProxy", "socks5://proxy:1080", /httpProxy: it must be the address of an http/],
])("refuses to set %s to %j, which would fail at the start", async (key, value, reason) => {
  await expect(checkSetting(key, value, "/x/settings.json")).rejects.toThrow(reason);
});

it.each([
  ["permissions.mode", "ask"],
  ["permissions.rules", [{ tool: "bash", match: "git *", action: "allow" }]],
  ["sandbox.mode", "workspace"],
  ["sandbox.network", ["*.example.com"]],
  ["httpProxy", "proxy:3128"],
  ["retry.maxRetries", 1],
])("sets %s to %j", async (key, value) => {
  await expect(checkSetting(key, value, "/x/settings.json")).resolves.toBeUndefined();
});
