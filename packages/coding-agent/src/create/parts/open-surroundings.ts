import { builtInProviders } from "@tau-agent/ai";
import {
  builtInCatalog,
  createModelRegistry,
  KeptCredentials,
  type ModelRegistry,
  proxiedFetch,
} from "@tau-agent/models";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { openSession } from "@tau-agent/sessions/log";
import {
  credentialsOfClient,
  credentialsOfFunction,
  HostRequests,
  ProcessRegistry,
} from "@tau-agent/system";
import type { SessionPolicy } from "../../policy/session-policy.ts";
import { type Disk, diskOf } from "../../resources/files/disk.ts";
import { farLayoutOf } from "../../resources/files/far-layout.ts";
import { WorkspaceStanding } from "../../session/workspace-standing.ts";
import { folderMissing } from "../options/check-session-options.ts";
import { resolveScope } from "../options/choose-model.ts";
import { type Places, resolvePlaces } from "../options/places.ts";
import { refuseBrokenFiles } from "../options/refuse-mistakes.ts";
import type { SessionSetup } from "../options/session-options.ts";
import { isDurable, sessionPlace } from "../options/session-place.ts";
import { SessionSharing } from "../options/session-sharing.ts";
import { WorkingFolder } from "../options/working-folder.ts";
import { type GatedFiles, lookForGated, type TrustPlace } from "../trust/gated-files.ts";
import {
  decideTrust,
  folderOfSession,
  loadSettings,
  type ProjectElsewhere,
} from "../trust/project-settings.ts";
import { createPermissions } from "./permissions.ts";
import { type ReachedWorkspace, reachWorkspace } from "./reach-workspace.ts";
import { createSandbox } from "./sandbox.ts";
import type { SessionBase } from "./session-base.ts";
import type { Surroundings } from "./session-draft.ts";
import { SessionExtensions } from "./session-extensions.ts";
import { readSessionPolicy, weakerDurability, withDurabilityOf } from "./session-policy.ts";

interface Reached {
  /** Undefined for the host's own machine. */
  readonly reached: ReachedWorkspace | undefined;
  readonly processes: ProcessRegistry;
  readonly policy: SessionPolicy | undefined;
}

/** Reads everything that a session is assembled from, up to its log. */
export async function openSurroundings(options: SessionSetup): Promise<Surroundings> {
  const { environment = {} } = options;
  const processes = new ProcessRegistry({ systemRoot: environment.SystemRoot });
  const { agentDirectory } = resolvePlaces(options);
  const policy = await readSessionPolicy(options);
  const reached = await reachWorkspace(options, { agentDirectory, processes, policy });
  try {
    return await openThere(options, { reached, processes, policy });
  } catch (error) {
    await reached?.close?.();
    throw error;
  }
}

async function openThere(
  asked: SessionSetup,
  { reached, processes, policy }: Reached,
): Promise<Surroundings> {
  const options = withDurabilityOf(policy, asked);
  const given = resolvePlaces(options, reached?.workspace);
  const elsewhere = await projectElsewhere(reached);
  const disk = elsewhere?.disk;
  const early = disk && lookAhead({ ...given, disk });
  const [first] = await Promise.all([
    loadSettings(options, given, elsewhere),
    elsewhere && checkFolderThere(elsewhere.workspace, given.cwd),
  ]);
  const stored = await folderOfSession(options, given, first);
  const places = stored?.places ?? given;
  const settings =
    places.cwd === given.cwd ? first : await loadSettings(options, places, elsewhere);
  const files = disk && (settings === first ? early : lookAhead({ ...places, disk }));
  const diagnostics = [...settings.diagnostics];
  const began = beginBase(options, { places, settings, disk }, { reached, processes, policy });
  const { diagnostics: found, ...sandboxed } = await createSandbox(began);
  diagnostics.push(...found);
  const base: SessionBase = { ...began, sandboxed };
  // Without the embedder's option, no extensions are loaded.
  const extensions = options.extensions && new SessionExtensions(base, options.extensions);
  await extensions?.loadOwn();
  const askExtensions = extensions && (() => extensions.askTrust());
  diagnostics.push(
    ...(await decideTrust(options, { places, given, settings, askExtensions, disk, files })),
    ...(stored?.diagnostics ?? []),
  );
  const { registry } = base;
  if (options.refusesMistakes) await refuseBrokenFiles(settings, registry);
  await extensions?.loadProject();
  diagnostics.push(...weakerDurability(policy, settings));
  const permissions = createPermissions(settings, options.permissions, policy?.merged.permissions);
  diagnostics.push(...permissions.diagnostics);
  const keepsQuestions =
    (options.clientReady ?? options.approve ?? options.answerQuestions) !== undefined;
  const { cwd, workspaceId } = places;
  const keepsCalls = isDurable(options, settings) && (options.taskDepth ?? 0) === 0;
  const openOptions = { cwd, workspaceId, keepsQuestions, keepsCalls };
  const { home, closeStore } = await sessionPlace(options, places, settings);
  const [loaded, scope] = await Promise.all([
    openSession(stored?.session ?? options.session, home, openOptions),
    resolveScope(registry, options.models ?? settings.get("enabledModels"), diagnostics),
  ]);
  const { log } = loaded;
  diagnostics.push(...loaded.diagnostics);
  const opened = { extensions, permissions, home, openOptions, closeStore, log, scope };
  return { ...base, ...opened, closeWorkspace: reached?.close, diagnostics };
}

/** The project's disk, if it is not on this machine. */
async function projectElsewhere(
  reached: ReachedWorkspace | undefined,
): Promise<ProjectElsewhere | undefined> {
  if (reached === undefined) return undefined;
  const { workspace } = reached;
  const disk = await diskOf(workspace);
  return disk && { workspace, disk };
}

/** Otherwise a tool that creates missing folders would start a project at a mistyped path. */
async function checkFolderThere(workspace: Workspace, cwd: string): Promise<void> {
  const found = await workspace.stat(cwd);
  if (found?.kind === "directory") return;
  throw folderMissing(cwd, found !== undefined, workspace.id);
}

/** Starts all reads of a remote project that the start needs, in parallel. */
function lookAhead(place: TrustPlace & { readonly disk: Disk }): Promise<GatedFiles> {
  const files = lookForGated(place);
  // Awaited later, where the result is needed.
  files.catch(() => {});
  farLayoutOf(place.disk, place.cwd).catch(() => {});
  return files;
}

function beginBase(
  asked: SessionSetup,
  { places, settings, disk }: Pick<SessionBase, "places" | "settings" | "disk">,
  { reached, processes, policy }: Reached,
): Omit<SessionBase, "sandboxed"> {
  const { environment = {} } = asked;
  const requests = new HostRequests();
  const { sharing = new SessionSharing() } = asked;
  const credentials = keptCredentials(asked.credentials, requests);
  const options = { ...asked, sharing, credentials };
  const fetch = proxiedFetch({ environment, setting: () => settings.get("httpProxy") });
  return {
    options,
    environment,
    places,
    workingFolder: new WorkingFolder(places),
    workspace: disk && reached?.workspace,
    standing: reached?.standing ?? new WorkspaceStanding("local", "local"),
    disk,
    settings,
    registry: createRegistry(options, places, { fetch, processes, policy }),
    policy,
    fetch,
    processes,
    requests,
  };
}

function keptCredentials(
  given: SessionSetup["credentials"],
  requests: HostRequests,
): KeptCredentials {
  if (given instanceof KeptCredentials) return given;
  if (given !== undefined) {
    return new KeptCredentials({ get: credentialsOfFunction(given), isOffered: () => true });
  }
  const isOffered = () => requests.isAnswered("credential");
  return new KeptCredentials({ get: credentialsOfClient(requests), isOffered });
}

function createRegistry(
  options: SessionBase["options"],
  { agentDirectory }: Places,
  { policy, ...shared }: Pick<SessionBase, "fetch" | "processes" | "policy">,
): ModelRegistry {
  const registry = createModelRegistry({
    agentDirectory,
    environment: options.environment ?? {},
    catalog: builtInCatalog(),
    credentials: options.credentials,
    allows: policy && ((model) => policy.allowsModel(model)),
    apis: options.stream === undefined ? Object.keys(builtInProviders) : undefined,
    keptModels: options.sharing.keptModels,
    ...shared,
  });
  for (const provider of options.providers ?? []) registry.addProvider(provider);
  return registry;
}
