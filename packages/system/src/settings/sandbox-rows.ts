import { raw } from "./setting.ts";

/** The confinement of commands and file tools; `sandbox/policy/` reads the values. */
export const sandboxRows = {
  "sandbox.mode": raw(
    '"off" | "workspace" | "readOnly"',
    "off",
    "Whether commands and file tools are kept in a sandbox: they may write in the working folder, or nowhere. A project may only tighten this.",
  ),
  "sandbox.write": raw(
    "list of paths",
    undefined,
    "More paths that may be written in the sandbox: absolute, ~, or relative to the working folder.",
  ),
  "sandbox.denyRead": raw(
    "list of paths",
    undefined,
    "Paths that may not be read in the sandbox; the lists of all settings files count together.",
  ),
  "sandbox.network": raw(
    '"off" | "all" | list of domains',
    "off",
    "What the sandbox may reach: nothing, all, or domains such as example.com and *.example.com.",
  ),
  "sandbox.whenUnavailable": raw(
    '"refuse" | "ask" | "run"',
    "refuse",
    "What happens to commands where this machine has no sandbox: they fail, a person is asked, or they run without it.",
  ),
  "sandbox.secrets": raw(
    "list of {env, value, hosts, as?, methods?, paths?}",
    undefined,
    "Credentials that commands in the sandbox use and never see: they find a placeholder in `env`, and the sandbox's proxy puts the value into requests to `hosts`. The user's own settings only.",
  ),
  "sandbox.upstreamCertificates": raw(
    "path",
    undefined,
    "A file with further authorities that may vouch for the hosts of `sandbox.secrets`. The user's own settings only.",
  ),
};
