import {
  type LoginMethod,
  type LoginPage,
  listLoginProviders,
  type ModelRegistry,
  providerHint,
} from "@tau-agent/models";
import type { LoginProvider } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { HostRequests } from "@tau-agent/system";

/** How often a login checks whether its session has ended, in ms. */
const watchMs = 1_000;

interface LoginSession {
  readonly models: { readonly registry: ModelRegistry };
  readonly requests: HostRequests;
}

/** The providers that a user can log in to or has a key for. */
export function loginProviders({ models }: LoginSession): Promise<LoginProvider[]> {
  return listLoginProviders(models.registry);
}

/**
 * Logs in to a provider; the session's client opens the page. Resolves when the login is stored and the provider's
 * models are usable.
 *
 * @throws {SessionError} `provider_not_found`, `login_unavailable`, `login_failed`
 */
export async function logInBySession(
  { models: { registry }, requests }: LoginSession,
  provider: string,
  method?: LoginMethod,
): Promise<void> {
  const { logins } = registry;
  const known = await listLoginProviders(registry);
  if (logins === undefined || known.every(({ id }) => id !== provider)) {
    throw new SessionError("provider_not_found", { provider, hint: providerHint(provider, known) });
  }
  const ended = new AbortController();
  const watch = setInterval(() => {
    if (requests.isEnded) ended.abort(new SessionError("disposed"));
  }, watchMs);
  watch.unref();
  try {
    await logins.login(provider, {
      method,
      isRemote: true,
      signal: ended.signal,
      mayOpen: () => requests.isAnswered("open_url"),
      open: (page) => openPage(requests, provider, page),
    });
    registry.forgetModels(provider);
  } finally {
    clearInterval(watch);
    ended.abort();
  }
}

async function openPage(requests: HostRequests, provider: string, page: LoginPage): Promise<void> {
  const { url, userCode } = page;
  const closed = await requests.ask<object>({
    method: "open_url",
    params: { url, ...(userCode !== undefined && { userCode }) },
    onTimeout: "cancel",
    unanswered: "cancelled",
    read: () => ({ result: {}, outcome: "answered" }),
  });
  if (closed.outcome === "answered") return;
  const reason = closed.error ?? "the page was not opened";
  throw new SessionError("login_failed", { provider, reason });
}
