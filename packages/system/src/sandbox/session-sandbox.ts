import { existsSync } from "node:fs";
import { join, parse, relative } from "node:path";
import type { WorkspaceReach } from "@tau-agent/rpc-protocol/workspace";
import { missingFolder } from "../processes/process.ts";
import { ProcessError } from "../processes/process-error.ts";
import type { EnclosedCommand, PlainCommand, Sandbox } from "../processes/sandbox.ts";
import { setUpAgain } from "../processes/set-up-again.ts";
import { bubblewrapSigns, statusArguments } from "./bubblewrap/bubblewrap-arguments.ts";
import { encloseInBubblewrap } from "./bubblewrap/enclose.ts";
import { withoutAddresses } from "./bubblewrap/host-sockets.ts";
import { closingCommand, inheritedDescriptors } from "./bubblewrap/inherited-descriptors.ts";
import type { OwnListeners } from "./bubblewrap/own-listeners.ts";
import { Placeholders } from "./bubblewrap/placeholders.ts";
import { RestlessSockets } from "./bubblewrap/restless-sockets.ts";
import type { SandboxNetworkDoor } from "./network/network-door.ts";
import { behindDoor } from "./network/open-door.ts";
import type { SessionSecrets } from "./network/session-secrets.ts";
import { isOfHost, readRefusal, sandboxRefusal, writeRefusal } from "./paths/path-rules.ts";
import { PrivateFolders } from "./paths/private-folders.ts";
import { hostPlacesIn, protectedPlaces } from "./paths/protected-places.ts";
import { resolveLinks } from "./paths/resolve-links.ts";
import { SandboxPaths, type SandboxPlaces } from "./paths/sandbox-paths.ts";
import { failureNotice } from "./policy/failure-notice.ts";
import { type SandboxPolicy, settingPath } from "./policy/sandbox-settings.ts";
import type { SandboxCheck } from "./sandbox-check.ts";
import { seatbeltProfile } from "./seatbelt/seatbelt-profile.ts";

export interface SessionSandboxOptions {
  readonly policy: SandboxPolicy;
  readonly places: SandboxPlaces;
  readonly check: SandboxCheck;
  /** Where this host listens for clients. */
  readonly ownListeners: () => OwnListeners;
  /** Credentials that only the proxy knows; undefined if there are none. */
  readonly secrets: Pick<SessionSecrets, "variables"> | undefined;
  /** Variables that no command inherits. */
  readonly hidden: readonly string[];
  /** Opens the network access that the policy allows, with its files in a folder. */
  readonly openDoor: (folder: string) => Promise<SandboxNetworkDoor>;
}

export class SessionSandbox implements Sandbox {
  readonly workspaceId = "local";
  readonly #options: SessionSandboxOptions;
  readonly #folders: PrivateFolders;
  readonly #paths: SandboxPaths;
  readonly #restless = new RestlessSockets();
  readonly #placeholders: Placeholders;
  #closing: readonly string[] | undefined;
  #door: Promise<SandboxNetworkDoor> | undefined;

  constructor(options: SessionSandboxOptions) {
    const { policy, places, check } = options;
    this.#options = options;
    this.#folders = new PrivateFolders(places.temporaryDirectory, check.mechanism === "seatbelt");
    this.#paths = new SandboxPaths(policy, places, this.#folders);
    this.#placeholders = new Placeholders(join(places.agentDirectory, "sandbox"));
  }

  /** The folder for files with long output, which commands can read. */
  get outputDirectory(): string {
    return this.#folders.output;
  }

  get isAvailable(): boolean {
    return this.#options.check.available;
  }

  get usesHost(): boolean {
    return this.isAvailable && this.#needsDoor(this.#options.ownListeners());
  }

  get failureNotice(): string | undefined {
    if (!this.isAvailable) return undefined;
    return failureNotice(this.#options.policy, this.#paths.named);
  }

  get inherited(): SandboxPolicy {
    const { policy, places } = this.#options;
    const base = { cwd: places.cwd(), homeDirectory: places.homeDirectory };
    const absolute = (paths: readonly string[]) => paths.map((path) => settingPath(path, base));
    const { cwd } = this.#paths;
    // Paths that are closed in the caller's folder are also closed in a copy of it, whatever the copy's path.
    const closed = absolute(policy.denyRead).flatMap((path) => [path, resolveLinks(path).path]);
    const relatives = closed.map((path) => relative(cwd, path)).filter((path) => path !== "");
    return {
      ...policy,
      write: absolute(policy.write),
      denyRead: [...new Set([...policy.denyRead, ...closed, ...relatives])],
    };
  }

  /**
   * Identifies the limits: sessions with the same text have the same limits. With credentials it is
   * unique to the session.
   */
  get origin(): string {
    const { policy, places, check } = this.#options;
    if (policy.secrets.length > 0) return this.#folders.root;
    return JSON.stringify([this.inherited, this.hostPlaces, check.available, places]);
  }

  /** A sandbox with the same limits in another folder, for a program that outlives the session. */
  apart(cwd: string): SessionSandbox {
    const { places } = this.#options;
    const made = new SessionSandbox({ ...this.#options, places: { ...places, cwd: () => cwd } });
    made.keepForHost(this.#paths.hostNamed);
    return made;
  }

  hostPath(path: string): string {
    return this.#paths.hostPath(path);
  }

  isPrivate(path: string): boolean {
    return this.#paths.seenPath(path) !== path;
  }

  /** Why a file tool may not open a path, as returned by {@link SessionSandbox.hostPath}. */
  refusalOf(action: "read" | "write", path: string): string | undefined {
    return action === "read" ? readRefusal(path, this.#paths) : writeRefusal(path, this.#paths);
  }

  refuseRead(path: string, shown: string): void {
    const reason = this.refusalOf("read", path);
    if (reason !== undefined) throw sandboxRefusal("read", shown, reason);
  }

  reach(action: "read" | "write"): WorkspaceReach {
    const { denied, writable, cwd, readOnly, hostNamed } = this.#paths;
    if (action === "read") return { allow: [parse(cwd).root], deny: denied };
    return { allow: writable, deny: [...denied, ...readOnly, ...hostPlacesIn(cwd, hostNamed)] };
  }

  refuseWrite(path: string, shown: string): void {
    const reason = this.refusalOf("write", path);
    if (reason !== undefined) throw sandboxRefusal("write", shown, reason);
  }

  mayRead(path: string): boolean {
    return this.refusalOf("read", path) === undefined;
  }

  get closed(): readonly string[] {
    return this.#paths.denied;
  }

  isForHost(path: string): boolean {
    return [path, resolveLinks(path).path].some((each) => isOfHost(each, this.#paths));
  }

  get hostPlaces(): readonly string[] {
    const { cwd, hostNamed } = this.#paths;
    return [join(cwd, ".pi"), join(cwd, ".mcp.json"), ...hostNamed];
  }

  keepForHost(paths: readonly string[]): void {
    this.#paths.keepForHost(paths);
  }

  async enclose(asked: PlainCommand): Promise<EnclosedCommand> {
    const { check, policy } = this.#options;
    const command = { ...asked, variables: this.#withoutValues(asked.variables) };
    if (!check.available) {
      if (policy.whenUnavailable === "run") return { ...command, release: async () => {} };
      throw unavailable(check);
    }
    const own = this.#options.ownListeners();
    const door = await this.#doorFor(own);
    const hasNetwork = policy.network === "all" && door === undefined;
    const variables = {
      ...behindDoor(door, hasNetwork ? command.variables : withoutAddresses(command.variables)),
      ...door?.variables,
      ...this.#options.secrets?.variables,
      TMPDIR: this.#folders.temporaryDirectory,
    };
    const inner = [...(door?.command ?? []), command.file, ...command.args];
    const { alsoWritable } = command;
    const folder = command.cwd ?? this.#paths.cwd;
    // The host names its own folders, where commands may see a private folder instead.
    const cwd = resolveLinks(alsoWritable === undefined ? this.hostPath(folder) : folder).path;
    if (!existsSync(cwd)) throw missingFolder(cwd);
    if (check.mechanism === "seatbelt") {
      const profile = this.#profile(hasNetwork, door, command);
      return {
        file: check.program,
        args: ["-p", profile, ...inner],
        cwd,
        variables,
        release: async () => {},
      };
    }
    const plan = {
      paths: this.#paths,
      folders: this.#folders,
      environment: this.#options.places.environment,
      isReadOnly: policy.mode === "readOnly",
      hasNetwork,
      ownSockets: own.sockets,
      restless: this.#restless,
      program: command.file,
      openSockets: door?.files ?? [],
      start: this.#paths.seenPath(cwd),
      alsoReadable: alsoWritable === undefined || this.hostPath(cwd) === cwd ? [] : [cwd],
      alsoWritable: alsoWritable ?? [],
    };
    const run = await setUpAgain(() => encloseInBubblewrap(plan, this.#placeholders));
    this.#closing ??= closingCommand(inheritedDescriptors());
    const status = check.reportsStatus
      ? { args: statusArguments, signs: bubblewrapSigns }
      : { args: [], signs: undefined };
    // bubblewrap changes to the folder itself.
    return {
      file: check.program,
      args: [...status.args, ...run.args, ...this.#closing, ...inner],
      cwd: "/",
      variables,
      startSigns: status.signs,
      release: run.release,
    };
  }

  /** Removes the sources of secret values, whatever keys commands inherit. */
  #withoutValues(variables: PlainCommand["variables"]): PlainCommand["variables"] {
    const hidden = new Set(this.#options.hidden);
    if (hidden.size === 0) return variables;
    return Object.fromEntries(Object.entries(variables).filter(([name]) => !hidden.has(name)));
  }

  /** Even unrestricted traffic goes through the proxy while this host has ports that must stay closed. */
  #needsDoor({ ports }: OwnListeners): boolean {
    const { network } = this.#options.policy;
    const isPlain = network === "off" || (network === "all" && ports.length === 0);
    return !isPlain || this.#options.secrets !== undefined;
  }

  #doorFor(own: OwnListeners): Promise<SandboxNetworkDoor> | undefined {
    if (!this.#needsDoor(own)) return undefined;
    this.#door ??= this.#options.openDoor(this.#folders.root);
    return this.#door;
  }

  async close(): Promise<void> {
    await (await this.#door)?.close();
    this.#folders.remove();
  }

  #profile(
    hasNetwork: boolean,
    door: SandboxNetworkDoor | undefined,
    { alsoWritable = [] }: PlainCommand,
  ): string {
    const places = protectedPlaces(this.#paths.cwd, this.#paths.hostNamed);
    const port = door?.port;
    return seatbeltProfile({
      writable: this.#paths.writable,
      readOnly: [...this.#paths.readOnly, ...places.readOnly, ...places.links],
      alsoWritable,
      denied: this.#paths.denied,
      network: hasNetwork ? "all" : port === undefined ? "off" : { port },
    });
  }
}

function unavailable({ reason, remedy }: SandboxCheck): ProcessError {
  const text = `Not run: the sandbox is not available, because ${reason}. ${remedy}`;
  return new ProcessError("sandbox_unavailable", text);
}
