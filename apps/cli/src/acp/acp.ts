import { resolve } from "node:path";
import { type SessionOrder, serveAcp } from "@tau-agent/acp";
import {
  type AgentSession,
  createAgentSession,
  SessionSharing,
  SettingsStore,
} from "@tau-agent/coding-agent";
import type { CliOptions } from "../command-line/cli-options.ts";
import { foreignToEditors } from "../command-line/foreign-to-editors.ts";
import { refuse } from "../command-line/values.ts";
import type { ProcessEnvironment } from "../process/environment.ts";
import { VERSION } from "../process/version.ts";
import type { StdioProcess } from "../rpc/connection/serve-lines.ts";
import { type ExtensionSeams, sessionOptions } from "../session/session-options.ts";

export interface AcpProcess extends StdioProcess {
  readonly options: CliOptions;
  readonly environment: ProcessEnvironment;
  readonly beforeExtensions: () => Promise<void>;
}

interface AcpHost extends AcpProcess {
  readonly sharing: SessionSharing;
}

/**
 * Serves an editor until it disconnects.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export function runAcp(given: AcpProcess): void {
  const host = { ...given, sharing: new SessionSharing() };
  const { options, environment, input, output, shutdown } = host;
  refuseForeign(options);
  const { agentDirectory, cwd } = environment;
  const acp = serveAcp({
    input,
    output,
    source: {
      open: (order) => openSession(host, order),
      environment: environment.variables,
      agentDirectory,
      sessionDirectory: (folder) => sessionDirectory(host, folder),
      isElsewhere: options.workspace !== undefined,
      cwd,
    },
    info: { name: "tau", title: "Tau", version: VERSION },
    hasKey: async () => {
      const session = await openSession(host, { cwd, session: { kind: "memory" } });
      const models = await session.models.available();
      await session.dispose();
      return models.length > 0;
    },
    logOut: async () => {
      const session = await openSession(host, { cwd, session: { kind: "memory" } });
      await session.models.registry.logins?.logoutAll().finally(() => session.dispose());
    },
    onEnd: () => void shutdown.begin(0),
  });
  output.onClosed(() => void shutdown.begin(0));
  shutdown.onShutdown(() => acp.close());
}

function refuseForeign(options: CliOptions): void {
  const [word = options.files[0]] = options.messages;
  const given = [...foreignToEditors].find(
    (key) => options[key] !== undefined && options[key] !== false,
  );
  if (word === undefined && given === undefined) return;
  const option = word ?? `--${(given ?? "").replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;
  refuse(option, "with acp, the editor says which session there is and what it is asked");
}

async function openSession(host: AcpHost, order: SessionOrder): Promise<AgentSession> {
  const { environment, logger, shutdown, beforeExtensions, sharing } = host;
  const { cwd, session: start, sendUiRequest, ...given } = order;
  const seams: ExtensionSeams = {
    sendUiRequest,
    onShutdown: () => void shutdown.begin(0),
    beforeExtensions,
  };
  // A resumed session keeps its own model.
  const options = start.kind === "file" ? withoutModel(host.options) : host.options;
  const session = await createAgentSession({
    ...(await sessionOptions({ ...options, mode: "rpc" }, environment, seams)),
    cwd,
    baseDirectory: environment.cwd,
    sharing,
    session: start,
    ...given,
  });
  logger.diagnostics(session.diagnostics);
  session.onDiagnostic((diagnostic) => logger.diagnostics([diagnostic]));
  return session;
}

/** Drops the model options. The scripted provider keeps its model, because no other option can name its script. */
function withoutModel(options: CliOptions): CliOptions {
  if (options.provider === "scripted") return options;
  const { model: _, thinking: __, provider, ...rest } = options;
  return options.apiKey === undefined || provider === undefined ? rest : { ...rest, provider };
}

async function sessionDirectory(
  { options, environment }: AcpProcess,
  folder = environment.cwd,
): Promise<string | undefined> {
  const given = options.sessionDir ?? environment.sessionDirectory;
  if (given !== undefined) return resolve(environment.cwd, given);
  const { agentDirectory, homeDirectory } = environment;
  const settings = await SettingsStore.load({ agentDirectory, cwd: folder });
  const configured = settings.get("sessionDir");
  return configured && resolve(folder, configured.replace(/^~(?=\/|$)/, homeDirectory));
}
