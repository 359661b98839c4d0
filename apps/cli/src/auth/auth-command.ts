import { type ModelRegistry, SessionError } from "@tau-agent/coding-agent";
import { listLoginProviders, providerHint } from "@tau-agent/models";
import type { LoginMethod, LoginProvider } from "@tau-agent/rpc-protocol";
import type { OptionTable } from "../command-line/option-row.ts";
import type { CommandContext, CommandLine } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import { openCommandSession } from "../session/command-session.ts";
import { checkReport } from "./check-report.ts";
import { readLine } from "./read-line.ts";

const methods: readonly LoginMethod[] = ["oauth", "device", "key"];

interface Surroundings {
  readonly registry: ModelRegistry;
  readonly print: (text: string) => void;
  /** Whether the command runs on an interactive terminal. */
  readonly hasTerminal: boolean;
}

/**
 * Runs `tau auth` with the arguments after it. Loads no extension and sends nothing to a model.
 *
 * @returns the exit code
 */
export async function authCommand(
  { action, words, values }: CommandLine<OptionTable>,
  { print, environment }: CommandContext,
): Promise<number> {
  const method = methodOf(values.method);
  if (method !== undefined && action !== "login") refuse("--method", "only login takes it");
  await using session = await openCommandSession(environment, { isOff: true });
  const { registry } = session.models;
  const hasTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const surroundings = { registry, print, hasTerminal };
  const [named] = words;
  switch (action) {
    case "login":
      return login(named, method, surroundings);
    case "logout":
      return logout(named, surroundings);
    default:
      if (named !== undefined) await providerOf(named, registry);
      print(await checkReport(registry, named));
      return 0;
  }
}

function methodOf(given: unknown): LoginMethod | undefined {
  if (given === undefined) return undefined;
  const method = methods.find((name) => name === given);
  return method ?? refuse("--method", `expected ${methods.join(", ")}, not ${String(given)}`);
}

async function login(
  named: string | undefined,
  method: LoginMethod | undefined,
  surroundings: Surroundings,
): Promise<number> {
  const { registry, print, hasTerminal } = surroundings;
  const { logins, keys } = registry;
  const provider = await providerOf(named ?? (await askProvider(surroundings)), registry);
  const { id, name } = provider;
  if (logins === undefined)
    throw new SessionError("provider_not_found", { provider: id, hint: "" });
  if (method === "key" || (method === undefined && provider.methods[0] === "key")) {
    if (!provider.methods.includes("key")) {
      const [first = ""] = provider.methods;
      const reason = "it takes no key";
      throw new SessionError("login_unavailable", {
        provider: id,
        reason,
        words: ` --method ${first}`,
      });
    }
    const key = await readLine({ prompt: `Key of ${id}: `, isSecret: true, hasTerminal });
    await logins.storeKey(id, key);
    print(`Stored the key of ${id} in ${keys.store.path}\n`);
    return 0;
  }
  await logins.login(id, {
    method,
    isRemote: !hasTerminal,
    open: async ({ url, userCode }) => {
      const code = userCode === undefined ? "" : `Enter the code: ${userCode}\n`;
      print(`Open this page to log in:\n${url}\n${code}`);
    },
  });
  print(`Logged in to ${name}. Stored in ${keys.store.path}\n`);
  return 0;
}

async function logout(named: string | undefined, surroundings: Surroundings): Promise<number> {
  const { registry, print } = surroundings;
  if (named === undefined) return refuse("logout", "expected the provider to log out of");
  const { id, loggedIn } = await providerOf(named, registry);
  await registry.logins?.logout(id);
  print(loggedIn ? `Logged out of ${id}.\n` : `Nothing was stored for ${id}.\n`);
  const { environment } = registry.keys;
  for (const name of registry.keys.variablesOf(id)) {
    if ((environment[name] ?? "") !== "") print(`${name} is still set in the environment.\n`);
  }
  return 0;
}

/** @throws {SessionError} `provider_not_found` with the nearest name */
async function providerOf(id: string, registry: ModelRegistry): Promise<LoginProvider> {
  const providers = await listLoginProviders(registry);
  const found = providers.find((provider) => provider.id === id);
  if (found !== undefined) return found;
  throw new SessionError("provider_not_found", { provider: id, hint: providerHint(id, providers) });
}

async function askProvider({ registry, print, hasTerminal }: Surroundings): Promise<string> {
  const ids = (await listLoginProviders(registry)).map(({ id }) => id);
  if (!hasTerminal) {
    const some = ids.slice(0, 4).join(", ");
    return refuse("login", `expected the provider to log in to, such as ${some}`);
  }
  print(`${ids.join(", ")}\n`);
  return (await readLine({ prompt: "Provider: ", isSecret: false, hasTerminal })).trim();
}
